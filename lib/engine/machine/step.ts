// One event for a machine with timers and pending calls, until it rests: pure. Sessions and lifecycles both run on it.
//
// XState forgets `after` when a snapshot is restored, so timers are data with a deadline. Calls are data too: the caller
// stores them before it makes them.

import type { AnyMachineSnapshot, EventObject, StateValue } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import { isCount, isListWhere, isObject, isText } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { CallError } from './failure.ts';
import { cancelTimer, countHop, freeTimerId, setTimer, type Timer } from './timers.ts';
import type { AtRest, CallEffect, Effect, Machine, Step } from './transition.ts';

/** A service call whose answer the machine has not got yet. */
export interface PendingCall {
  /** The invoke's id in the machine. */
  readonly id: string;
  readonly service: string;
  /** The idempotency key: the same for every try. */
  readonly key: string;
  /** Absent when it holds a secret. */
  readonly input?: Json;
  /** Events that led to it without a rest or a pause. @default 0 */
  readonly hops?: number;
}

/** How a call ended, as plain data: what the machine gets as `xstate.done.actor.…` or `xstate.error.actor.…`. */
export type ServiceAnswer =
  | { readonly ok: true; readonly output: Json }
  | { readonly ok: false; readonly error: CallError };

/** A machine between two events, and what it waits for. */
export interface MachineState<Call extends Identified = Identified> {
  readonly live: AnyMachineSnapshot;
  /** By time, then by age. */
  readonly timers: readonly Timer[];
  readonly calls: readonly Call[];
}

type Identified = { readonly id: string };

export interface StepOptions {
  /** Milliseconds since 1970 at which this happens. */
  readonly at: number;
  /** Events that led to this one without a rest or a pause, at most `longestChain` of the machine. @default 0 */
  readonly hops?: number;
  /** What the machine gets for an event, for those that it sends to itself too. @default the event as it is */
  readonly stamp?: (event: EventObject) => EventObject;
}

/** One event that a machine was given. */
export interface Transition {
  readonly event: string;
  /** Null: the machine was not there before. */
  readonly from: StateValue | null;
  readonly to: StateValue;
}

/** A call that is to be made. `hops`: the events that led to it. */
export type NewCall = CallEffect & { readonly hops: number };

interface StepFact {
  readonly name: string;
  readonly params: Json;
}

/** Where the machine rests after a step, and what is to be done. */
export interface StepResult<Call extends Identified> extends MachineState<Call> {
  /** Calls that it asks for, besides `calls`, those of before that it still waits for. */
  readonly newCalls: readonly NewCall[];
  readonly facts: readonly StepFact[];
  readonly transitions: readonly Transition[];
  /** False: the machine ignores this event where it is. */
  readonly isTaken: boolean;
  /** What the machine threw on an event that it had sent to itself. All else is as it was before that event. */
  readonly fault?: unknown;
}

/** The type of the event that a machine begins with. */
const BEGIN = 'xstate.init';

/**
 * The machine's first rest. Throws ERR_MACHINE when a guard or action throws or a delay is no finite number, and
 * ERR_TURN_LIMIT when the machine does not come to rest or sets too many timers.
 */
export function begin(machine: Machine, input: JsonObject, options: StepOptions): StepResult<never> {
  const run = startRun<never>(machine, { timers: [], calls: [] }, options);
  apply(run, machine.begin(input), { event: BEGIN, from: null });
  const { fault } = runToRest(run);
  if (fault !== undefined) throw fault;
  return run;
}

/**
 * The rest after an event and all that it leads to at once. Throws as {@link begin}, but for events that the machine sends to itself:
 * what it throws on one of them is the `fault` of the result. A machine that has ended takes nothing.
 */
export function step<Call extends Identified>(
  machine: Machine,
  state: MachineState<Call>,
  event: EventObject,
  options: StepOptions,
): StepResult<Call> {
  const run = startRun(machine, state, options);
  run.live = state.live;
  run.isTaken = false;
  take(run, event);
  return runToRest(run);
}

/** The event by which a machine gets the answer of one of its calls. */
export function answerEvent(actorId: string, answer: ServiceAnswer): EventObject {
  const event = answer.ok
    ? { type: `xstate.done.actor.${actorId}`, actorId, output: answer.output }
    : { type: `xstate.error.actor.${actorId}`, actorId, error: answer.error };
  return event as EventObject;
}

/** Whether what was stored as a call is one. */
export const isPendingCall = (call: unknown): call is PendingCall =>
  isObject(call) && [call.id, call.service, call.key].every(isText) && (call.hops === undefined || isCount(call.hops));

/** Whether what was stored as a rest is one. */
export const isRest = ({ state, context, history, nodes }: { readonly [part in keyof AtRest]?: unknown }): boolean =>
  (isText(state) || isObject(state)) &&
  isObject(context) &&
  (history === undefined || (isObject(history) && Object.values(history).every((ids) => isListWhere(ids, isText)))) &&
  (nodes === undefined || isListWhere(nodes, isText));

/** Whether what was stored of the end of a machine is one. */
export const isEnd = (status: unknown, error: unknown): boolean =>
  status === 'done' || (status === 'error' && isObject(error) && isText(error.code) && isText(error.message));

type TimerEffect = Effect & { readonly type: 'timer' };

/** A step under way; at its end, its result. One object, for every turn of a phone makes a few. */
interface StepInProgress<Call extends Identified> extends StepResult<Call> {
  readonly machine: Machine;
  readonly at: number;
  readonly stamp: StepOptions['stamp'];
  live: AnyMachineSnapshot;
  timers: readonly Timer[];
  calls: readonly Call[];
  newCalls: readonly NewCall[];
  facts: readonly StepFact[];
  transitions: readonly Transition[];
  /** The events that led to the one that is being taken. */
  hops: number;
  isTaken: boolean;
  fault?: unknown;
  /** Events that the machine has sent to itself and not taken yet. */
  queue: readonly SentEvent[];
}

interface SentEvent {
  readonly event: EventObject;
  readonly hops: number;
}

const EMPTY: readonly never[] = Object.freeze([]);

/** With one more; most steps have none, or one. */
function append<T>(list: readonly T[], item: T): readonly T[] {
  if (list === EMPTY) return [item];
  (list as T[]).push(item);
  return list;
}

function startRun<Call extends Identified>(
  machine: Machine,
  { timers, calls }: Pick<MachineState<Call>, 'timers' | 'calls'>,
  { at, hops = 0, stamp }: StepOptions,
): StepInProgress<Call> {
  return {
    machine,
    at,
    stamp,
    live: undefined as unknown as AnyMachineSnapshot,
    timers,
    calls,
    newCalls: EMPTY,
    facts: EMPTY,
    transitions: EMPTY,
    hops,
    isTaken: true,
    queue: EMPTY,
  };
}

function runToRest<Call extends Identified>(run: StepInProgress<Call>): StepResult<Call> {
  while (run.queue.length) {
    const events = run.queue;
    run.queue = EMPTY;
    for (const { event, hops } of events) {
      const { live, facts } = run;
      const before = facts.length;
      run.hops = hops;
      try {
        take(run, event);
      } catch (fault) {
        return Object.assign(run, { live, facts: facts.slice(0, before), fault });
      }
    }
  }
  return run;
}

function take(run: StepInProgress<Identified>, event: EventObject): void {
  const { live, machine, stamp } = run;
  if (live.status !== 'active') return;
  const from = live.value as StateValue;
  apply(run, machine.step(live, stamp ? stamp(event) : event), { event: event.type, from });
}

function apply(
  run: StepInProgress<Identified>,
  { live, effects }: Step,
  { event, from }: Omit<Transition, 'to'>,
): void {
  if (run.live !== live || effects.length) run.isTaken = true;
  run.live = live;
  run.transitions = append(run.transitions, { event, from, to: live.value as StateValue });
  for (const effect of effects) applyEffect(run, effect);
  if (live.status !== 'active') {
    run.timers = EMPTY;
    run.calls = EMPTY;
    run.newCalls = EMPTY;
  }
  if (!run.calls.length && !run.newCalls.length) return;
  const active = run.machine.calling(live);
  run.calls = run.calls.filter(({ id }) => active.includes(id));
  run.newCalls = run.newCalls.filter(({ id }) => active.includes(id));
}

function applyEffect(run: StepInProgress<Identified>, effect: Effect): void {
  switch (effect.type) {
    case 'call':
      // One that goes on under this id goes on beside it: its state was entered again and never left.
      run.newCalls = [...run.newCalls.filter(({ id }) => id !== effect.id), { ...effect, hops: run.hops }];
      break;
    case 'timer':
      run.timers = setTimer(run.timers, timerFor(run, effect));
      if (run.timers.length > ENGINE_LIMITS.timersPerSession) throw tooManyTimers(run.machine);
      break;
    case 'cancel':
      run.timers = cancelTimer(run.timers, effect.id);
      break;
    case 'stop':
      run.calls = withoutLast(run.calls, effect.id);
      run.newCalls = withoutLast(run.newCalls, effect.id);
      break;
    case 'send':
      run.queue = append(run.queue, { event: effect.event, hops: countHop(run.machine, run.hops) });
      break;
    case 'fact':
      run.facts = append(run.facts, { name: effect.name, params: effect.params });
  }
}

function withoutLast<T extends Identified>(calls: readonly T[], id: string): readonly T[] {
  const at = calls.findLastIndex((call) => call.id === id);
  return at < 0 ? calls : calls.toSpliced(at, 1);
}

function timerFor(
  { machine, timers, at: now, hops }: StepInProgress<Identified>,
  { id, delayMs, event }: TimerEffect,
): Timer {
  const at = now + Math.max(0, Math.ceil(delayMs));
  if (!Number.isSafeInteger(at))
    throw new TwinlineError(
      'ERR_MACHINE',
      `Machine "${machine.id}" asks for "${event.type}" after ${delayMs} ms; a delay is a finite number of milliseconds.`,
    );
  return {
    ...(id === undefined ? { id: freeTimerId(timers), isFree: true as const } : { id }),
    at,
    event,
    ...(at === now && { hops }),
  };
}

function tooManyTimers({ id }: Machine): TwinlineError {
  return new TwinlineError(
    'ERR_TURN_LIMIT',
    `Machine "${id}" sets more than ${ENGINE_LIMITS.timersPerSession} timers.`,
  );
}
