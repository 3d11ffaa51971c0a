// A flow that is being written: checked, drawn, tested and dialled as it is in the editor, before anything is saved.

import { LRUCache } from 'lru-cache';
import type { Drawing } from '../../../lib/diagram/drawing.ts';
import { createEngine } from '../../../lib/engine/engine.ts';
import type { Service, Services } from '../../../lib/engine/service.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import type { Flow } from '../../../lib/flow/format/flow.ts';
import type { LintContext } from '../../../lib/flow/lint/lint.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import { keepMade } from '../../../lib/retry.ts';
import { memorySnapshots } from '../../../lib/store/memory/index.ts';
import type { UssdReply } from '../../../lib/ussd/adapter.ts';
import { type UssdService, ussdService } from '../../../lib/ussd/service.ts';
import { type JobErrors, jobThread } from '../../config/job-thread.ts';
import { CONTRACTS } from '../../menus/contracts.ts';
import { hashText } from '../../menus/files.ts';
import { PLAIN_DIALECT } from '../../ussd/dialects.ts';
import { PAGE_LIMITS } from '../limits.ts';
import {
  type CheckedDraft,
  compileDraft,
  type DraftAnswer,
  type DraftJob,
  type DraftResults,
  type DraftTests,
  type DraftText,
  type TestedDraft,
} from './draft-work.ts';
import type { Wordings } from './wordings.ts';

export interface DraftsOptions {
  /** The flows that are served now, by name. */
  flows(): ReadonlyMap<string, CompiledFlow>;
  readonly services: Services;
  /** Whether drafts that are dialled call them: on a server with real callers a draft could pay, or open accounts. */
  readonly callsServices: boolean;
  readonly keyring: Keyring;
}

/** One request of a phone that dials a draft. */
export interface DraftDial {
  readonly sessionId: string;
  readonly phoneNumber: string;
  readonly serviceCode: string;
  /** What was typed so far, joined by `*`; '' dials. */
  readonly text: string;
}

export interface Drafts {
  /** What is there beside a draft. */
  known(): LintContext & { readonly flows: ReadonlyMap<string, Flow> };
  check(draft: DraftText): Promise<CheckedDraft>;
  /** The draft compiled. Rejects with ERR_INPUT and the first of its errors, as do the drawing, tests and dials. */
  compile(draft: DraftText): Promise<CompiledFlow>;
  /** The drawing, with a name that no other draft has. */
  drawing(draft: DraftText): { readonly name: readonly string[]; find(): Promise<Drawing> };
  words(draft: DraftText): Promise<Wordings>;
  test(draft: DraftText, tests: DraftTests): Promise<TestedDraft>;
  /** Dials a draft, or goes on in a session that did: with the text that was dialled, not what the editor holds by now. */
  dial(draft: DraftText, dialled: DraftDial): Promise<UssdReply>;
  /** The service of a session that dialled a draft. */
  phone(sessionId: string): UssdService<CompiledFlow> | undefined;
  /** Ends the thread that works on drafts. */
  close(): Promise<void>;
}

const failed = (why: string) => new TwinlineError('ERR_INPUT', `The flow could not be checked: ${why}. Split it.`);

const ERRORS: JobErrors = {
  tooSlow: (ms) => new TwinlineError('ERR_TIMEOUT', `The flow was not checked within ${ms} ms. Split it.`),
  failed,
  busy: (most) => new TwinlineError('ERR_BUSY', `${most} drafts are waiting to be checked. Try again in a moment.`),
  closed: () => failed('the studio is closed'),
};

export function drafts({ flows, services, callsServices, keyring }: DraftsOptions): Drafts {
  const phones = new LRUCache<string, UssdService<CompiledFlow>>({ max: PAGE_LIMITS.draftPhones });
  // A large draft is asked for by several parts of the page at once. Each is worked out once while the flows around are the same.
  const checked = new LRUCache<string, Promise<CheckedDraft>>({ max: PAGE_LIMITS.draftsKept });
  const compiled = new LRUCache<string, Promise<CompiledFlow>>({ max: PAGE_LIMITS.draftsKept });
  const thread = jobThread<DraftJob, DraftAnswer>({
    module: new URL('./draft-worker.ts', import.meta.url),
    ms: PAGE_LIMITS.draftMs,
    memoryMb: PAGE_LIMITS.draftMemoryMb,
    most: PAGE_LIMITS.draftQueue,
    errors: ERRORS,
  });
  const names = Object.keys(services);
  const dialled = callsServices ? services : refuseCalls(names);
  const listFlows = () => [...flows().values()].map(({ flow }) => flow);
  const nameLibrary = () =>
    hashText([...flows()].map(([name, { version, hash }]) => `${name} ${version} ${hash}`).join('\n'));
  const nameDraft = ({ flow, text }: DraftText) => [nameLibrary(), flow, hashText(text)];

  async function ask<Kind extends keyof DraftResults>(
    kind: Kind,
    draft: DraftText,
    more: Pick<DraftJob, 'tests'> = {},
  ): Promise<DraftResults[Kind]> {
    const { flow, text } = draft;
    const job: DraftJob = { kind, draft: { flow, text }, libraryKey: nameLibrary(), ...more };
    const library = { flows: listFlows(), services: names };
    let answer = await thread.run(job);
    if ('isLibraryMissing' in answer) answer = await thread.run({ ...job, library });
    if ('isLibraryMissing' in answer) throw failed('the flows around it changed meanwhile');
    return answer.result as DraftResults[Kind];
  }

  const nameKept = (draft: DraftText) => nameDraft(draft).join(' ');
  const compile = (draft: DraftText) =>
    keepMade(compiled, nameKept(draft), async () => {
      const around = new Map(listFlows().map((flow) => [flow.flow, flow]));
      return compileDraft(await ask('flow', draft), around);
    });

  async function openPhone(draft: DraftText): Promise<UssdService<CompiledFlow>> {
    const conversation = await compile(draft);
    const engine = createEngine({
      store: memorySnapshots(),
      conversations: [conversation],
      services: dialled,
      keyring,
    });
    return ussdService({ engine, flow: conversation.id, keyring });
  }

  return {
    known: () => ({
      flows: new Map(listFlows().map((flow) => [flow.flow, flow])),
      services: new Set(names),
      contracts: CONTRACTS,
    }),
    check: (draft) => keepMade(checked, nameKept(draft), () => ask('check', draft)),
    compile,
    drawing: (draft) => ({ name: ['draft', ...nameDraft(draft)], find: () => ask('draw', draft) }),
    words: (draft) => ask('words', draft),
    test: (draft, tests) => ask('test', draft, { tests }),
    async dial(draft, { sessionId, phoneNumber, serviceCode, text }) {
      const phone = text === '' ? await openPhone(draft) : phones.get(sessionId);
      if (!phone) return { kind: 'end', text: 'This session is over. Dial again.' };
      phones.set(sessionId, phone);
      const request = { sessionId, phoneNumber, serviceCode, text, event: 'turn', mode: 'cumulative' } as const;
      return phone.turn(request, PLAIN_DIALECT, { simulated: true });
    },
    phone: (sessionId) => phones.get(sessionId),
    close: thread.close,
  };
}

function refuseCalls(names: readonly string[]): Services {
  const refuse: Service = async () => {
    throw new TwinlineError(
      'ERR_SERVICE_UNKNOWN',
      'Drafts call no services on a production server. Save the flow to call them.',
    );
  };
  return Object.fromEntries(names.map((name) => [name, refuse]));
}
