// Sessions outside of turns, for operators and tools: read one, list keys, end one, place one at a given state.

import { setImmediate } from 'node:timers/promises';
import type { StateValue } from 'xstate';
import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import { requireGiven } from '../given.ts';
import type { JsonObject } from '../json/json.ts';
import { currentConversation, type Engine } from './engine.ts';
import { ENGINE_LIMITS } from './limits.ts';
import type { AtRest } from './machine/transition.ts';
import { sessionTtlMs } from './session/commit.ts';
import { type Live, openReply, openStored, sealRecord } from './session/open.ts';
import { encodeRecord, type SessionRecord } from './session/record.ts';
import { isResumable } from './session/resume.ts';
import { keepForTasks, nextTaskAt } from './session/tasks.ts';

/** A session as those see it who only look. */
export interface SessionView {
  readonly conversation: string;
  readonly version: number;
  readonly turn: number;
  /** Milliseconds since 1970 when this dial began. */
  readonly startedAt: number;
  /** Its `status` is `done`, with the machine's `output`, or `error` once the machine has ended. */
  readonly rest: AtRest;
  readonly door: JsonObject;
  /** What was answered last. */
  readonly reply: string;
  /** It takes no input any more; its variables are gone. It is kept for retries, for ENGINE_LIMITS.endedSessionSeconds. */
  readonly ended: boolean;
  /** The caller may go on with it at the next dial. */
  readonly isResumable: boolean;
}

/**
 * A session as it is stored: without secrets, with private values, which `showSession` masks. Undefined when there is none, or it
 * cannot be read. One that has ended is there for ten minutes.
 * @example
 * const hello = compileFlow(await loadFlow('hello.flow.json'));
 * const engine = createEngine({ store: memorySnapshots(), conversations: [hello] });
 * await takeTurn(engine, { key: 'ann', decide: () => ({ kind: 'begin', conversation: 'hello' }) });
 * (await viewSession(engine, 'ann'))?.conversation; // → 'hello'
 */
export async function viewSession(engine: Engine, key: string): Promise<SessionView | undefined> {
  // In the turns that begin a session, too: the words are looked for only when something is wrong.
  if (typeof engine?.inOrder !== 'function' || typeof key !== 'string')
    requireGiven('look at a session', { engine, key }, { engine: 'engine', key: 'text' });
  const session = openStored(engine, key, await engine.store.load(key));
  if (session.kind !== 'live' && session.kind !== 'ended') return undefined;
  const { conversation, version, turn, startedAt, rest, door } = session.record;
  const reply = openReply(engine, key, session.stored);
  if (typeof reply === 'string') return undefined;
  const ended = session.kind === 'ended';
  const canGoOn = !ended && isResumable(session.record, engine.clock.now());
  return { conversation, version, turn, startedAt, rest, door, reply: reply.text, ended, isResumable: canGoOn };
}

/** The same as {@link viewSession}, of living sessions only. */
export async function viewLiving(engine: Engine, key: string): Promise<SessionView | undefined> {
  const session = await viewSession(engine, key);
  return session?.ended ? undefined : session;
}

/** A living session as those may see it who watch: private values are masked. */
export interface ShownSession extends Omit<SessionView, 'reply' | 'ended' | 'isResumable'> {
  /** What was answered last. */
  reply(): string;
}

/** The same as {@link viewLiving}, for those who watch. */
export async function showSession(engine: Engine, key: string): Promise<ShownSession | undefined> {
  const session = openStored(engine, key, await engine.store.load(key));
  if (session.kind !== 'live') return undefined;
  const { conversation, version, turn, startedAt, rest, door } = session.record;
  const context = session.conversation.shown?.context?.(rest.context) ?? rest.context;
  const reply = () => showReply(engine, key, session);
  return { conversation, version, turn, startedAt, rest: { ...rest, context }, door, reply };
}

// A reply that may hold private values is not opened but made again, with masks in their place.
function showReply(engine: Engine, key: string, { conversation, record, stored }: Live): string {
  const waiting = record.waiting === true || record.calls.length > 0;
  const masked = conversation.shown?.reply?.({ ...record.rest, waiting });
  if (masked !== undefined) return masked;
  const shown = openReply(engine, key, stored);
  return typeof shown === 'string' ? '' : shown.text;
}

/** Keys of living sessions that begin with `prefix`, in key order, at most `limit`. */
export async function sessionKeys(
  engine: Engine,
  { prefix, limit }: { prefix: string; limit: number },
): Promise<string[]> {
  const matches: string[] = [];
  for await (const keys of sessionKeyPages(engine)) {
    matches.push(...keys.filter((key) => key.startsWith(prefix)));
    if (matches.length >= limit) break;
  }
  return matches.slice(0, limit);
}

/** Keys of living sessions in key order, page by page; others get their turn between two pages. */
export async function* sessionKeyPages(engine: Engine): AsyncGenerator<readonly string[]> {
  let cursor: string | undefined;
  do {
    const page = await engine.store.list(cursor === undefined ? {} : { cursor });
    yield page.keys;
    cursor = page.next;
    if (cursor !== undefined) await setImmediate();
  } while (cursor !== undefined);
}

export interface Ending {
  /** What is answered to requests of the session that come later. */
  readonly reply: string;
  /** Added to what the door remembers. */
  readonly door: JsonObject;
}

/** What watchers are told that has happened. */
const ENDED_EVENT = 'twinline.ended';

/**
 * Ends a living session without a turn, after the turn that is running here: its variables, timers and calls are dropped, and an
 * answer that comes late is given to nobody; what is to be done after a reply is done. A turn that runs in another process finds the session ended when it stores what it
 * has done. False when no such session lives, or none that can be read. Throws ERR_CONFLICT or ERR_STORE.
 */
export function endSession(engine: Engine, key: string, ending: Ending): Promise<boolean> {
  return engine.inOrder(key, async () => {
    for (let tries = 0; tries < COMMON_LIMITS.conflictsPerTurn; tries++) {
      const session = openStored(engine, key, await engine.store.load(key));
      if (session.kind !== 'live') return false;
      if (await storeEnd(engine, key, { opened: session, ...ending })) return true;
    }
    throw new TwinlineError('ERR_CONFLICT', 'Others wrote to the session at the same time, again and again.');
  });
}

/**
 * Removes a living session that `may` be; true when it did. What is to be done after a reply is still done, and a session goes on while the
 * answer of a call comes from outside: the caller may have left to give it.
 */
export function removeSession(
  engine: Engine,
  key: string,
  may: (session: Pick<SessionView, 'door' | 'reply' | 'isResumable'>) => boolean,
): Promise<boolean> {
  return engine.inOrder(key, async () => {
    const session = openStored(engine, key, await engine.store.load(key));
    const reply = session.kind === 'live' ? openReply(engine, key, session.stored) : undefined;
    if (session.kind !== 'live' || typeof reply !== 'object') return false;
    const { door, calls, tasks = [] } = session.record;
    const view = { door, reply: reply.text, isResumable: isResumable(session.record, engine.clock.now()) };
    if (!may(view) || calls.some(({ later }) => later)) return false;
    if (!tasks.length) return engine.store.remove(key);
    return storeEnd(engine, key, { opened: session, reply: '', door: {} });
  });
}

async function storeEnd(engine: Engine, key: string, { opened, reply, door }: Ending & { opened: Live }) {
  const { stored, record } = opened;
  const { conversation, version, hash, turn, startedAt, tasks = [], isPrivate } = record;
  const rest = { ...record.rest, context: {} };
  const end: SessionRecord = {
    conversation,
    version,
    hash,
    turn,
    startedAt,
    rest,
    door: { ...record.door, ...door },
    timers: [],
    calls: [],
    tasks,
  };
  const now = engine.clock.now();
  const result = await engine.store.commit(key, stored.revision, {
    record: encodeRecord(key, isPrivate && tasks.length ? sealRecord(engine, key, end) : end, engine.seals[0]),
    turnKey: '',
    reply,
    ended: true,
    expiresAt: keepForTasks(tasks, now + ENGINE_LIMITS.endedSessionSeconds * 1000),
    dueAt: nextTaskAt(tasks),
  });
  if (result.kind === 'conflict') return false;
  engine.noteChange(key);
  if (engine.inspector?.isWatched()) {
    const transitions = [{ event: ENDED_EVENT, from: rest.state, to: rest.state }];
    const shown = { startedAt, door: end.door, reply, waiting: false, typed: [], answers: [] };
    const { revision } = result;
    const about = { kind: 'turn', machine: conversation, version, key, revision, at: now, rest, ended: true } as const;
    engine.inspector.emit({ ...about, transitions, turn: shown });
  }
  return true;
}

export interface Seed {
  readonly conversation: string;
  readonly state: StateValue;
  /** Of the conversation itself; its `migrate` fills what is missing. Secrets are not kept. */
  readonly context: JsonObject;
  readonly door: JsonObject;
}

// No edition has this hash, so the session is migrated like one of an earlier edition: missing variables are filled in,
// and the calls of its state are made although the state was not entered by an event.
const NO_EDITION = '';

/**
 * Stores a session that rests there, under a key that has none; the next turn shows it. Throws ERR_FLOW_UNKNOWN, or
 * ERR_INPUT when the conversation has no such state or the key has a session.
 */
export async function seedSession(engine: Engine, key: string, placement: Seed): Promise<void> {
  const { state, context, door } = placement;
  const conversation = currentConversation(engine, placement.conversation);
  const { id, version, redact, isPrivate } = conversation;
  const now = engine.clock.now();
  const seed: SessionRecord = {
    conversation: id,
    version,
    hash: NO_EDITION,
    rest: { state, context: redact(context, (secret) => engine.prove(key, secret)) },
    turn: 1,
    startedAt: now,
    door,
    timers: [],
    calls: [],
  };
  const record = encodeRecord(key, isPrivate ? sealRecord(engine, key, seed) : seed, engine.seals[0]);
  const expiresAt = now + sessionTtlMs(engine, conversation);
  const stored = { record, turnKey: '', reply: '', ended: false, expiresAt, dueAt: null };
  if (openStored(engine, key, { ...stored, revision: 0 }).kind !== 'live') throw noSuchState(id, state);
  const { kind } = await engine.store.commit(key, 0, stored);
  if (kind === 'conflict') throw new TwinlineError('ERR_INPUT', 'Cannot place a session where there is one already.');
}

function noSuchState(id: string, state: StateValue): TwinlineError {
  return new TwinlineError('ERR_INPUT', `Cannot begin "${id}" at ${JSON.stringify(state)}: it has no such state.`);
}
