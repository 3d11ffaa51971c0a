// What the writes of a machine in a document are made of: what they begin with, what is due, and why one cannot be made.

import type { EventObject, StateValue } from 'xstate';
import type { Clock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import type { DocumentStore, Kind, StoredDocument } from '../../store/store.ts';
import type { Inspector } from '../conversation.ts';
import type { MachineProblem } from '../machine/failure.ts';
import type { AtRest } from '../machine/transition.ts';
import type { LifecycleCalls } from './calls.ts';
import type { Expected, LifecycleCall, LifecycleRecord, Stepped } from './record.ts';
import type { StepNote, WriteStep } from './write.ts';

/** A document and what its machine's record says. */
export interface LifecycleDocument {
  readonly document: StoredDocument;
  readonly record: LifecycleRecord;
}

/** A step that is stored, and the calls that this process has to make for it. */
export interface Settled extends LifecycleDocument {
  readonly mine: readonly LifecycleCall[];
}

export interface RunOptions {
  readonly documents: DocumentStore;
  readonly kind: Kind;
  readonly expected: Expected;
  readonly clock: Clock;
  readonly calls: LifecycleCalls;
  readonly write: WriteStep;
  readonly fields: ((rest: AtRest, calling: readonly string[]) => JsonObject) | undefined;
  readonly inspector: Inspector | undefined;
  readonly onStep: ((step: StoredStep) => void) | undefined;
  /** Told when a machine has failed, after the write. */
  readonly onProblem: ((problem: MachineProblem & { readonly id: string }) => void) | undefined;
}

export interface ClosingCall {
  readonly record: LifecycleRecord;
  readonly call: LifecycleCall;
  /** Of its outcome. */
  readonly event: EventObject;
}

/** A step after its write, with XState's state values. */
export interface StoredStep {
  /** The type of the event. */
  readonly event: string;
  /** Undefined for the first step. */
  readonly from: StateValue | undefined;
  readonly to: StateValue;
}

/** What the journal of a step says, and the key of a command to remember. */
export type Noted = Omit<StepNote, 'facts'>;

export const silent = (record: LifecycleRecord): Stepped => ({ record, facts: [] });

export function withCall(record: LifecycleRecord, call: LifecycleCall): LifecycleRecord {
  return { ...record, calls: record.calls.map((other) => (other.key === call.key ? call : other)) };
}

export function nextDue({ timers, calls }: LifecycleRecord, at: number) {
  const call = calls.find((one) => one.at <= at);
  const timer = timers[0];
  return timer && timer.at <= Math.min(at, call?.at ?? at) ? timer : call;
}

export function tooMany(machine: string, id: string): TwinlineError {
  const message = `Machine "${machine}" in document ${JSON.stringify(id)} was changed ${COMMON_LIMITS.conflictsPerTurn} times by others; try again.`;
  return new TwinlineError('ERR_CONFLICT', message);
}

export function untakenError(machine: string, event: string, { rest }: LifecycleRecord): TwinlineError {
  return new TwinlineError(
    'ERR_MACHINE',
    `Machine "${machine}" does not take "${event}" in state ${JSON.stringify(rest.state)}.`,
  );
}
