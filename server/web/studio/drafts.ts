// A flow that is being written: checked, drawn, tested and dialled as it is in the editor, before anything is saved.

import { LRUCache } from 'lru-cache';
import { createEngine } from '../../../lib/engine/engine.ts';
import type { Services } from '../../../lib/engine/service.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { sketchFlow } from '../../../lib/flow/editing/cursor.ts';
import type { Flow } from '../../../lib/flow/format/flow.ts';
import { FLOW_FILE } from '../../../lib/flow/format/parse.ts';
import type { Problem } from '../../../lib/flow/format/problem.ts';
import { checkFlow, type LintContext } from '../../../lib/flow/lint/lint.ts';
import { collectParts } from '../../../lib/flow/lint/parts.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import { room } from '../../../lib/flow/run/render.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import { memorySnapshots } from '../../../lib/store/memory/index.ts';
import type { UssdReply } from '../../../lib/ussd/reply.ts';
import { type UssdService, ussdService } from '../../../lib/ussd/service.ts';
import { CONTRACTS } from '../../menus/contracts.ts';
import { tryCompile } from '../../menus/menus.ts';
import { PLAIN_DIALECT } from '../../ussd/dialects.ts';
import { PAGE_LIMITS } from '../limits.ts';

/** A text of the editor, and the name of its flow. */
export interface DraftText {
  readonly flow: string;
  readonly text: string;
}

export interface CheckedDraft {
  readonly problems: readonly Problem[];
  /** Screen id → offsets of its text. */
  readonly screens: readonly (readonly [id: string, from: number, to: number])[];
}

export interface DraftsOptions {
  /** The flows that are served now, by name. */
  flows(): ReadonlyMap<string, CompiledFlow>;
  readonly services: Services;
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

export type Drafts = ReturnType<typeof drafts>;

export function drafts({ flows, services, keyring }: DraftsOptions) {
  const phones = new LRUCache<string, UssdService<CompiledFlow>>({ max: PAGE_LIMITS.draftPhones });
  const known = (): LintContext & { readonly flows: ReadonlyMap<string, Flow> } => ({
    flows: new Map([...flows()].map(([name, { flow }]) => [name, flow])),
    services: new Set(Object.keys(services)),
    contracts: CONTRACTS,
  });

  function check({ flow, text }: DraftText): CheckedDraft & { readonly flow?: Flow } {
    const { flow: parsed, problems } = checkFlow(text, flow + FLOW_FILE, known());
    const screens = [...sketchFlow(text, 0).screens].map(([id, { from, to }]) => [id, from, to] as const);
    return { problems, screens, ...(parsed && { flow: parsed }) };
  }

  /** The draft compiled. Throws ERR_INPUT with the first of its errors. */
  function compile(draft: DraftText): CompiledFlow {
    const { flow, problems } = check(draft);
    const error = problems.find(({ severity }) => severity === 'error');
    if (!flow || error) throw invalidDraft(error?.message ?? 'It cannot be read.');
    const compiled = tryCompile(flow, new Map([...known().flows, [flow.flow, flow]]));
    if (typeof compiled === 'string') throw invalidDraft(compiled);
    return compiled;
  }

  function openPhone(draft: DraftText): UssdService<CompiledFlow> {
    const compiled = compile(draft);
    const engine = createEngine({ store: memorySnapshots(), conversations: [compiled], services, keyring });
    return ussdService({ engine, flow: compiled.id, keyring });
  }

  return {
    known,
    check,
    compile,
    /** Dials a draft, or goes on in a session that did: with the text that was dialled, whatever the editor holds by now. */
    async dial(draft: DraftText, { sessionId, phoneNumber, serviceCode, text }: DraftDial): Promise<UssdReply> {
      const phone = text === '' ? openPhone(draft) : phones.get(sessionId);
      if (!phone) return { kind: 'end', text: 'This session is over. Dial again.' };
      phones.set(sessionId, phone);
      const request = { sessionId, phoneNumber, serviceCode, text, event: 'turn', mode: 'cumulative' } as const;
      return phone.turn(request, PLAIN_DIALECT);
    },
    /** The service of a session that dialled a draft. */
    phone: (sessionId: string) => phones.get(sessionId),
  };
}

function invalidDraft(why: string): TwinlineError {
  return new TwinlineError('ERR_INPUT', `The flow has errors. ${why}`);
}

/** One text of a flow in all its languages. */
export interface TranslatedText {
  /** Of the text in the flow, as a JSON pointer. */
  readonly pointer: string;
  /** One for each language of the flow, in their order; null where it is missing. */
  readonly values: readonly ({ readonly text: string; readonly used: number; readonly isGsm: boolean } | null)[];
}

/** All texts of a flow with the room that they take, before values are put in. */
export function listWordings(flow: Flow): {
  readonly langs: readonly string[];
  readonly wordings: readonly TranslatedText[];
} {
  const langs = flow.langs?.length ? flow.langs : ['en'];
  const wordings = collectParts(flow).texts.map(
    ({ pointer, text }): TranslatedText => ({
      pointer,
      values: langs.map((lang) => {
        const words = typeof text === 'string' ? text : text[lang];
        if (words === undefined) return null;
        const { used, encoding } = room(words);
        return { text: words, used, isGsm: encoding === 'gsm7' };
      }),
    }),
  );
  return { langs, wordings };
}
