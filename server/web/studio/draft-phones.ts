// Phones that dial drafts, in the worker thread. A session continues in the text that it dialled. Service calls go to the
// main thread.

import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { createEngine } from '../../../lib/engine/engine.ts';
import type { ServiceCall, Services } from '../../../lib/engine/service.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import type { Json, JsonObject } from '../../../lib/json/json.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import { memorySnapshots } from '../../../lib/store/memory/index.ts';
import type { UssdReply } from '../../../lib/ussd/adapter.ts';
import { type UssdService, ussdService } from '../../../lib/ussd/service.ts';
import type { AskProcess } from '../../config/job-thread.ts';
import { PLAIN_DIALECT } from '../../ussd/dialects.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { type PhoneSessionState, readSessionState } from '../simulator/session-state.ts';
import { type ReasonsRecorder, recordReasons, type TurnReasons } from './reasons.ts';

/** A request of a phone to a draft. */
export interface DraftDial {
  readonly sessionId: string;
  readonly phoneNumber: string;
  readonly serviceCode: string;
  /** All input so far, joined by `*`; '' dials. */
  readonly text: string;
}

/** A service call of a draft. */
export interface DraftCall extends Pick<ServiceCall, 'idempotencyKey' | 'session'> {
  readonly service: string;
  readonly input: JsonObject;
}

/** What a phone shows, and why. */
export type DraftReply = UssdReply & { readonly why?: TurnReasons };

/** A dialogue of a preview; what was typed before is played again where its session is not here. */
export interface PreviewDial extends Omit<DraftDial, 'text'> {
  /** The first is '' and dials. */
  readonly inputs: readonly string[];
}

/** What a phone shows, and what its page needs to hide what is typed next. */
export type PreviewReply = Pick<UssdReply, 'kind' | 'text'> & { readonly state: PhoneSessionState | null };

export interface DraftPhones {
  /** For a dial, `open` returns the draft and the services that it may call. */
  turn(dial: DraftDial, open: () => readonly [draft: CompiledFlow, services: readonly string[]]): Promise<DraftReply>;
  /** Dials with the services that `open` returns, which live in this thread. */
  preview(dial: PreviewDial, open: () => readonly [draft: CompiledFlow, services: Services]): Promise<PreviewReply>;
  /** The state of a session; null if it does not exist or is over. */
  state(sessionId: string): Promise<PhoneSessionState | null>;
}

interface DraftPhone {
  readonly service: UssdService<CompiledFlow>;
  readonly reasons: ReasonsRecorder;
  readonly screens: number;
  /** What a preview has taken so far. */
  readonly inputs?: readonly string[];
}

export function draftPhones(ask: AskProcess<DraftCall, Json>): DraftPhones {
  // Sealed values never leave this thread, so any key will do.
  const keyring = parseKeyring(randomBytes(32).toString('hex'));
  const phones = new LRUCache<string, DraftPhone>({
    max: PAGE_LIMITS.draftPhones,
    maxSize: PAGE_LIMITS.draftPhoneScreens,
    sizeCalculation: ({ screens }) => Math.min(Math.max(1, screens), PAGE_LIMITS.draftPhoneScreens),
  });

  const askAll = (names: readonly string[]): Services =>
    Object.fromEntries(
      names.map((service) => [service, (input, { signal, ...call }) => ask({ service, input, ...call }, signal)]),
    );

  function openPhone(conversation: CompiledFlow, called: Services): DraftPhone {
    const reasons = recordReasons(conversation);
    const services: Services = Object.fromEntries(
      Object.entries(called).map(([name, service]) => [name, reasons.watch(name, service)]),
    );
    const { inspector } = reasons;
    const engine = createEngine({
      store: memorySnapshots(),
      conversations: [conversation],
      services,
      keyring,
      inspector,
    });
    const service = ussdService({ engine, flow: conversation.id, keyring });
    return { service, reasons, screens: conversation.screens.size };
  }

  return {
    async turn({ sessionId, phoneNumber, serviceCode, text }, open) {
      const opened = text === '' ? open() : undefined;
      const phone = opened ? openPhone(opened[0], askAll(opened[1])) : phones.get(sessionId);
      if (!phone) return { kind: 'end', text: 'This session is over. Dial again.' };
      phones.set(sessionId, phone);
      const request = { sessionId, phoneNumber, serviceCode, text, event: 'turn', mode: 'cumulative' } as const;
      const reply = await phone.service.turn(request, PLAIN_DIALECT, { simulated: true });
      const why = phone.reasons.read();
      return why ? { ...reply, why } : reply;
    },
    async preview({ inputs, ...caller }, open) {
      const { sessionId } = caller;
      const before = phones.get(sessionId);
      // The next input, or the last one again; else another instance took some of them.
      const isNext =
        before?.inputs &&
        inputs.length - before.inputs.length <= 1 &&
        before.inputs.every((one, at) => one === inputs[at]);
      const kept = inputs.length > 1 && isNext ? before : undefined;
      const phone = kept ?? openPhone(...open());
      phones.set(sessionId, { ...phone, inputs });
      let reply: UssdReply = { kind: 'end', text: '' };
      for (let at = kept ? inputs.length : 1; at <= inputs.length; at++) {
        const request = { ...caller, text: inputs.slice(1, at).join('*'), event: 'turn', mode: 'cumulative' } as const;
        reply = await phone.service.turn(request, PLAIN_DIALECT, { simulated: true });
      }
      const { kind, text } = reply;
      return { kind, text, state: (await readSessionState(phone.service, sessionId)) ?? null };
    },
    async state(sessionId) {
      const phone = phones.get(sessionId);
      return (phone && (await readSessionState(phone.service, sessionId))) ?? null;
    },
  };
}
