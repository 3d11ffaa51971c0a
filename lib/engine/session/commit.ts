// Writing a turn: which calls are about to be made, then their outcome with the reply, each in one compare-and-set.

import { TwinlineError } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import type { StoredSession } from '../../store/store.ts';
import type { Conversation, Reply } from '../conversation.ts';
import type { Engine } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { keepChanges } from '../memory/keeping.ts';
import { openReply, sealRecord, sealReply } from './open.ts';
import { encodeRecord, type SessionRecord } from './record.ts';
import { findResumeEnd } from './resume.ts';
import { keepForTasks, nextTaskAt, startTasks } from './tasks.ts';
import { fail, makeView, type Work } from './work.ts';

export interface SessionWriter {
  /** Stores which calls are about to be made, under the turn's key; false when another writer was first. */
  storeIntent(): Promise<boolean>;
  /** Stores the turn with its reply; undefined when another writer was first. */
  storeReply(): Promise<Reply | undefined>;
  /** Stores progress that no caller waits for: turn key and reply stay those of the last turn. */
  storeProgress(): Promise<boolean>;
  /** Stores that the machine has failed of this error where it was stored last. Rethrows what may pass, or is no error of ours. */
  storeFailure(error: unknown): Promise<boolean>;
}

interface LastReply {
  readonly turnKey: string;
  readonly reply: Reply;
  /** The session has ended. */
  readonly ended: boolean;
}

/** Which requests have not got the outcome of what this session is doing. */
type Requests = Pick<Work, 'busy' | 'others' | 'waiting' | 'isOvertaken'>;

/** Milliseconds that a session of this conversation lives without a turn. */
export function sessionTtlMs(engine: Engine, { ttlMs = Infinity }: Conversation): number {
  return Math.min(engine.ttlMs, ttlMs);
}

interface WriterOptions {
  readonly before: StoredSession | undefined;
  readonly turnKey: string | undefined;
  /** What the record calls the request while it has no reply: its key, or one of its own. Nothing for work behind a caller. */
  readonly name?: () => string;
}

/** Writes a turn over `before`, what was stored when it began. */
export function sessionWriter(engine: Engine, work: Work, { before, turnKey, name }: WriterOptions): SessionWriter {
  let revision = before?.revision ?? 0;
  let live = work.live;
  const ttlMs = sessionTtlMs(engine, work.conversation);
  const { isPrivate = false } = work.conversation;
  // The last reply of an ended session is not repeated once another one has begun in its place.
  const last: LastReply = {
    turnKey: before?.ended ? '' : (before?.turnKey ?? ''),
    reply: { kind: 'continue', text: before ? lastReply(engine, work.key, before) : '' },
    ended: false,
  };

  async function write(requests: Requests, { turnKey, reply, ended }: LastReply): Promise<boolean> {
    const isContinued = ended && reply.kind === 'continue';
    const { conversation, memory } = work;
    if (memory) await keepChanges(engine, { conversation, memory, context: work.live.context as JsonObject });
    const expiresAt = ended
      ? engine.clock.now() + ENGINE_LIMITS.endedSessionSeconds * 1000
      : findExpiry(engine, work, ttlMs);
    const result = await engine.store.commit(work.key, revision, {
      record: encodeWork(engine, work, { ended, requests, isContinued }),
      turnKey,
      reply: isPrivate ? sealReply(engine, work.key, reply.text) : reply.text,
      ended,
      expiresAt: work.tasks.length ? keepForTasks(work.tasks, expiresAt) : expiresAt,
      dueAt: ended ? nextTask(work) : nextDue(work),
    });
    if (result.kind === 'conflict') return false;
    if (work.newTasks.length) startTasks(engine, work.key, work.newTasks.splice(0));
    revision = result.revision;
    live = work.live;
    for (const key of work.answered) engine.calls.forget(key);
    engine.noteChange(work.key);
    tell(engine, work);
    return true;
  }

  const storeProgress = async () => {
    const ended = hasEnded(work);
    const isWritten = await write(work, { ...last, ended });
    if (isWritten) publish(engine, work, { revision, ended, reply: undefined });
    return isWritten;
  };

  return {
    storeIntent: () => write(name ? requestsBefore(work, name()) : work, last),
    storeReply: async () => {
      const reply = renderReply(work);
      const ended = reply.kind === 'end';
      if (work.memory) work.resumableUntil = findResumeEnd(engine, work);
      const isWritten = await write(requestsAfter(work, { name, replaced: last.turnKey }), {
        turnKey: turnKey ?? `#${work.turn}`,
        reply,
        ended,
      });
      if (!isWritten) return undefined;
      publish(engine, work, { revision, ended, reply: reply.text });
      return reply;
    },
    storeProgress,
    storeFailure: (error) => {
      if (!(error instanceof TwinlineError) || error.retry) throw error;
      work.live = live;
      work.facts.length = 0;
      work.tasks = work.tasks.filter((task) => !work.newTasks.includes(task));
      work.newTasks.length = 0;
      fail(work, error);
      return storeProgress();
    },
  };
}

// What cannot be read belongs to a session in whose place another one begins: its reply is not asked for again.
function lastReply(engine: Engine, key: string, before: StoredSession): string {
  const reply = openReply(engine, key, before);
  return typeof reply === 'string' ? '' : reply.text;
}

// A request whose calls are about to be made. One that came while those of another went on stands beside that.
function requestsBefore(work: Work, name: string): Requests {
  const { busy, others, waiting, isOverlapping } = work;
  if (name === busy || others.includes(name)) return work;
  if (isOverlapping && busy !== undefined) return { ...work, others: addRequest(others, name) };
  return { busy: name, others, waiting, isOvertaken: false };
}

const REQUESTS_KEPT = 8;

const addRequest = (names: readonly string[], name: string): string[] =>
  [...names.filter((other) => other !== name), name].slice(-REQUESTS_KEPT);

// `busy` is the request that began the pending calls. A reply to it clears `busy`; requests that were told to wait
// meanwhile still have no outcome, so `waiting` stays. A reply to another request keeps `busy`, so that a retry of the
// first one is not taken a second time. Where requests overlap, the record keeps the key of the reply that this one replaces, too.
function requestsAfter(
  work: Work,
  { name, replaced }: { name: (() => string) | undefined; replaced: string },
): Requests {
  const { busy, waiting, isOvertaken } = work;
  const overlaps = work.isOverlapping || work.others.length > 0;
  const others = overlaps && replaced !== '' ? addRequest(work.others, replaced) : work.others;
  if (busy !== undefined && busy !== name?.()) return { busy, others, waiting, isOvertaken: waiting };
  return { busy: undefined, others, waiting: waiting || isOvertaken, isOvertaken: false };
}

function renderReply(work: Work): Reply {
  const view = makeView(work);
  if (work.waiting) return { kind: 'continue', text: work.conversation.waitText(view) };
  const { render, failText } = work.conversation;
  if (work.live.status === 'error') return { kind: 'end', text: failText ? failText(view) : render(view).text };
  const screen = render(view);
  const reply = work.refusal === undefined ? screen : { ...screen, text: `${work.refusal}\n${screen.text}` };
  return work.live.status === 'done' ? { ...reply, kind: 'end' } : reply;
}

// Who was told to wait is shown the end before the session ends.
function hasEnded({ live, waiting, conversation }: Work): boolean {
  return live.status !== 'active' && !(waiting && !conversation.takesWhileCalling);
}

// What the machine reported is stored by now, so nobody is told of it again when the turn has to begin anew.
function tell({ onFact, onProblem }: Engine, { key, facts, problems }: Work): void {
  try {
    if (onFact) for (const fact of facts) onFact(fact);
  } catch (error) {
    onProblem?.({ key, reason: 'background', error });
  }
  // In a task of its own: a listener that throws must not change the turn.
  if (onProblem)
    for (const problem of problems) queueMicrotask(() => onProblem({ key, reason: 'machine', ...problem }));
  facts.length = 0;
  problems.length = 0;
}

// Whoever waits for an answer from outside is not silent meanwhile.
function findExpiry({ clock }: Engine, { calls, resumableUntil = 0 }: Work, ttlMs: number): number {
  const silentAt = calls.reduce((at, { call }) => (call.later ? Math.max(at, call.until) : at), clock.now());
  return Math.max(silentAt + ttlMs, resumableUntil);
}

const nextTask = ({ tasks }: Work): number | null => (tasks.length ? nextTaskAt(tasks) : null);

function nextDue(work: Work): number | null {
  const { timers, calls, tasks } = work;
  if (!timers.length && !calls.length) return nextTask(work);
  return Math.min(
    ...timers.map((timer) => timer.at),
    ...calls.map(({ call }) => call.until),
    ...tasks.map(({ until }) => until),
  );
}

// An ended session is kept only for retries: its variables are dropped.
function encodeWork(
  engine: Engine,
  work: Work,
  { ended, requests, isContinued }: { ended: boolean; requests: Requests; isContinued: boolean },
): string {
  const { conversation, turn, startedAt, door, timers, calls } = work;
  const { id, version, hash, machine } = conversation;
  const { state, history, nodes, status, output, error } = machine.rest(work.live);
  // Written out, field by field: an object that is made by a spread costs a turn 10 µs more.
  const record: SessionRecord = {
    conversation: id,
    version,
    hash,
    turn,
    startedAt,
    door,
    timers,
    rest: { state, context: ended ? {} : redactedContext(engine, work), history, nodes, status, output, error },
    calls: calls.map(({ call }) => call),
    tasks: work.tasks,
    busy: requests.busy,
    others: requests.others,
    waiting: requests.waiting,
    isOvertaken: requests.isOvertaken,
    isContinued,
    completed: work.completed,
    resumableUntil: ended ? undefined : work.resumableUntil,
  };
  return encodeRecord(
    work.key,
    conversation.isPrivate ? sealRecord(engine, work.key, record) : record,
    engine.seals[0],
  );
}

function redactedContext(engine: Engine, { key, conversation, live }: Work): JsonObject {
  return conversation.redact(live.context, (secret) => engine.prove(key, secret));
}

// The reply as those who watch may see it.
function showReply(work: Work, reply: string): string {
  const { conversation } = work;
  return conversation.shown?.reply?.(makeView(work)) ?? reply;
}

interface Committed {
  readonly revision: number;
  readonly ended: boolean;
  /** What the caller reads; undefined when the turn answers no request. */
  readonly reply: string | undefined;
}

// The turn is stored by now, so an observer that throws cannot make it fail.
function publish(engine: Engine, work: Work, { revision, ended, reply }: Committed): void {
  const { key, turn, startedAt, door, waiting, events, trace, conversation } = work;
  const { id, version, machine } = conversation;
  try {
    if (!engine.onTurn && !trace) return;
    const context = redactedContext(engine, work);
    const rest = { ...machine.rest(work.live), context: conversation.shown?.context?.(context) ?? context };
    engine.onTurn?.({ key, conversation: id, version, turn, events, rest, revision, ended });
    if (!trace) return;
    const { transitions, typed, answers } = trace;
    const shown = { startedAt, door, reply: reply && showReply(work, reply), waiting, typed, answers };
    const at = engine.clock.now();
    engine.inspector?.emit({
      kind: 'turn',
      machine: id,
      version,
      key,
      revision,
      at,
      rest,
      ended,
      transitions,
      turn: shown,
    });
  } catch (error) {
    engine.onProblem?.({ key, reason: 'background', error });
  }
}
