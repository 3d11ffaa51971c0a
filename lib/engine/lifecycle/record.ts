// A machine as its document keeps it, checked before it is used.

import type { StateValue } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import { isCount, isListOf, isObject, isText } from '../../shape.ts';
import type { JsonObject, StoredDocument } from '../../store/store.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { isTimer, type Timer } from '../machine/timers.ts';
import type { AtRest, Machine } from '../machine/transition.ts';

/** A call that has been decided on and not been answered. */
export interface LifecycleCall {
  /** The invoke's id in the machine. */
  readonly id: string;
  readonly service: string;
  readonly input: JsonObject;
  /** The idempotency key: the same for every try. */
  readonly key: string;
  /** Tries begun. */
  readonly tries: number;
  /** Milliseconds since 1970: from then on the next reader or sweep makes the next try. */
  readonly at: number;
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
    context: raw.context as JsonObject,
    ...(raw.history !== undefined && { history: raw.history as { [node: string]: string[] } }),
  };
  const fitting = raw.version === expected.version ? rest : expected.migrate?.(rest, raw.version as number);
  if (!fitting) throw refuse(`it is of version ${raw.version}, this is version ${expected.version}`);
  expected.machine.resume({ state: fitting.state, context: fitting.context }); // throws for an unknown state
  return {
    rest: fitting,
    timers: raw.timers as unknown as Timer[],
    calls: raw.calls as unknown as LifecycleCall[],
    at: raw.at as number,
    steps: raw.steps as number,
    commands: raw.commands as string[],
  };
}

/** The record as the field `machine` of its document. */
export function storedRecord({ machine, version }: Expected, record: LifecycleRecord): JsonObject {
  const { rest, commands, ...others } = record;
  return {
    id: machine.id,
    version,
    ...rest,
    ...others,
    commands: commands.slice(-ENGINE_LIMITS.commandsKept),
  } as unknown as JsonObject;
}

/** When the sweep must look at it next: the earliest timer or try, or null. */
export function dueAt({ timers, calls }: Pick<LifecycleRecord, 'timers' | 'calls'>): number | null {
  const times = [...timers, ...calls].map(({ at }) => at);
  return times.length ? Math.min(...times) : null;
}

const isCall = (call: unknown) =>
  isObject(call) &&
  [call.id, call.service, call.key].every(isText) &&
  isObject(call.input) &&
  isCount(call.tries) &&
  isCount(call.at);

function isSound(raw: { readonly [field: string]: unknown }): boolean {
  return (
    isText(raw.id) &&
    isCount(raw.version) &&
    (isText(raw.state) || isObject(raw.state)) &&
    isObject(raw.context) &&
    (raw.history === undefined ||
      (isObject(raw.history) && Object.values(raw.history).every((ids) => isListOf(ids, isText)))) &&
    isListOf(raw.timers, isTimer) &&
    isListOf(raw.calls, isCall) &&
    isCount(raw.at) &&
    isCount(raw.steps) &&
    isListOf(raw.commands, isText)
  );
}
