// Writing a turn: the intent before its calls, the outcome after them, each in one compare-and-set.

import type { CommitResult, StoredSession } from '../../store/store.ts';
import type { Reply } from '../conversation.ts';
import type { Engine } from '../engine.ts';
import type { InspectionEvent } from '../inspection.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { AtRest } from '../machine/transition.ts';
import { encodeRecord, type SessionRecord } from './record.ts';
import { viewOf, type Work } from './work.ts';

export interface SessionWriter {
  /** Stores which calls are about to be made, under the turn's key; false when another writer was first. */
  intend(): Promise<boolean>;
  /** Stores the turn with its reply; undefined when another writer was first. */
  commit(): Promise<Reply | undefined>;
  /** Stores progress that no caller waits for: turn key and reply stay those of the last turn. */
  commitQuietly(): Promise<boolean>;
}

export interface WriterOptions {
  /** What was stored when the turn began. */
  readonly before: StoredSession | undefined;
  readonly turnKey: string | undefined;
}

export function sessionWriter(engine: Engine, work: Work, { before, turnKey }: WriterOptions): SessionWriter {
  let expected = before?.revision ?? 0;
  const ttlMs = Math.min(engine.ttlMs, work.conversation.ttlMs ?? Infinity);
  // What an ended session answered last is not repeated once another one has begun in its place.
  const last = {
    turnKey: before?.ended ? '' : (before?.turnKey ?? ''),
    reply: { kind: 'continue', text: before?.reply ?? '' } as const,
  };

  const write = ({ turnKey, reply, owed }: { turnKey: string; reply: Reply; owed: Owed }): Promise<CommitResult> => {
    const ended = reply.kind === 'end';
    return engine.store.commit(work.key, expected, {
      record: encode(engine, work, { ended, owed }),
      turnKey,
      reply: reply.text,
      ended,
      expiresAt: engine.clock.now() + (ended ? ENGINE_LIMITS.endedSessionSeconds * 1000 : ttlMs),
      dueAt: ended ? null : earliest(work),
    });
  };

  const isWritten = (result: CommitResult): boolean => {
    if (result.kind === 'conflict') return false;
    expected = result.revision;
    for (const key of work.answered) engine.calls.forget(key);
    return true;
  };

  return {
    intend: async () => {
      const isNew = turnKey !== undefined && turnKey !== work.busy;
      const owed = isNew ? { ...owedBy(work), busy: turnKey, isOvertaken: false } : owedBy(work);
      return isWritten(await write({ ...last, owed }));
    },
    commit: async () => {
      const reply = replyOf(work);
      const owed = owedAfter(work, turnKey);
      if (!isWritten(await write({ turnKey: turnKey ?? `#${work.turn}`, reply, owed }))) return undefined;
      publish(engine, work, { revision: expected, ended: reply.kind === 'end', reply: reply.text });
      return reply;
    },
    commitQuietly: async () => {
      const written = isWritten(await write({ ...last, owed: owedBy(work) }));
      if (written) publish(engine, work, { revision: expected, ended: false, reply: undefined });
      return written;
    },
  };
}

/** Which requests still wait for what this session is doing. */
interface Owed {
  readonly busy: string | undefined;
  readonly waiting: boolean;
  readonly isOvertaken: boolean;
}

const owedBy = ({ busy, waiting, isOvertaken }: Work): Owed => ({ busy, waiting, isOvertaken });

// `busy` is the request that began the pending calls. An answer to it clears `busy`; requests that were told to wait
// meanwhile still have no outcome, so `waiting` stays. An answer to another request keeps `busy`, so that a retry of the
// first one is not taken a second time.
function owedAfter(work: Work, turnKey: string | undefined): Owed {
  const { busy, waiting, isOvertaken } = work;
  return busy === undefined || busy === turnKey
    ? { busy: undefined, waiting: waiting || isOvertaken, isOvertaken: false }
    : { busy, waiting, isOvertaken: waiting };
}

function replyOf(work: Work): Reply {
  const view = viewOf(work);
  if (work.waiting) return { kind: 'continue', text: work.conversation.waitText(view) };
  const reply = work.conversation.render(view);
  return work.live.status === 'done' ? { ...reply, kind: 'end' } : reply;
}

function earliest(work: Work): number | null {
  if (!work.timers.length && !work.calls.length) return null;
  return Math.min(...work.timers.map((timer) => timer.at), ...work.calls.map(({ call }) => call.until));
}

// An ended session is kept only for retries: its variables are gone.
function encode(engine: Engine, work: Work, { ended, owed }: { ended: boolean; owed: Owed }): string {
  const { conversation } = work;
  const { state, history } = conversation.machine.rest(work.live);
  const record: SessionRecord = {
    conversation: conversation.id,
    version: conversation.version,
    hash: conversation.hash,
    rest: { state, context: ended ? {} : shelved(engine, work), history },
    turn: work.turn,
    startedAt: work.startedAt,
    door: work.door,
    timers: work.timers,
    calls: work.calls.map(({ call }) => call),
    busy: owed.busy,
    waiting: owed.waiting,
    isOvertaken: owed.isOvertaken,
    steps: work.calls.length ? work.hops : undefined,
  };
  return encodeRecord(work.key, record, engine.seals[0]);
}

function shelved(engine: Engine, work: Work) {
  return work.conversation.shelve(work.live.context, (secret) => engine.prove(work.key, secret));
}

interface Committed {
  readonly revision: number;
  readonly ended: boolean;
  /** What the caller reads; undefined when the turn answers no request. */
  readonly reply: string | undefined;
}

// The turn is stored by now, so an observer that throws cannot make it fail.
function publish(engine: Engine, work: Work, committed: Committed): void {
  try {
    report(engine, work, committed);
    if (work.trace) engine.watch?.emit(inspectionEvent(engine, work, committed));
  } catch (error) {
    engine.onProblem?.({ key: work.key, reason: 'background', error });
  }
}

function report(engine: Engine, work: Work, { revision, ended }: Committed): void {
  if (engine.onFact) for (const fact of work.facts) engine.onFact(fact);
  if (!engine.onTurn) return;
  const { key, turn, events, conversation } = work;
  const { id, version } = conversation;
  engine.onTurn({ key, conversation: id, version, turn, events, rest: shownRest(engine, work), revision, ended });
}

function inspectionEvent(engine: Engine, work: Work, { revision, ended, reply }: Committed): InspectionEvent {
  const { key, conversation, startedAt, door, waiting } = work;
  const { transitions, typed, answers } = work.trace!;
  return {
    kind: 'turn',
    machine: conversation.id,
    version: conversation.version,
    key,
    revision,
    at: engine.clock.now(),
    rest: shownRest(engine, work),
    ended,
    transitions,
    turn: { startedAt, door, reply, waiting, typed, answers },
  };
}

function shownRest(engine: Engine, work: Work): AtRest {
  return { ...work.conversation.machine.rest(work.live), context: shelved(engine, work) };
}
