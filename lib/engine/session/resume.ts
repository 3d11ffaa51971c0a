// Going on with a session that was cut: the caller dials again, is asked, and the new session takes over where the old one stands. The
// old one is ended first, in one compare-and-set that names its successor and keeps where it stood. So only one session takes over, the
// old one takes nothing any more, and a turn that dies in between finds all of it when it is repeated.

import type { EventObject } from 'xstate';
import type { JsonObject } from '../../json/json.ts';
import type { StoredSession } from '../../store/store.ts';
import type { Conversation } from '../conversation.ts';
import type { Engine } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { findOwner } from '../memory/keeping.ts';
import { type Live, openStored, readRecord, sealRecord } from './open.ts';
import { encodeRecord, type SessionRecord } from './record.ts';
import { keepForTasks, nextTaskAt } from './tasks.ts';
import type { Work } from './work.ts';

/** After this the session is never continued. */
export const NEVER = 0;

/** Until when a session of this work may be continued, after a reply to its caller; undefined where none may. */
export function findResumeEnd({ clock }: Engine, work: Work): number | undefined {
  const { conversation, resumableUntil, memory } = work;
  const resume = memory && conversation.keeping?.resume;
  return resume && resumableUntil !== NEVER ? clock.now() + resume.ms : resumableUntil;
}

/** What a turn that gives the machine this event on this screen means for that. */
export function noteLock(work: Work, event: EventObject): void {
  if (work.conversation.keeping?.resume?.locks(work.live.value, event)) work.resumableUntil = NEVER;
}

/** Whether a caller who hung up may go on with it. */
export const isResumable = ({ resumableUntil = NEVER }: Pick<SessionRecord, 'resumableUntil'>, now: number): boolean =>
  resumableUntil > now;

/** Whether the session of this key can be continued by a dial of this door. Rejects with ERR_STORE. */
export async function canResume(
  engine: Engine,
  key: string,
  { conversation, door }: { readonly conversation: Conversation; readonly door: JsonObject },
): Promise<boolean> {
  const cut = openStored(engine, key, await engine.store.load(key));
  if (cut.kind !== 'live' || cut.record.conversation !== conversation.id) return false;
  const { record } = cut;
  const owners = [record.door, door].map((one) => JSON.stringify(findOwner(engine, conversation, one)));
  // Who has answered nothing yet has nothing to go on with.
  return (
    isResumable(record, engine.clock.now()) &&
    record.turn > 1 &&
    !isAsking(cut) &&
    owners[0] === owners[1] &&
    isSameSim(record.door.sim, door.sim)
  );
}

// A number may have another SIM card within minutes. The marks are keyed hashes, one for each key.
function isSameSim(one: unknown, other: unknown): boolean {
  if (typeof one !== 'string' || typeof other !== 'string') return one === other;
  const marks = other.split(' ');
  return one.split(' ').some((mark) => marks.includes(mark));
}

/** Whether the caller is being asked whether to go on. */
export function isAsking({ record, conversation }: Pick<Live, 'record' | 'conversation'>): boolean {
  const asks = conversation.keeping?.resume?.asks;
  return asks !== undefined && record.rest.state === asks;
}

interface Question {
  readonly conversation: Conversation;
  /** What the door and the memory give to the machine. */
  readonly input: JsonObject;
  readonly door: JsonObject;
  /** The key of the session that was cut. */
  readonly cut: string;
  readonly after: SessionRecord | undefined;
}

/** A session that asks whether to go on with the one that was cut. */
export function askWhether(engine: Engine, { conversation, input, door, cut, after }: Question): Live {
  const { id, version, hash, machine } = conversation;
  const { asks, context } = conversation.keeping!.resume!;
  const record: SessionRecord = {
    ...{ conversation: id, version, hash, timers: [], calls: [] },
    ...{ turn: after?.turn ?? 0, startedAt: engine.clock.now(), ...(after?.tasks && { tasks: after.tasks }) },
    rest: { state: asks, context: context(input) },
    door: { ...door, [CUT]: cut },
  };
  const stored = { revision: 0, record: '', turnKey: '', reply: '', ended: false, expiresAt: 0, dueAt: null };
  return { kind: 'live', stored, record, conversation, isMigrated: false, live: machine.resume(record.rest) };
}

// What the doors of both sessions say of each other.
const CUT = 'cut';
const SUCCESSOR = 'successor';

/**
 * What the caller who answered "yes" goes on with: where the session stood that was cut. `busy`: a call that it began goes on; `gone`: it
 * has expired, was ended, or is continued by another session; `conflict`: another writer was first.
 */
export async function takeOver(
  engine: Engine,
  key: string,
  { session, door: asked }: { readonly session: Live; readonly door: JsonObject },
): Promise<Live | 'busy' | 'gone' | 'conflict'> {
  const { [CUT]: cutKey, ...door } = asked;
  if (typeof cutKey !== 'string') return 'gone';
  const stored = await engine.store.load(cutKey);
  if (!stored) return 'gone';
  const cut = openStored(engine, cutKey, { ...stored, ended: false });
  if (cut.kind !== 'live') return 'gone';
  if (stored.ended && cut.record.door[SUCCESSOR] !== key) return 'gone';
  if (!stored.ended) {
    if (cut.record.resumableUntil === NEVER) return 'gone';
    if (cut.record.calls.length) return 'busy';
    if (!(await handOver(engine, cutKey, { conversation: cut.conversation, stored, successor: key })))
      return 'conflict';
  }
  const { turn, startedAt, tasks } = session.record;
  const { conversation, version, hash, rest, timers, calls, completed, resumableUntil, isPrivate } = cut.record;
  const record: SessionRecord = {
    ...{ conversation, version, hash, rest, timers, calls, resumableUntil, door, turn, startedAt, tasks },
    ...(completed && { completed }),
    ...(isPrivate && { isPrivate }),
  };
  return { ...cut, stored: session.stored, record };
}

interface HandOver {
  readonly conversation: Conversation;
  readonly stored: StoredSession;
  readonly successor: string;
}

// Its tasks go on where they are; a retry of its last request gets the same reply.
async function handOver(engine: Engine, key: string, { conversation, stored, successor }: HandOver): Promise<boolean> {
  // In terms of the version that wrote it: whoever repeats this turn reads it as this one does.
  const record = readRecord(engine, key, stored);
  if (typeof record === 'string') return false;
  const { tasks = [] } = record;
  const last: SessionRecord = { ...record, isContinued: true, door: { ...record.door, [SUCCESSOR]: successor } };
  const { revision, ...same } = stored;
  const { kind } = await engine.store.commit(key, revision, {
    ...same,
    record: encodeRecord(key, conversation.isPrivate ? sealRecord(engine, key, last) : last, engine.seals[0]),
    ended: true,
    expiresAt: keepForTasks(tasks, engine.clock.now() + ENGINE_LIMITS.endedSessionSeconds * 1_000),
    dueAt: nextTaskAt(tasks),
  });
  if (kind === 'committed') engine.noteChange(key);
  return kind === 'committed';
}
