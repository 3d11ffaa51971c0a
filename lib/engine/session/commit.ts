// Writing a turn: which calls are about to be made, then their outcome with the reply, each in one compare-and-set.

import type { JsonObject } from '../../json/json.ts';
import type { StoredSession } from '../../store/store.ts';
import type { Conversation, Reply } from '../conversation.ts';
import type { Engine } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { openReply, sealRecord, sealReply } from './open.ts';
import { encodeRecord, type SessionRecord } from './record.ts';
import { makeView, type Work } from './work.ts';

export interface SessionWriter {
  /** Stores which calls are about to be made, under the turn's key; false when another writer was first. */
  storeIntent(): Promise<boolean>;
  /** Stores the turn with its reply; undefined when another writer was first. */
  storeReply(): Promise<Reply | undefined>;
  /** Stores progress that no caller waits for: turn key and reply stay those of the last turn. */
  storeProgress(): Promise<boolean>;
}

/** Which requests have not got the outcome of what this session is doing. */
type Requests = Pick<Work, 'busy' | 'waiting' | 'isOvertaken'>;

/** Milliseconds that a session of this conversation lives without a turn. */
export function sessionTtlMs(engine: Engine, { ttlMs = Infinity }: Conversation): number {
  return Math.min(engine.ttlMs, ttlMs);
}

/** Writes a turn over `before`, what was stored when it began. */
export function sessionWriter(
  engine: Engine,
  work: Work,
  { before, turnKey }: { before: StoredSession | undefined; turnKey: string | undefined },
): SessionWriter {
  let expected = before?.revision ?? 0;
  const ttlMs = sessionTtlMs(engine, work.conversation);
  const { isPrivate = false } = work.conversation;
  // The last reply of an ended session is not repeated once another one has begun in its place.
  const last = {
    turnKey: before?.ended ? '' : (before?.turnKey ?? ''),
    reply: { kind: 'continue', text: before ? lastReply(engine, work.key, before) : '' } as const,
  };

  async function write(requests: Requests, { turnKey, reply }: { turnKey: string; reply: Reply }): Promise<boolean> {
    const ended = reply.kind === 'end';
    const result = await engine.store.commit(work.key, expected, {
      record: encodeWork(engine, work, { ended, requests }),
      turnKey,
      reply: isPrivate ? sealReply(engine, work.key, reply.text) : reply.text,
      ended,
      expiresAt: engine.clock.now() + (ended ? ENGINE_LIMITS.endedSessionSeconds * 1000 : ttlMs),
      dueAt: ended ? null : nextDue(work),
    });
    if (result.kind === 'conflict') return false;
    expected = result.revision;
    for (const key of work.answered) engine.calls.forget(key);
    return true;
  }

  return {
    storeIntent: () => {
      const isNew = turnKey !== undefined && turnKey !== work.busy;
      return write(isNew ? { busy: turnKey, waiting: work.waiting, isOvertaken: false } : work, last);
    },
    storeReply: async () => {
      const reply = renderReply(work);
      const isWritten = await write(requestsAfter(work, turnKey), { turnKey: turnKey ?? `#${work.turn}`, reply });
      if (!isWritten) return undefined;
      publish(engine, work, { revision: expected, ended: reply.kind === 'end', reply: reply.text });
      return reply;
    },
    storeProgress: async () => {
      const isWritten = await write(work, last);
      if (isWritten) publish(engine, work, { revision: expected, ended: false, reply: undefined });
      return isWritten;
    },
  };
}

// What cannot be read belongs to a session in whose place another one begins: its reply is not asked for again.
function lastReply(engine: Engine, key: string, before: StoredSession): string {
  const opened = openReply(engine, key, before);
  return typeof opened === 'string' ? '' : opened.text;
}

// `busy` is the request that began the pending calls. A reply to it clears `busy`; requests that were told to wait
// meanwhile still have no outcome, so `waiting` stays. A reply to another request keeps `busy`, so that a retry of the
// first one is not taken a second time.
function requestsAfter({ busy, waiting, isOvertaken }: Work, turnKey: string | undefined): Requests {
  return busy === undefined || busy === turnKey
    ? { busy: undefined, waiting: waiting || isOvertaken, isOvertaken: false }
    : { busy, waiting, isOvertaken: waiting };
}

function renderReply(work: Work): Reply {
  const view = makeView(work);
  if (work.waiting) return { kind: 'continue', text: work.conversation.waitText(view) };
  const screen = work.conversation.render(view);
  const reply = work.refusal === undefined ? screen : { ...screen, text: `${work.refusal}\n${screen.text}` };
  return work.live.status === 'done' ? { ...reply, kind: 'end' } : reply;
}

function nextDue(work: Work): number | null {
  if (!work.timers.length && !work.calls.length) return null;
  return Math.min(...work.timers.map((timer) => timer.at), ...work.calls.map(({ call }) => call.until));
}

// An ended session is kept only for retries: its variables are dropped.
function encodeWork(engine: Engine, work: Work, { ended, requests }: { ended: boolean; requests: Requests }): string {
  const { conversation, turn, startedAt, door, timers, calls, hops } = work;
  const { id, version, hash, machine } = conversation;
  const { state, history } = machine.rest(work.live);
  // Written out, field by field: an object that is made by a spread costs a turn 10 µs more.
  const record: SessionRecord = {
    conversation: id,
    version,
    hash,
    turn,
    startedAt,
    door,
    timers,
    rest: { state, context: ended ? {} : redactedContext(engine, work), history },
    calls: calls.map(({ call }) => call),
    busy: requests.busy,
    waiting: requests.waiting,
    isOvertaken: requests.isOvertaken,
    steps: calls.length ? hops : undefined,
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
  const { key, turn, startedAt, door, waiting, events, facts, trace, conversation } = work;
  const { id, version, machine } = conversation;
  try {
    if (engine.onFact) for (const fact of facts) engine.onFact(fact);
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
