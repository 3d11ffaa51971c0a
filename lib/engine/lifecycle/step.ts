// One event for a machine that lives in a document: pure, from a record to the next one and the facts of the way.

import type { AnyMachineSnapshot, EventObject } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../store/store.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { cancelTimer, freeTimerId, setTimer, type Timer } from '../machine/timers.ts';
import type { Effect, Machine, Step } from '../machine/transition.ts';
import type { LifecycleCall, LifecycleRecord } from './record.ts';

/** A fact that the machine emitted during a step. */
export interface LifecycleFact {
  readonly type: string;
  readonly data: Json;
}

/** What a step is taken with, besides the record. */
export interface StepOptions {
  readonly machine: Machine;
  /** Of the document: makes the idempotency keys of calls. */
  readonly id: string;
  /** Milliseconds since 1970 at which this happens. */
  readonly at: number;
  /** Until when the process that stores a new call has it to itself. */
  readonly leaseUntil: (call: string) => number;
}

export interface Stepped {
  readonly record: LifecycleRecord;
  readonly facts: readonly LifecycleFact[];
  /** The type of the event; absent when the machine took none. */
  readonly event?: string;
}

interface Work extends StepOptions {
  live: AnyMachineSnapshot;
  timers: readonly Timer[];
  calls: readonly LifecycleCall[];
  readonly steps: number;
  readonly facts: LifecycleFact[];
  readonly queue: EventObject[];
}

/** The machine's first rest. Its input is `input` and `at`. */
export function firstStep(input: JsonObject, options: StepOptions): Stepped {
  const step = options.machine.begin({ ...input, at: options.at });
  const work: Work = { ...options, live: step.live, timers: [], calls: [], steps: 1, facts: [], queue: [] };
  return { ...finish(work, step, []), event: 'xstate.init' };
}

/** The record after `event`, to which `at` is added; undefined when the machine does not take it where it is. */
export function nextStep(record: LifecycleRecord, event: EventObject, options: StepOptions): Stepped | undefined {
  const { machine, at } = options;
  const live = liveOf(machine, record);
  const step = machine.step(live, dated(event, at));
  if (step.live === live) return undefined;
  const { timers, calls } = record;
  const work: Work = { ...options, live, timers, calls, steps: record.steps + 1, facts: [], queue: [] };
  return { ...finish(work, step, record.commands), event: event.type };
}

const dated = (event: EventObject, at: number) => ({ ...event, at }) as EventObject;

function liveOf(machine: Machine, { rest, calls }: LifecycleRecord): AnyMachineSnapshot {
  return machine.resume(calls.length ? { ...rest, calling: calls.map(({ id }) => id) } : rest);
}

function finish(work: Work, first: Step, commands: readonly string[]): Stepped {
  absorb(work, first);
  for (let sent = 0; work.queue.length; sent++) {
    if (sent >= ENGINE_LIMITS.hopsPerTurn)
      throw new TwinlineError('ERR_TURN_LIMIT', `Machine "${work.machine.id}" keeps sending events to itself.`);
    const event = work.queue.shift()!;
    if (work.live.status === 'active') absorb(work, work.machine.step(work.live, dated(event, work.at)));
  }
  const { machine, live, timers, calls, at, steps, facts } = work;
  return { record: { rest: machine.rest(live), timers, calls, at, steps, commands }, facts };
}

function absorb(work: Work, { live, effects }: Step): void {
  work.live = live;
  for (const effect of effects) take(work, effect);
  if (live.status !== 'active') {
    work.timers = [];
    work.calls = [];
  }
  if (!work.calls.length) return;
  const calling = work.machine.calling(live);
  work.calls = work.calls.filter(({ id }) => calling.includes(id));
}

function take(work: Work, effect: Effect): void {
  switch (effect.type) {
    case 'call':
      work.calls = [...work.calls.filter(({ id }) => id !== effect.id), callOf(work, effect)];
      break;
    case 'timer':
      work.timers = setTimer(work.timers, timerOf(work, effect));
      break;
    case 'cancel':
      work.timers = cancelTimer(work.timers, effect.id);
      break;
    case 'send':
      work.queue.push(effect.event);
      break;
    case 'fact':
      work.facts.push({ type: effect.name, data: effect.params });
  }
}

function callOf(work: Work, { id, service, input }: Effect & { type: 'call' }): LifecycleCall {
  return { id, service, input, key: `${work.id}/${id}/${work.steps}`, tries: 1, at: work.leaseUntil(id) };
}

function timerOf(work: Work, { id, delayMs, event }: Effect & { type: 'timer' }): Timer {
  const at = work.at + Math.max(0, Math.ceil(delayMs));
  if (!Number.isSafeInteger(at) || work.timers.length >= ENGINE_LIMITS.timersPerSession)
    throw new TwinlineError(
      'ERR_MACHINE',
      `Machine "${work.machine.id}" asks for "${event.type}" after ${delayMs} ms beside ${work.timers.length} timers; a delay is a finite number of milliseconds, and ${ENGINE_LIMITS.timersPerSession} timers are the most.`,
    );
  return { id: id ?? freeTimerId(work.timers), at, event };
}
