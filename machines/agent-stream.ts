// A run of an agent: one message of a user being answered, by whichever process holds it, until it has ended once.
//
// Pure. The process that answers holds a lease and renews it. When the lease is over, any process may claim the run under
// a higher fence; events of the holder before it are then refused. A run that has ended is claimed once more if its log
// was not closed.

import { assertEvent, assign, setup } from 'xstate';
import type { RunEnd } from './run-ends.ts';

/** The states of a run. */
export const RUN_STATES = ['queued', 'running', 'waiting', 'finished', 'aborted', 'interrupted', 'failed'] as const;
/** One of `RUN_STATES`. */
export type RunState = (typeof RUN_STATES)[number];

type Data = null | boolean | number | string | readonly Data[] | { readonly [key: string]: Data };

/** What became of a call: first come, first stored. */
export type CallResult =
  | { readonly ok: true; readonly output: Data }
  | { readonly ok: false; readonly error: string; readonly timedOut?: boolean };

/** Something that the user's side was asked to do. */
export type RunCall = {
  readonly id: string;
  readonly kind: 'browser' | 'action';
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly until: number;
  /** Arguments of the call, kept until a client has got the call. */
  readonly args?: { readonly [name: string]: Data };
  readonly result?: CallResult;
};

/** Times are milliseconds since 1970. */
export type RunContext = {
  readonly session: string;
  /** Its place in the session. */
  readonly turn: number;
  /** Queued behind another run of the session: the session is not its own yet. */
  readonly inLine: boolean;
  /** The process that holds it; while it is queued, the one that took it in. */
  readonly holder: string;
  /** Grows with every claim. */
  readonly fence: number;
  /** When its lease ends and any process may claim it; once its log is closed, when it may be deleted. */
  readonly leaseUntil: number;
  readonly claims: number;
  readonly abortRequested: boolean;
  readonly calls: readonly RunCall[];
  readonly endedAt?: number;
  /** Its log has been closed: nothing is left to do. */
  readonly sealed: boolean;
};

/** `holder` works on it at once, unless it stands in line. `at`: milliseconds since 1970. */
export type RunInput = {
  readonly at: number;
  readonly session: string;
  readonly turn: number;
  readonly inLine: boolean;
  readonly holder: string;
  readonly leaseMs: number;
};

/** What moves a run. */
export type RunEvent =
  | { readonly type: 'CLAIM'; readonly holder: string; readonly leaseMs: number }
  | { readonly type: 'RENEW'; readonly fence: number; readonly leaseMs: number }
  /** The holder stops: any process may claim it at once. */
  | { readonly type: 'RELEASE'; readonly fence: number }
  /** It cannot be claimed yet: look again later. */
  | { readonly type: 'POSTPONE'; readonly ms: number }
  | { readonly type: 'ABORT' }
  /** Asks the user's side; `seen` are calls whose results have been taken up. */
  | { readonly type: 'ASK'; readonly fence: number; readonly call: RunCall; readonly seen: readonly string[] }
  /** The call is sent to a client. Only the first process that sends this event sends the call. */
  | { readonly type: 'HAND_OUT'; readonly call: string }
  | { readonly type: 'RESULT'; readonly call: string; readonly result: CallResult }
  | { readonly type: 'END'; readonly fence: number; readonly status: RunEnd; readonly leaseMs: number }
  /** The log has been closed and is kept for so long. */
  | { readonly type: 'SEAL'; readonly fence: number; readonly keepMs: number };

/** Milliseconds since 1970, which the engine adds to every event. */
type Timed = { readonly at: number };

const isOpen = ({ result }: RunCall) => result === undefined;
const findOpen = ({ calls }: RunContext, id: string) => calls.find((call) => call.id === id && isOpen(call));
const replaceCall = ({ calls }: RunContext, next: RunCall) => ({
  calls: calls.map((call) => (call.id === next.id ? next : call)),
});

// What a run takes while a process works on it.
const IN_HAND = {
  CLAIM: { guard: 'isLeaseOver', actions: 'claim' },
  RENEW: { guard: 'isHolder', actions: 'renew' },
  RELEASE: { guard: 'isHolder', actions: 'release' },
  ABORT: { actions: 'requestAbort' },
  ASK: { guard: 'mayAsk', target: 'waiting', actions: 'ask' },
  END: [
    { guard: { type: 'endsAs', params: { status: 'finished' } }, target: 'finished', actions: 'end' },
    { guard: { type: 'endsAs', params: { status: 'aborted' } }, target: 'aborted', actions: 'end' },
    { guard: { type: 'endsAs', params: { status: 'interrupted' } }, target: 'interrupted', actions: 'end' },
    { guard: { type: 'endsAs', params: { status: 'failed' } }, target: 'failed', actions: 'end' },
  ],
} as const;

// What an ended run takes until its log is closed.
const ENDED = {
  CLAIM: { guard: 'isUnsealed', actions: 'claim' },
  SEAL: { guard: 'isHolder', actions: 'seal' },
} as const;

const machine = setup({
  types: {
    context: {} as RunContext,
    events: {} as RunEvent & Timed,
    input: {} as RunInput,
  },
  guards: {
    isInLine: ({ context }) => context.inLine,
    isLeaseOver: ({ context, event }) => event.at >= context.leaseUntil,
    isUnsealed: ({ context, event }) => !context.sealed && event.at >= context.leaseUntil,
    isHolder: ({ context, event }) => {
      assertEvent(event, ['RENEW', 'RELEASE', 'SEAL']);
      return event.fence === context.fence && !context.sealed;
    },
    mayAsk: ({ context, event }) => {
      assertEvent(event, 'ASK');
      return event.fence === context.fence && !context.calls.some(({ id }) => id === event.call.id);
    },
    endsAs: ({ context, event }, { status }: { readonly status: RunEnd }) => {
      assertEvent(event, 'END');
      return event.fence === context.fence && event.status === status;
    },
    mayHandOut: ({ context, event }) => {
      assertEvent(event, 'HAND_OUT');
      return findOpen(context, event.call)?.args !== undefined;
    },
    isAnswer: ({ context, event }) => {
      assertEvent(event, 'RESULT');
      return findOpen(context, event.call) !== undefined;
    },
    isLastAnswer: ({ context, event }) => {
      assertEvent(event, 'RESULT');
      return findOpen(context, event.call) !== undefined && context.calls.filter(isOpen).length === 1;
    },
  },
  actions: {
    claim: assign(({ context: { fence, claims }, event }) => {
      assertEvent(event, 'CLAIM');
      const { holder, leaseMs, at } = event;
      return { inLine: false, holder, fence: fence + 1, claims: claims + 1, leaseUntil: at + leaseMs };
    }),
    renew: assign(({ event }) => {
      assertEvent(event, 'RENEW');
      return { leaseUntil: event.at + event.leaseMs };
    }),
    release: assign(({ event }) => ({ leaseUntil: event.at })),
    postpone: assign(({ event }) => {
      assertEvent(event, 'POSTPONE');
      return { leaseUntil: event.at + event.ms };
    }),
    requestAbort: assign({ abortRequested: true }),
    ask: assign(({ context, event }) => {
      assertEvent(event, 'ASK');
      return { calls: [...context.calls.filter(({ id }) => !event.seen.includes(id)), event.call] };
    }),
    handOut: assign(({ context, event }) => {
      assertEvent(event, 'HAND_OUT');
      const { args: _, ...call } = findOpen(context, event.call)!;
      return replaceCall(context, call);
    }),
    answer: assign(({ context, event }) => {
      assertEvent(event, 'RESULT');
      return replaceCall(context, { ...findOpen(context, event.call)!, result: event.result });
    }),
    endUnheld: assign(({ event }) => ({ endedAt: event.at, leaseUntil: event.at })),
    end: assign(({ event }) => {
      assertEvent(event, 'END');
      return { endedAt: event.at, leaseUntil: event.at + event.leaseMs, calls: [] };
    }),
    seal: assign(({ event }) => {
      assertEvent(event, 'SEAL');
      return { sealed: true, leaseUntil: event.at + event.keepMs };
    }),
  },
}).createMachine({
  id: 'agent-stream',
  initial: 'begun',
  context: ({ input }) => ({
    session: input.session,
    turn: input.turn,
    inLine: input.inLine,
    holder: input.holder,
    fence: input.inLine ? 1 : 2,
    leaseUntil: input.at + input.leaseMs,
    claims: input.inLine ? 0 : 1,
    abortRequested: false,
    calls: [],
    sealed: false,
  }),
  states: {
    begun: { always: [{ guard: 'isInLine', target: 'queued' }, { target: 'running' }] },
    queued: {
      on: {
        CLAIM: { target: 'running', actions: 'claim' },
        POSTPONE: { actions: 'postpone' },
        ABORT: { target: 'aborted', actions: ['requestAbort', 'endUnheld'] },
      },
    },
    running: { on: IN_HAND },
    waiting: {
      on: {
        ...IN_HAND,
        HAND_OUT: { guard: 'mayHandOut', actions: 'handOut' },
        RESULT: [
          { guard: 'isLastAnswer', target: 'running', actions: 'answer' },
          { guard: 'isAnswer', actions: 'answer' },
        ],
      },
    },
    finished: { on: ENDED },
    aborted: { on: ENDED },
    interrupted: { on: ENDED },
    failed: { on: ENDED },
  },
});

/**
 * The machine; its input is a {@link RunInput}, its events are {@link RunEvent}s, to which `at` is added.
 * @example
 * agentStream().id; // → 'agent-stream'
 */
export function agentStream(): typeof machine {
  return machine;
}
