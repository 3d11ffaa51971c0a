// What the writes of a machine in a document are made of: what they begin with, what is due, why one cannot be made, and
// the write of one step with what is noted of it.

import type { EventObject, StateValue } from 'xstate';
import type { Clock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import type { DocumentStore, Exists, InsertResult, Kind, ReplaceResult, StoredDocument } from '../../store/store.ts';
import type { Inspector } from '../conversation.ts';
import type { MachineProblem } from '../machine/failure.ts';
import type { AtRest } from '../machine/transition.ts';
import type { LifecycleCalls } from './calls.ts';
import type { Expected, LifecycleCall, LifecycleFact, LifecycleRecord, Stepped } from './record.ts';

/** What is to be noted about a step, in the same write. */
export interface StepNote {
  /** Milliseconds since 1970; a deadline has its own time, not the time of the write. */
  readonly at: number;
  /** Who asked for it; `system` for deadlines and answers. */
  readonly by: string;
  readonly action: string;
  readonly facts: readonly LifecycleFact[];
}

export interface StepWrite {
  readonly documents: DocumentStore;
  readonly kind: Kind;
  readonly id: string;
  /** What is replaced; undefined: nothing is there, insert. */
  readonly old: StoredDocument | undefined;
  readonly body: JsonObject;
  readonly entry: StepNote;
}

/** `conflict`: another writer was first. `exists`: the id, for an insert, or a unique value of the document is taken. */
export type WriteResult =
  | { readonly kind: 'written'; readonly document: StoredDocument }
  | { readonly kind: 'conflict' }
  | Exists;

export type WriteStep = (write: StepWrite) => Promise<WriteResult>;

/** What an insert or a replace of `body` by the store comes to. */
export function toWritten(
  { id, body }: Pick<StepWrite, 'id' | 'body'>,
  result: InsertResult | ReplaceResult,
): WriteResult {
  if (result.kind === 'conflict' || result.kind === 'exists') return result;
  return { kind: 'written', document: { id, revision: result.revision, body } };
}

/** Inserts or replaces the document and drops the entry. */
export const plainWrite: WriteStep = async (write) => {
  const { documents, kind, id, old, body } = write;
  return toWritten(
    write,
    old ? await documents.replace(kind, id, old.revision, body) : await documents.insert(kind, id, body),
  );
};

export function notFound(kind: Kind, id: string): TwinlineError {
  return new TwinlineError('ERR_NOT_FOUND', `There is no ${kind.name} ${JSON.stringify(id)}.`);
}

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
