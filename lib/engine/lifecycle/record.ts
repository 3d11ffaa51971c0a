// A machine as its document keeps it: checked before it is used, the record that follows from an event, and its write.

import type { EventObject, StateValue } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import { isCount, isListWhere, isObject, isText } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { undefinedNames, withUndefined } from '../../json/lossless.ts';
import type { StoredDocument } from '../../store/store.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { type CallError, type MachineProblem, machineProblem, readFault, untakenFailure } from '../machine/failure.ts';
import {
  begin,
  isEnd,
  isPendingCall,
  isRest,
  type NewCall,
  type PendingCall,
  type StepResult,
  step,
} from '../machine/step.ts';
import { isTimer, type Timer, timerStep } from '../machine/timers.ts';
import type { AtRest, Machine } from '../machine/transition.ts';

/** A call of a machine in a document. */
export interface LifecycleCall extends PendingCall {
  readonly input: Json;
  /** Tries begun. */
  readonly tries: number;
  /** Milliseconds since 1970: from then on the next reader or sweep makes the next try. */
  readonly at: number;
  /** Its answer comes from outside until `at`; it is not tried again. */
  readonly later?: true;
}

/** Where a machine in a document stands. */
export interface LifecycleRecord {
  readonly rest: AtRest;
  readonly timers: readonly Timer[];
  readonly calls: readonly LifecycleCall[];
  /** Milliseconds since 1970 of the last event; never goes back. */
  readonly at: number;
  /** Events taken, the beginning included. */
  readonly steps: number;
  /** Of the last commands: tells a repeated one. */
  readonly commands: readonly string[];
  /** Keys of calls that were answered from outside, the last ones. */
  readonly completed?: readonly string[];
}

/** Which machine a document may hold, and what becomes of one of another version. */
export interface Expected {
  readonly machine: Machine;
  readonly version: number;
  /** A rest of another version in terms of this one, or undefined when it has no place here. */
  readonly migrate?: (rest: AtRest, from: number) => AtRest | undefined;
}

/** What the document says of its machine. Throws ERR_RECORD when it is not this machine, or damaged. */
export function readRecord(document: StoredDocument, expected: Expected): LifecycleRecord {
  const raw = document.body.machine;
  const refuse = (why: string) =>
    new TwinlineError(
      'ERR_RECORD',
      `Document ${JSON.stringify(document.id)} holds no machine "${expected.machine.id}" that can go on: ${why}.`,
    );
  if (!isObject(raw) || !isSound(raw)) throw refuse('its record is damaged');
  if (raw.id !== expected.machine.id) throw refuse(`it is one of ${JSON.stringify(raw.id)}`);
  const rest: AtRest = {
    state: raw.state as StateValue,
    context: withUndefined(raw.context as JsonObject, (raw.undefined as string[] | undefined) ?? []),
    ...(raw.history !== undefined && { history: raw.history as { [node: string]: string[] } }),
    ...(raw.status !== undefined && { status: raw.status as 'done' | 'error' }),
    ...(raw.output !== undefined && { output: raw.output as Json }),
    ...(raw.error !== undefined && { error: raw.error as unknown as CallError }),
    ...(raw.nodes !== undefined && { nodes: raw.nodes as string[] }),
  };
  const current = raw.version === expected.version ? rest : expected.migrate?.(rest, raw.version as number);
  if (!current) throw refuse(`it is of version ${raw.version}, this is version ${expected.version}`);
  const { history: _, ...placed } = current;
  const { status } = expected.machine.resume(placed); // throws for an unknown state
  return {
    rest: status === 'done' && !current.status ? { ...current, status } : current,
    timers: raw.timers as unknown as Timer[],
    calls: raw.calls as unknown as LifecycleCall[],
    at: raw.at as number,
    steps: raw.steps as number,
    commands: raw.commands as string[],
    ...(raw.completed !== undefined && { completed: raw.completed as string[] }),
  };
}

/** The record as the field `machine` of its document. */
export function toStored({ machine, version }: Expected, record: LifecycleRecord): JsonObject {
  const { rest, commands, ...others } = record;
  const names = undefinedNames(rest.context);
  return {
    id: machine.id,
    version,
    ...rest,
    ...(names && { undefined: names }),
    ...others,
    commands: commands.slice(-ENGINE_LIMITS.commandsKept),
  } as unknown as JsonObject;
}

/** When the sweep must look at it next: the earliest timer or try, or null. */
export function dueAt({ timers, calls }: Pick<LifecycleRecord, 'timers' | 'calls'>): number | null {
  const times = [...timers, ...calls].map(({ at }) => at);
  return times.length ? Math.min(...times) : null;
}

function isCall(call: unknown): boolean {
  if (!isPendingCall(call)) return false;
  const { input, tries, at } = call as LifecycleCall;
  return input !== undefined && isCount(tries) && isCount(at);
}

function isSound(raw: { readonly [field: string]: unknown }): boolean {
  return (
    isText(raw.id) &&
    isCount(raw.version) &&
    isRest(raw) &&
    (raw.status === undefined || isEnd(raw.status, raw.error)) &&
    (raw.undefined === undefined || isListWhere(raw.undefined, isText)) &&
    isListWhere(raw.timers, isTimer) &&
    isListWhere(raw.calls, isCall) &&
    isCount(raw.at) &&
    isCount(raw.steps) &&
    isListWhere(raw.commands, isText) &&
    (raw.completed === undefined || isListWhere(raw.completed, isText))
  );
}

/** A fact that the machine emitted during a step. */
export interface LifecycleFact {
  readonly type: string;
  readonly data: Json;
}

/** What a record's next event is taken with. */
export interface RecordStepOptions {
  readonly machine: Machine;
  /** Of the document: makes the idempotency keys of calls. */
  readonly id: string;
  /** Milliseconds since 1970 at which this happens. */
  readonly at: number;
  /** Until when the process that stores a new call has it to itself. */
  readonly leaseUntil: (call: string) => number;
  /** As of a step. @default 0 */
  readonly hops?: number;
}

export interface Stepped {
  readonly record: LifecycleRecord;
  readonly facts: readonly LifecycleFact[];
  /** The type of the event; absent when the machine took none. */
  readonly event?: string;
  /** Why the machine has failed in this step; told once it is stored. */
  readonly problem?: MachineProblem;
}

/** The machine's first rest. Its input is `input` and `at`. */
export function firstStep(input: JsonObject, options: RecordStepOptions): Stepped {
  const { at, machine } = options;
  const result = begin(machine, { ...input, at }, { at, stamp: stampAt(at) });
  return applyStep(result, { steps: 1, commands: [] }, options);
}

/** The record after `event`, to which `at` is added; undefined when the machine does not take it where it is. */
export function nextStep(record: LifecycleRecord, event: EventObject, options: RecordStepOptions): Stepped | undefined {
  const { stepped, fault } = takeStep(record, event, options);
  if (fault !== undefined) throw fault;
  return stepped;
}

function takeStep(record: LifecycleRecord, event: EventObject, options: RecordStepOptions) {
  const { rest, timers, calls, steps, commands, completed } = record;
  const { at, machine, hops = 0 } = options;
  const live = machine.resume(calls.length ? { ...rest, calling: calls.map(({ id }) => id) } : rest);
  const result = step(machine, { live, timers, calls }, event, { at, hops, stamp: stampAt(at) });
  const counts = { steps: steps + 1, commands, ...(completed && { completed }) };
  return { stepped: result.isTaken ? applyStep(result, counts, options) : undefined, fault: result.fault };
}

/** What comes by itself: a timer, or the outcome of a call. */
export interface OwnEvent {
  readonly event: EventObject;
  /** The id of the call. */
  readonly call?: string | undefined;
  /** Of the timer. */
  readonly hops?: number | undefined;
}

/**
 * As {@link nextStep}, for what comes by itself: a timer, or the outcome of `call`. It comes once, so a machine that throws on it has
 * failed, as an actor of XState has; and so has one that does not take the failure of a call.
 */
export function ownStep(
  record: LifecycleRecord,
  { event, call, hops }: OwnEvent,
  options: RecordStepOptions,
): Stepped | undefined {
  try {
    const moment = timerStep({ at: options.at, hops }, options.machine);
    const { stepped, fault } = takeStep(record, event, { ...options, ...moment });
    if (stepped && fault !== undefined) {
      const { record: before, facts } = stepped;
      return { ...failedStep({ ...before, steps: record.steps }, { error: fault, event, call }, options.at), facts };
    }
    if (stepped?.record.rest.status !== 'error') return stepped;
    return { ...stepped, problem: untakenFailure(options.machine.id, call ?? '', stepped.record.rest.error!) };
  } catch (error) {
    return failedStep(record, { error, event, call }, options.at);
  }
}

/** The step by which a machine fails where it stands: it waits for nothing any more. */
export function failedStep(
  record: LifecycleRecord,
  { error, event, call }: OwnEvent & { readonly error: unknown },
  at: number,
): Stepped {
  const fault = readFault(error);
  const { state, context } = record.rest;
  const rest = { state, context, status: 'error', error: fault.told } as const;
  return {
    record: { ...record, rest, timers: [], calls: [], at, steps: record.steps + 1 },
    facts: [],
    event: event.type,
    problem: machineProblem(fault.error, call),
  };
}

const stampAt = (at: number) => (event: EventObject) => ({ ...event, at }) as EventObject;

function applyStep(
  { live, timers, calls, newCalls, facts, transitions }: StepResult<LifecycleCall>,
  { steps, ...others }: Pick<LifecycleRecord, 'steps' | 'commands' | 'completed'>,
  { machine, id, at, leaseUntil }: RecordStepOptions,
): Stepped {
  const additions = newCalls.map(
    ({ id: call, service, input }: NewCall): LifecycleCall => ({
      id: call,
      service,
      input,
      key: `${id}/${call}/${steps}`,
      tries: 1,
      at: leaseUntil(call),
    }),
  );
  return {
    record: { rest: machine.rest(live), timers, calls: [...calls, ...additions], at, steps, ...others },
    facts: facts.map(({ name, params }) => ({ type: name, data: params })),
    event: transitions[0]!.event,
  };
}
