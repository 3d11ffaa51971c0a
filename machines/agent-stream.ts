// A run of an agent: one message of a user being answered, by whichever process holds it, until it has ended once.
//
// Pure. Who answers holds a lease that it renews; when the lease is over, anybody may claim the run under a higher fence,
// and whatever the one before still does is refused. A run that has ended is claimed once more if nobody closed its log.

import { type AnyStateMachine, assign, createMachine, type EventObject } from 'xstate';

export const RUN_STATES = ['queued', 'running', 'waiting', 'finished', 'aborted', 'interrupted', 'failed'] as const;
export type RunState = (typeof RUN_STATES)[number];

export const RUN_ENDS = ['finished', 'aborted', 'interrupted', 'failed'] as const;
export type RunEnd = (typeof RUN_ENDS)[number];

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
  /** What it is called with, as long as no client has been told of it. */
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
  /** From then on anybody may claim it; once its log is closed, when it may be thrown away. */
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

export type RunEvent =
  | { readonly type: 'CLAIM'; readonly holder: string; readonly leaseMs: number }
  | { readonly type: 'RENEW'; readonly fence: number; readonly leaseMs: number }
  /** The holder stops; who comes by may go on at once. */
  | { readonly type: 'RELEASE'; readonly fence: number }
  /** It cannot be claimed yet: look again later. */
  | { readonly type: 'POSTPONE'; readonly ms: number }
  | { readonly type: 'ABORT' }
  /** Asks the user's side; `seen` are calls whose results have been taken up. */
  | { readonly type: 'ASK'; readonly fence: number; readonly call: RunCall; readonly seen: readonly string[] }
  /** A client is told of a call that no client has been told of: whoever sends this first tells it. */
  | { readonly type: 'HAND_OUT'; readonly call: string }
  | { readonly type: 'RESULT'; readonly call: string; readonly result: CallResult }
  | { readonly type: 'END'; readonly fence: number; readonly status: RunEnd; readonly leaseMs: number }
  /** The log has been closed and is kept for so long. */
  | { readonly type: 'SEAL'; readonly fence: number; readonly keepMs: number };

type Seen = { readonly context: RunContext; readonly event: EventObject & { readonly at: number } };
type Of<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }> & { readonly at: number };
const eventOf = <Type extends RunEvent['type']>({ event }: Seen) => event as unknown as Of<Type>;
const isOpen = ({ result }: RunCall) => result === undefined;
const withoutArgs = ({ args: _, ...call }: RunCall): RunCall => call;
const isUntold = (call: RunCall) => isOpen(call) && call.args !== undefined;

const HELD = {
  CLAIM: { guard: { type: 'isOver' }, actions: { type: 'claim' } },
  RENEW: { guard: { type: 'holds' }, actions: { type: 'renew' } },
  RELEASE: { guard: { type: 'holds' }, actions: { type: 'release' } },
  ABORT: { actions: { type: 'requestAbort' } },
  ASK: { guard: { type: 'mayAsk' }, target: 'waiting', actions: { type: 'ask' } },
  END: RUN_ENDS.map((status) => ({
    guard: { type: 'endsAs', params: { status } },
    target: status,
    actions: { type: 'end' },
  })),
};

const ENDED = {
  on: {
    CLAIM: { guard: { type: 'isUnsealed' }, actions: { type: 'claim' } },
    SEAL: { guard: { type: 'holds' }, actions: { type: 'seal' } },
  },
};

const config = {
  id: 'agent-stream',
  initial: 'begun',
  context: ({ input }: { input: RunInput }): RunContext => ({
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
    begun: { always: [{ guard: { type: 'isInLine' }, target: 'queued' }, { target: 'running' }] },
    queued: {
      on: {
        CLAIM: { target: 'running', actions: { type: 'claim' } },
        POSTPONE: { actions: { type: 'postpone' } },
        ABORT: { target: 'aborted', actions: [{ type: 'requestAbort' }, { type: 'endUnheld' }] },
      },
    },
    running: { on: HELD },
    waiting: {
      on: {
        ...HELD,
        HAND_OUT: { guard: { type: 'isUntold' }, actions: { type: 'handOut' } },
        RESULT: [
          { guard: { type: 'isLastAnswer' }, target: 'running', actions: { type: 'answer' } },
          { guard: { type: 'isAnswer' }, actions: { type: 'answer' } },
        ],
      },
    },
    finished: ENDED,
    aborted: ENDED,
    interrupted: ENDED,
    failed: ENDED,
  },
};

const isAnswer = (seen: Seen) =>
  seen.context.calls.some((call) => call.id === eventOf<'RESULT'>(seen).call && isOpen(call));

/** The machine; its input is a {@link RunInput}, its events are {@link RunEvent}s, to which `at` is added. */
export function agentStream(): AnyStateMachine {
  return createMachine(
    config as never,
    {
      guards: {
        isInLine: ({ context }: Seen) => context.inLine,
        isOver: ({ context, event }: Seen) => event.at >= context.leaseUntil,
        isUnsealed: ({ context, event }: Seen) => !context.sealed && event.at >= context.leaseUntil,
        holds: (seen: Seen) => eventOf<'RENEW'>(seen).fence === seen.context.fence && !seen.context.sealed,
        mayAsk: (seen: Seen) => {
          const { fence, call } = eventOf<'ASK'>(seen);
          return fence === seen.context.fence && !seen.context.calls.some(({ id }) => id === call.id);
        },
        endsAs: (seen: Seen, { status }: { status: RunEnd }) => {
          const asked = eventOf<'END'>(seen);
          return asked.fence === seen.context.fence && asked.status === status;
        },
        isUntold: (seen: Seen) =>
          seen.context.calls.some((call) => call.id === eventOf<'HAND_OUT'>(seen).call && isUntold(call)),
        isAnswer,
        isLastAnswer: (seen: Seen) => isAnswer(seen) && seen.context.calls.filter(isOpen).length === 1,
      },
      actions: {
        claim: assign((seen: Seen) => {
          const { holder, leaseMs, at } = eventOf<'CLAIM'>(seen);
          const { fence, claims } = seen.context;
          return { inLine: false, holder, fence: fence + 1, claims: claims + 1, leaseUntil: at + leaseMs };
        }),
        renew: assign((seen: Seen) => ({ leaseUntil: eventOf<'RENEW'>(seen).at + eventOf<'RENEW'>(seen).leaseMs })),
        release: assign((seen: Seen) => ({ leaseUntil: seen.event.at })),
        postpone: assign((seen: Seen) => ({ leaseUntil: seen.event.at + eventOf<'POSTPONE'>(seen).ms })),
        requestAbort: assign({ abortRequested: true }),
        ask: assign((seen: Seen) => {
          const { call, seen: taken } = eventOf<'ASK'>(seen);
          return { calls: [...seen.context.calls.filter(({ id }) => !taken.includes(id)), call] };
        }),
        handOut: assign((seen: Seen) => {
          const told = eventOf<'HAND_OUT'>(seen).call;
          return { calls: seen.context.calls.map((call) => (call.id === told ? withoutArgs(call) : call)) };
        }),
        answer: assign((seen: Seen) => {
          const { call: id, result } = eventOf<'RESULT'>(seen);
          return { calls: seen.context.calls.map((call) => (call.id === id ? { ...call, result } : call)) };
        }),
        endUnheld: assign((seen: Seen) => ({ endedAt: seen.event.at, leaseUntil: seen.event.at })),
        end: assign((seen: Seen) => {
          const { at, leaseMs } = eventOf<'END'>(seen);
          return { endedAt: at, leaseUntil: at + leaseMs, calls: [] };
        }),
        seal: assign((seen: Seen) => ({ sealed: true, leaseUntil: seen.event.at + eventOf<'SEAL'>(seen).keepMs })),
      },
    } as never,
  );
}
