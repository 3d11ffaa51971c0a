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
import { notFound } from './write.ts';

export function lifecycleRunner({
  documents,
  kind,
  expected,
  clock,
  calls,
  write,
  fields,
  inspector,
  onStep,
  onProblem,
}: RunOptions) {
  const { machine } = expected;
  const open = (document: StoredDocument): LifecycleDocument => ({ document, record: readRecord(document, expected) });
  const now = ({ record }: LifecycleDocument) => Math.max(record.at, clock.now());
  const options = (id: string, at: number): RecordStepOptions => ({ machine, id, at, leaseUntil: calls.leaseUntil });

  const makeBody = (kept: JsonObject, record: LifecycleRecord): JsonObject => ({
    ...kept,
    ...fields?.(
      record.rest,
      record.calls.map(({ id }) => id),
    ),
    machine: toStored(expected, record),
    dueAt: dueAt(record),
  });

  /** Shows a stored step to those who watch. */
  function show(
    { document, record }: LifecycleDocument,
    from: LifecycleRecord | undefined,
    event: string | undefined,
  ): void {
    if (event === undefined) return;
    onStep?.({ event, from: from?.rest.state, to: record.rest.state });
    if (!inspector?.isWatched()) return;
    inspector.emit({
      kind: 'step',
      machine: machine.id,
      version: expected.version,
      key: `${kind.name}/${document.id}`,
      revision: document.revision,
      at: record.at,
      rest: record.rest,
      ended: record.rest.status !== undefined,
      transitions: [{ event, from: from?.rest.state ?? null, to: record.rest.state }],
    });
  }

  async function insert(
    id: string,
    kept: JsonObject,
    { input, ...noted }: Omit<Noted, 'at'> & { input: JsonObject },
  ): Promise<Settled | Exists> {
    const at = clock.now();
    const { record, facts, event } = firstStep(input, options(id, at));
    const entry = { ...noted, at, facts };
    const written = await write({ documents, kind, id, old: undefined, body: makeBody(kept, record), entry });
    // An insert expects no revision: nothing is in conflict with it.
    if (written.kind !== 'written') return { ...written, kind: 'exists' };
    const settled = { document: written.document, record, mine: record.calls };
    show(settled, undefined, event);
    return settled;
  }

  /** Undefined when another writer was first. Throws ERR_EXISTS when a unique value of the document is taken. */
  async function replace(
    { document, record: before }: LifecycleDocument,
    { record, facts, event, problem }: Stepped,
    note: Noted,
  ): Promise<Settled | undefined> {
    const body = makeBody(document.body, record);
    const written = await write({ documents, kind, id: document.id, old: document, body, entry: { ...note, facts } });
    if (written.kind === 'exists') throw takenError(kind.name, document.id, written.index);
    if (written.kind === 'conflict') return undefined;
    show({ document: written.document, record }, before, event);
    if (problem) onProblem?.({ id: document.id, ...problem });
    const known = new Set(before.calls.map(({ key, tries }) => `${key} ${tries}`));
    const mine = record.calls.filter(({ key, tries }) => !known.has(`${key} ${tries}`));
    return { document: written.document, record, mine };
  }

  // What comes by itself and cannot be stored cannot be stored when it comes again: then the machine has failed where it was before.
  async function replaceOwn(opened: LifecycleDocument, step: Stepped, { noted, ...own }: OwnEvent & { noted: Noted }) {
    try {
      return await replace(opened, step, noted);
    } catch (error) {
      if (!(error instanceof TwinlineError) || error.retry || opened.record.rest.status) throw error;
      return replace(opened, failedStep(opened.record, { ...own, error }, noted.at), noted);
    }
  }

  function fire(opened: LifecycleDocument, timer: Timer) {
    const { record, document } = opened;
    const { event } = timer;
    const left = { ...record, timers: removeTimer(record.timers, timer) };
    const at = Math.max(record.at, timer.at);
    const step = ownStep(left, { event, hops: timer.hops }, options(document.id, at)) ?? silent(left);
    return replaceOwn(opened, step, { event, noted: { at, by: 'system', action: 'deadline' } });
  }

  // The machine goes on as one that waits for this answer; it may not need it any more.
  function closeCall(id: string, { record, call, event }: ClosingCall, at: number): Stepped & { own: OwnEvent } {
    const own = { event, call: call.id };
    const { record: next, ...told } = ownStep(record, own, options(id, at)) ?? silent(record);
    return { ...told, record: { ...next, calls: next.calls.filter((other) => other.key !== call.key) }, own };
  }

  // Nobody has brought its answer in time.
  function expire(opened: LifecycleDocument, call: LifecycleCall) {
    const { record, document } = opened;
    const at = Math.max(record.at, call.at);
    const event = answerEvent(call.id, lateAnswer(call.service));
    const step = closeCall(document.id, { record, call, event }, at);
    return replaceOwn(opened, step, { ...step.own, noted: { at, by: 'system', action: `${call.id} failed` } });
  }

  function claim(opened: LifecycleDocument, call: LifecycleCall) {
    return replace(opened, silent(withCall(opened.record, calls.claim(call))), {
      at: now(opened),
      by: 'system',
      action: `${call.id} again`,
    });
  }

  /** Fires the timers that are due and claims the calls that are, each in a write of its own, the earliest first. */
  async function settle(id: string): Promise<Settled> {
    const mine: LifecycleCall[] = [];
    for (let conflicts = 0; ; ) {
      const document = await documents.get(kind, id);
      if (!document) throw notFound(kind, id);
      const opened = open(document);
      const next = nextDue(opened.record, now(opened));
      if (!next) return { ...opened, mine };
      const done =
        'event' in next
          ? await fire(opened, next)
          : next.later
            ? await expire(opened, next)
            : await claim(opened, next);
      if (!done && ++conflicts >= COMMON_LIMITS.conflictsPerTurn) throw tooMany(machine.id, id);
      mine.push(...(done?.mine ?? []));
    }
  }

  /** One write on what has settled, decided anew as long as other writers are first; undefined: there is none to make. */
  async function advance(
    id: string,
    decide: (opened: Settled, at: number) => (Stepped & { noted: Omit<Noted, 'at'>; own?: OwnEvent }) | undefined,
  ): Promise<Settled> {
    const mine: LifecycleCall[] = [];
    const owing = (opened: LifecycleDocument): Settled => {
      const pending = new Set(opened.record.calls.map(({ key }) => key));
      return { ...opened, mine: mine.filter(({ key }) => pending.has(key)) };
    };
    // Not `update` of the store: what is due is settled before each try, in writes of its own.
    for (let conflicts = 0; conflicts < COMMON_LIMITS.conflictsPerTurn; conflicts++) {
      const settled = await settle(id);
      mine.push(...settled.mine);
      const at = now(settled);
      const step = decide(settled, at);
      if (!step) return owing(settled);
      const note = { ...step.noted, at };
      const stored = await (step.own
        ? replaceOwn(settled, step, { ...step.own, noted: note })
        : replace(settled, step, note));
      mine.push(...(stored?.mine ?? []));
      if (stored) return owing(stored);
    }
    throw tooMany(machine.id, id);
  }

  return {
    open,
    insert,
    settle,
    isDue: (opened: LifecycleDocument) => nextDue(opened.record, now(opened)) !== undefined,
    /** Gives the machine an event; `undefined` from `decide`: nothing is to be done. */
    take: (
      id: string,
      decide: (
        opened: LifecycleDocument,
        at: number,
      ) => { event: EventObject; key?: string; noted: Omit<Noted, 'at'> } | undefined,
    ) =>
      advance(id, (opened, at) => {
        const asked = decide(opened, at);
        const step = asked && nextStep(opened.record, asked.event, options(id, at));
        if (!asked) return undefined;
        if (!step) throw untakenError(machine.id, asked.event.type, opened.record);
        const commands = asked.key === undefined ? step.record.commands : [...step.record.commands, asked.key];
        return { ...step, record: { ...step.record, commands }, noted: asked.noted };
      }),
    /** Gives the machine the answer to one of its calls, once; or notes when to try again. */
    answer: (id: string, { key, tries }: LifecycleCall, answer: CallOutcome) =>
      advance(id, ({ record }, at) => {
        const call = record.calls.find((other) => other.key === key);
        // Somebody else has made a later try of it: a failure of this one says nothing.
        if (!call || (!answer.ok && call.tries !== tries)) return undefined;
        const outcome = calls.outcome(call, answer);
        const note = { by: 'system', action: `${call.id} ${answer.ok ? 'answered' : 'failed'}` };
        if ('again' in outcome) return { ...silent(withCall(record, outcome.again)), noted: note };
        return { ...closeCall(id, { record, call, event: outcome.event }, at), noted: note };
      }),
    /** Gives the machine the answer that somebody brought from outside for the call of this key, once. */
    complete: async (
      id: string,
      key: string,
      answer: ServiceAnswer,
    ): Promise<{ settled: Settled; fate: Completion }> => {
      let fate: Completion = 'not-waiting';
      const settled = await advance(id, ({ record }, at) => {
        const { calls: pending, completed = [] } = record;
        const call = pending.find((other) => other.key === key);
        fate = call ? 'completed' : completed.includes(key) ? 'already-completed' : 'not-waiting';
        if (!call) return undefined;
        const kept = [...completed, key].slice(-ENGINE_LIMITS.completionsKept);
        const closing = { record: { ...record, completed: kept }, call, event: answerEvent(call.id, answer) };
        return { ...closeCall(id, closing, at), noted: { by: 'system', action: `${call.id} completed` } };
      });
      return { settled, fate };
    },
    /** Leaves a document alone that cannot be read, so that it does not stand first among the due ones for ever. */
    putOff: async (document: StoredDocument) => {
      const at = clock.now();
      const body = { ...document.body, dueAt: at + ENGINE_LIMITS.lifecyclePutOffMs };
      const entry = { at, by: 'system', action: 'put off', facts: [] };
      await write({ documents, kind, id: document.id, old: document, body, entry });
    },
  };
}
