// The calls of machines that live in documents: who may make one until when, and what becomes of its answer.

import type { EventObject } from 'xstate';
import type { Clock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { retryDelay } from '../../retry.ts';
import { type CallOutcome, callRunner } from '../calls.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { answerEvent } from '../machine/step.ts';
import type { Services } from '../service.ts';
import type { LifecycleCall } from './record.ts';

const BACKOFF = { firstMs: ENGINE_LIMITS.callBackoffMs, maxMs: ENGINE_LIMITS.lifecycleBackoffMaxMs };

/** By the id of a call. */
export interface LifecyclePolicies {
  readonly [id: string]: {
    /** Milliseconds for one try. @default COMMON_LIMITS.callTimeoutMs */
    readonly timeoutMs?: number;
    /** After so many tries the machine gets the failure as an event. @default ENGINE_LIMITS.lifecycleTries */
    readonly tries?: number;
  };
}

/** An answer for the machine, or the call as it is to be tried again later. */
export type AttemptOutcome = { readonly event: EventObject } | { readonly again: LifecycleCall };

export interface LifecycleCalls {
  /** Until when a call that is stored now belongs to the process that stored it. */
  leaseUntil(id: string): number;
  /** The call as the process that makes its next try stores it first. */
  claim(call: LifecycleCall): LifecycleCall;
  /** Makes one try. Never rejects. */
  make(document: string, call: LifecycleCall): Promise<CallOutcome>;
  outcome(call: LifecycleCall, answer: CallOutcome): AttemptOutcome;
}

interface LifecycleCallOptions {
  readonly clock: Clock;
  readonly policies: LifecyclePolicies;
  /** Makes the token of a call of this key in the document of this id. */
  readonly makeToken: ((document: string, key: string) => string) | undefined;
}

export function lifecycleCalls(
  services: Services,
  { clock, policies, makeToken }: LifecycleCallOptions,
): LifecycleCalls {
  const runner = callRunner(services, clock);
  const findTimeout = (id: string) => policies[id]?.timeoutMs ?? COMMON_LIMITS.callTimeoutMs;
  const leaseUntil = (id: string) => clock.now() + findTimeout(id) + ENGINE_LIMITS.turnReserveMs;
  return {
    leaseUntil,
    claim: (call) => ({ ...call, tries: call.tries + 1, at: leaseUntil(call.id) }),
    make: async (document, { at, input, ...call }) => {
      const policy = { timeoutMs: findTimeout(call.id), retries: 0, secret: false };
      const token = makeToken && (() => makeToken(document, call.key));
      const session = { id: document };
      const answer = await runner.start({ call: { ...call, until: at }, input, policy, session, token });
      runner.forget(call.key);
      return answer;
    },
    outcome: (call, answer) => {
      const { laterMs } = answer;
      if (laterMs !== undefined) return { again: { ...call, at: clock.now() + laterMs, later: true } };
      if (answer.retry && call.tries < (policies[call.id]?.tries ?? ENGINE_LIMITS.lifecycleTries))
        return { again: { ...call, at: clock.now() + retryDelay(call.tries, BACKOFF) } };
      return { event: answerEvent(call.id, answer) };
    },
  };
}
