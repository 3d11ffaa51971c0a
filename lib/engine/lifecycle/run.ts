// The single writes of a machine in a document: a deadline fires, a call is claimed, an answer is given, a command taken.

import type { EventObject } from 'xstate';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import type { Exists, StoredDocument } from '../../store/store.ts';
import { takenError } from '../../store/update.ts';
import type { CallOutcome } from '../calls.ts';
import { type Completion, lateAnswer } from '../later.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { answerEvent, type ServiceAnswer } from '../machine/step.ts';
import { removeTimer, type Timer } from '../machine/timers.ts';
import {
  type ClosingCall,
  type LifecycleDocument,
  type Noted,
  nextDue,
  notFound,
  type RunOptions,
  type Settled,
  silent,
  tooMany,
  untakenError,
  withCall,
} from './changes.ts';
import {
  dueAt,
  failedStep,
  firstStep,
  type LifecycleCall,
  type LifecycleRecord,
  nextStep,
  type OwnEvent,
  ownStep,
  type RecordStepOptions,
  readRecord,
  type Stepped,
  toStored,
} from './record.ts';

type Decide<T> = (current: LifecycleDocument, at: number) => T | undefined;

/** A step to be written, and what it is to be noted as. `own`: it came by itself. */
type DecidedStep = Stepped & { readonly noted: Omit<Noted, 'at'>; readonly own?: OwnEvent };

interface TakenCommand {
  readonly event: EventObject;
  readonly key?: string;
  readonly noted: Omit<Noted, 'at'>;
}

/** Reads and writes the documents of one lifecycle. */
export class LifecycleRunner {
  readonly #options: RunOptions;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  open(document: StoredDocument): LifecycleDocument {
    return { document, record: readRecord(document, this.#options.expected) };
  }

  isDue(current: LifecycleDocument): boolean {
    return nextDue(current.record, this.#now(current)) !== undefined;
  }

  async insert(
    id: string,
    fields: JsonObject,
    { input, ...noted }: Omit<Noted, 'at'> & { input: JsonObject },
  ): Promise<Settled | Exists> {
    const { documents, kind, clock, write } = this.#options;
    const at = clock.now();
    const { record, facts, event } = firstStep(input, this.#stepOptions(id, at));
    const entry = { ...noted, at, facts };
    const result = await write({ documents, kind, id, old: undefined, body: this.#makeBody(fields, record), entry });
    // An insert expects no revision: nothing is in conflict with it.
    if (result.kind !== 'written') return { ...result, kind: 'exists' };
    const next = { document: result.document, record, mine: record.calls };
    this.#show(next, undefined, event);
    return next;
  }

  /** Fires the timers that are due and claims the calls that are, each in a write of its own, the earliest first. */
  async settle(id: string): Promise<Settled> {
    const { documents, kind, expected } = this.#options;
    const mine: LifecycleCall[] = [];
    for (let conflicts = 0; ; ) {
      const document = await documents.get(kind, id);
      if (!document) throw notFound(kind, id);
      const current = this.open(document);
      const due = nextDue(current.record, this.#now(current));
      if (!due) return { ...current, mine };
      const next = await this.#takeDue(current, due);
      if (!next && ++conflicts >= COMMON_LIMITS.conflictsPerTurn) throw tooMany(expected.machine.id, id);
      mine.push(...(next?.mine ?? []));
    }
  }

  /** Gives the machine an event; `undefined` from `decide`: nothing is to be done. */
  take(id: string, decide: Decide<TakenCommand>): Promise<Settled> {
    const { machine } = this.#options.expected;
    return this.#advance(id, (current, at) => {
      const command = decide(current, at);
      if (!command) return undefined;
      const { event, key, noted } = command;
      const step = nextStep(current.record, event, this.#stepOptions(id, at));
      if (!step) throw untakenError(machine.id, event.type, current.record);
      const commands = key === undefined ? step.record.commands : [...step.record.commands, key];
      return { ...step, record: { ...step.record, commands }, noted };
    });
  }

  /** Gives the machine the answer to one of its calls, once; or notes when to try again. */
  answer(id: string, { key, tries }: LifecycleCall, answer: CallOutcome): Promise<Settled> {
    return this.#advance(id, ({ record }, at) => {
      const call = record.calls.find((other) => other.key === key);
      // Somebody else has made a later try of it: a failure of this one says nothing.
      if (!call || (!answer.ok && call.tries !== tries)) return undefined;
      const outcome = this.#options.calls.outcome(call, answer);
      const noted = { by: 'system', action: `${call.id} ${answer.ok ? 'answered' : 'failed'}` };
      if ('again' in outcome) return { ...silent(withCall(record, outcome.again)), noted };
      return { ...this.#closeCall(id, { record, call, event: outcome.event }, at), noted };
    });
  }

  /** Gives the machine the answer that somebody brought from outside for the call of this key, once. */
  async complete(id: string, key: string, answer: ServiceAnswer): Promise<{ next: Settled; fate: Completion }> {
    let fate: Completion = 'not-waiting';
    const next = await this.#advance(id, ({ record }, at) => {
      const { calls: pending, completed = [] } = record;
      const call = pending.find((other) => other.key === key);
      fate = call ? 'completed' : completed.includes(key) ? 'already-completed' : 'not-waiting';
      if (!call) return undefined;
      const keys = [...completed, key].slice(-ENGINE_LIMITS.completionsKept);
      const closing = { record: { ...record, completed: keys }, call, event: answerEvent(call.id, answer) };
      return { ...this.#closeCall(id, closing, at), noted: { by: 'system', action: `${call.id} completed` } };
    });
    return { next, fate };
  }

  /** Leaves a document alone that cannot be read, so that it does not stand first among the due ones for ever. */
  async putOff(document: StoredDocument): Promise<void> {
    const { documents, kind, clock, write } = this.#options;
    const at = clock.now();
    const body = { ...document.body, dueAt: at + ENGINE_LIMITS.lifecyclePutOffMs };
    const entry = { at, by: 'system', action: 'put off', facts: [] };
    await write({ documents, kind, id: document.id, old: document, body, entry });
  }

  #now({ record }: LifecycleDocument): number {
    return Math.max(record.at, this.#options.clock.now());
  }

  #stepOptions(id: string, at: number): RecordStepOptions {
    const { expected, calls } = this.#options;
    return { machine: expected.machine, id, at, leaseUntil: calls.leaseUntil };
  }

  #makeBody(others: JsonObject, record: LifecycleRecord): JsonObject {
    const { fields, expected } = this.#options;
    return {
      ...others,
      ...fields?.(
        record.rest,
        record.calls.map(({ id }) => id),
      ),
      machine: toStored(expected, record),
      dueAt: dueAt(record),
    };
  }

  /** Shows a stored step to those who watch. */
  #show({ document, record }: LifecycleDocument, from: LifecycleRecord | undefined, event: string | undefined): void {
    if (event === undefined) return;
    const { onStep, inspector, kind, expected } = this.#options;
    onStep?.({ event, from: from?.rest.state, to: record.rest.state });
    if (!inspector?.isWatched()) return;
    inspector.emit({
      kind: 'step',
      machine: expected.machine.id,
      version: expected.version,
      key: `${kind.name}/${document.id}`,
      revision: document.revision,
      at: record.at,
      rest: record.rest,
      ended: record.rest.status !== undefined,
      transitions: [{ event, from: from?.rest.state ?? null, to: record.rest.state }],
    });
  }

  /** Undefined when another writer was first. Throws ERR_EXISTS when a unique value of the document is taken. */
  async #replace(
    { document: old, record: before }: LifecycleDocument,
    { record, facts, event, problem }: Stepped,
    note: Noted,
  ): Promise<Settled | undefined> {
    const { documents, kind, write, onProblem } = this.#options;
    const { id } = old;
    const body = this.#makeBody(old.body, record);
    const result = await write({ documents, kind, id, old, body, entry: { ...note, facts } });
    if (result.kind === 'exists') throw takenError(kind.name, id, result.index);
    if (result.kind === 'conflict') return undefined;
    const { document } = result;
    this.#show({ document, record }, before, event);
    if (problem) onProblem?.({ id, ...problem });
    const tries = new Set(before.calls.map((call) => `${call.key} ${call.tries}`));
    const mine = record.calls.filter((call) => !tries.has(`${call.key} ${call.tries}`));
    return { document, record, mine };
  }

  // What comes by itself and cannot be stored cannot be stored when it comes again: then the machine has failed where it was before.
  async #replaceOwn(current: LifecycleDocument, step: Stepped, { noted, ...own }: OwnEvent & { noted: Noted }) {
    try {
      return await this.#replace(current, step, noted);
    } catch (error) {
      if (!(error instanceof TwinlineError) || error.retry || current.record.rest.status) throw error;
      return this.#replace(current, failedStep(current.record, { ...own, error }, noted.at), noted);
    }
  }

  #takeDue(current: LifecycleDocument, due: Timer | LifecycleCall): Promise<Settled | undefined> {
    if ('event' in due) return this.#fire(current, due);
    return due.later ? this.#expire(current, due) : this.#claim(current, due);
  }

  #fire(current: LifecycleDocument, timer: Timer) {
    const { record, document } = current;
    const { event } = timer;
    const rest = { ...record, timers: removeTimer(record.timers, timer) };
    const at = Math.max(record.at, timer.at);
    const step = ownStep(rest, { event, hops: timer.hops }, this.#stepOptions(document.id, at)) ?? silent(rest);
    return this.#replaceOwn(current, step, { event, noted: { at, by: 'system', action: 'deadline' } });
  }

  // The machine goes on as one that waits for this answer; it may not need it any more.
  #closeCall(id: string, { record, call, event }: ClosingCall, at: number): Stepped & { own: OwnEvent } {
    const own = { event, call: call.id };
    const { record: next, ...others } = ownStep(record, own, this.#stepOptions(id, at)) ?? silent(record);
    return { ...others, record: { ...next, calls: next.calls.filter((other) => other.key !== call.key) }, own };
  }

  // Nobody has brought its answer in time.
  #expire(current: LifecycleDocument, call: LifecycleCall) {
    const { record, document } = current;
    const at = Math.max(record.at, call.at);
    const event = answerEvent(call.id, lateAnswer(call.service));
    const step = this.#closeCall(document.id, { record, call, event }, at);
    return this.#replaceOwn(current, step, { ...step.own, noted: { at, by: 'system', action: `${call.id} failed` } });
  }

  #claim(current: LifecycleDocument, call: LifecycleCall) {
    const record = withCall(current.record, this.#options.calls.claim(call));
    return this.#replace(current, silent(record), { at: this.#now(current), by: 'system', action: `${call.id} again` });
  }

  /** One write on what has settled, decided anew as long as other writers are first; undefined: there is none to make. */
  async #advance(id: string, decide: Decide<DecidedStep>): Promise<Settled> {
    const mine: LifecycleCall[] = [];
    const withCalls = (current: LifecycleDocument): Settled => {
      const pending = new Set(current.record.calls.map(({ key }) => key));
      return { ...current, mine: mine.filter(({ key }) => pending.has(key)) };
    };
    // Not `update` of the store: what is due is settled before each try, in writes of its own.
    for (let conflicts = 0; conflicts < COMMON_LIMITS.conflictsPerTurn; conflicts++) {
      const current = await this.settle(id);
      mine.push(...current.mine);
      const at = this.#now(current);
      const step = decide(current, at);
      if (!step) return withCalls(current);
      const noted = { ...step.noted, at };
      const next = await (step.own
        ? this.#replaceOwn(current, step, { ...step.own, noted })
        : this.#replace(current, step, noted));
      mine.push(...(next?.mine ?? []));
      if (next) return withCalls(next);
    }
    throw tooMany(this.#options.expected.machine.id, id);
  }
}
