// Checks, draws, tests and dials drafts: flows as they are in the editor, before they are saved. The work is done in a worker
// thread, so that no draft delays the callers of this process.

import { LRUCache } from 'lru-cache';
import type { Drawing } from '../../../lib/diagram/drawing.ts';
import type { Services } from '../../../lib/engine/service.ts';
import { LaterAnswer } from '../../../lib/engine/service.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import type { Flow } from '../../../lib/flow/format/flow.ts';
import type { LintDoors } from '../../../lib/flow/lint/lint.ts';
import type { Contracts } from '../../../lib/flow/lint/shapes.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import type { Json } from '../../../lib/json/json.ts';
import { keepMade } from '../../../lib/retry.ts';
import { type JobErrors, jobThread } from '../../config/job-thread.ts';
import { CONTRACTS } from '../../menus/contracts.ts';
import { hashText } from '../../menus/files.ts';
import { PAGE_LIMITS } from '../limits.ts';
import type { PhoneSessionState } from '../simulator/session-state.ts';
import type { DraftCall, DraftDial, DraftReply } from './draft-phones.ts';
import type { CheckedDraft, DraftAnswer, DraftJob, DraftQuestions, DraftResults, DraftText } from './draft-work.ts';

export interface DraftsOptions {
  /** Served flows by name. */
  flows(): ReadonlyMap<string, CompiledFlow>;
  readonly services: Services;
  /** Their inputs and outputs, as far as known. @default those of ours */
  readonly contracts?: Contracts | undefined;
  /** Whether dialled drafts call services. On a server with real callers a draft could make payments or open accounts. */
  readonly callsServices: boolean;
  /** For lint. */
  readonly doors: LintDoors;
}

export interface Drafts {
  /** Served flows by name. */
  flows(): ReadonlyMap<string, Flow>;
  check(draft: DraftText): Promise<CheckedDraft>;
  /** Runs a job. Rejects with ERR_INPUT and the first error if the job needs a draft without errors. */
  ask<Kind extends keyof DraftQuestions>(
    kind: Kind,
    draft: DraftText,
    about: DraftQuestions[Kind],
  ): Promise<DraftResults[Kind]>;
  /** The drawing, with a unique name of this draft. */
  drawing(draft: DraftText): { readonly name: readonly string[]; find(): Promise<Drawing> };
  /** Dials a draft, or continues a session, in the text that was dialled rather than the current one. */
  dial(draft: DraftText, dialled: DraftDial): Promise<DraftReply>;
  /** The state of a session in a draft; null if there is none. */
  phone(sessionId: string): Promise<PhoneSessionState | null>;
  /** Ends the worker thread. */
  close(): Promise<void>;
}

const failed = (why: string) => new TwinlineError('ERR_INPUT', `The flow could not be checked: ${why}. Split it.`);

const ERRORS: JobErrors = {
  tooSlow: (ms) => new TwinlineError('ERR_TIMEOUT', `The flow was not checked within ${ms} ms. Split it.`),
  failed,
  busy: (most) => new TwinlineError('ERR_BUSY', `${most} drafts are waiting to be checked. Try again in a moment.`),
  closed: () => failed('the studio is closed'),
};

const NO_DRAFT: DraftText = { flow: '', text: '' };

export function drafts({ flows, services, contracts = CONTRACTS, callsServices, doors }: DraftsOptions): Drafts {
  // Several parts of the page request the same draft at once, so results are cached until another flow changes.
  const checked = new LRUCache<string, Promise<CheckedDraft>>({ max: PAGE_LIMITS.draftsKept });
  const thread = jobThread<DraftJob, DraftAnswer, DraftCall, Json>({
    module: new URL('./draft-worker.ts', import.meta.url),
    ms: PAGE_LIMITS.draftMs,
    memoryMb: PAGE_LIMITS.draftMemoryMb,
    most: PAGE_LIMITS.draftQueue,
    errors: ERRORS,
    answer: async ({ service, input, ...call }, signal) => {
      if (callsServices && Object.hasOwn(services, service)) {
        const answer = await services[service]!(input, { ...call, signal });
        if (!(answer instanceof LaterAnswer)) return answer;
        throw new TwinlineError(
          'ERR_SERVICE',
          'Drafts do not wait for answers that come later. Save the flow to try it.',
        );
      }
      throw new TwinlineError(
        'ERR_SERVICE_UNKNOWN',
        'Drafts call no services on a production server. Save the flow to call them.',
      );
    },
  });
  const listFlows = () => [...flows().values()].map(({ flow }) => flow);
  const nameLibrary = () =>
    hashText([...flows()].map(([name, { version, hash }]) => `${name} ${version} ${hash}`).join('\n') + doors.dialled);
  const nameDraft = ({ flow, text }: DraftText) => [nameLibrary(), flow, hashText(text)];

  async function ask<Kind extends keyof DraftQuestions>(
    kind: Kind,
    { flow, text }: DraftText,
    about: DraftQuestions[Kind],
  ): Promise<DraftResults[Kind]> {
    const job: DraftJob = { kind, about, draft: { flow, text }, libraryKey: nameLibrary() };
    const library = { flows: listFlows(), services: Object.keys(services), contracts, doors };
    let answer = await thread.run(job);
    if ('isLibraryMissing' in answer) answer = await thread.run({ ...job, library });
    if ('isLibraryMissing' in answer) throw failed('the flows around it changed meanwhile');
    return answer.result as DraftResults[Kind];
  }

  return {
    flows: () => new Map(listFlows().map((flow) => [flow.flow, flow])),
    check: (draft) => keepMade(checked, nameDraft(draft).join(' '), () => ask('check', draft, undefined)),
    ask,
    drawing: (draft) => ({ name: ['draft', ...nameDraft(draft)], find: () => ask('draw', draft, undefined) }),
    dial: (draft, dialled) => ask('dial', dialled.text === '' ? draft : NO_DRAFT, dialled),
    phone: (sessionId) => ask('phone', NO_DRAFT, sessionId),
    close: thread.close,
  };
}
