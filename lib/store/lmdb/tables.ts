// The LMDB environments under our stores: their tables, how keys become bytes, what their failures become; and how one
// session is held: a header of fixed width and the three texts behind it, all in one string.

import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Database, open, type RootDatabase } from 'lmdb';
import { TwinlineError } from '../../errors.ts';
import { LAST_MOMENT } from '../../given.ts';
import { damagedError } from '../damage.ts';
import type { SessionCommit, StoredSession } from '../store.ts';
import { checkLmdbFile, DamagedFile } from './check.ts';
import { type Gate, openThroughGate } from './gate.ts';
import { quietLmdb } from './hold.ts';

export type Table = Database<string, string>;

export interface Tables {
  /**
   * Sessions by `timeKey(filed, key)`. In order of time the living ones are neighbours, so that the turns of one moment
   * change few pages however many sessions are stored; and the first ones are those that the sweep looks for.
   */
  readonly sessions: Table;
  /** Session key → its key in `sessions`. Written when a session begins, and when the sweep moves it. */
  readonly places: Table;
  /** `timeKey(dueAt, key)` of each session that has a timer. */
  readonly timers: Table;
}

/** Opens or creates the tables in the folder `path`; throws ERR_STORE. */
export function openTables(path: string): Tables & Environment {
  return openEnvironment(path, (root) => ({
    sessions: root.openDB('sessions-2', { ...TABLE, useVersions: true }),
    places: root.openDB('places-2', TABLE),
    timers: root.openDB('timers-2', TABLE),
  }));
}

/** How every table is opened: UTF-8 has no collisions among well-formed texts, and LMDB compares its bytes. */
export const TABLE = { encoding: 'string', keyEncoder: { writeKey, readKey } } as const;

export interface Environment {
  /** Every write on a table goes through it. */
  readonly gate: Gate;
  readonly root: RootDatabase;
}

/** Opens or creates an environment in the folder `path`, and its tables; throws ERR_STORE. */
export function openEnvironment<T>(path: string, openIn: (root: RootDatabase) => T): T & Environment {
  quietLmdb();
  try {
    checkLmdbFile(join(path, 'data.mdb'));
    // Without overlapping flushes a reader sees only what is on the disk, writes group better (a sixth less CPU per
    // turn, measured at 64 at once), and at most two threads of libuv's pool wait for the disk.
    const disk = { noSubdir: false, overlappingSync: false, permissionsMode: 0o600 };
    // lmdb's own grouping by event turn makes a promise that nobody can hear and that rejects when the disk is full,
    // which ends the process. With this threshold it groups the same way without it.
    const grouping = { eventTurnBatching: false, txnStartThreshold: 1000 };
    const { environment, gate } = openThroughGate(path, () => {
      const root = open<string, string>(path, { ...disk, ...grouping });
      return { ...openIn(root), root };
    });
    return { ...environment, gate };
  } catch (error) {
    throw refusal('open', path, error);
  }
}

function writeKey(key: string, target: Buffer, start: number): number {
  return start + target.write(key, start);
}

function readKey(source: Buffer, start: number, end: number): string {
  return source.toString('utf8', start, end);
}

/** What becomes of LMDB's failures. */
export interface Failures {
  /** Runs work and makes ERR_STORE of failures. */
  guarded<T>(action: string, work: () => Promise<T>): Promise<T>;
  /** ERR_STORE in the place of a failure. Damage is remembered. */
  refuse(action: string, error: unknown): TwinlineError;
  /** Throws when damage was met: LMDB trusts its pages, so that to go on would end the process. */
  requireWhole(): void;
}

/** Of the environment in `path`, which is open. */
export function watchFailures(path: string): Failures {
  let damage: TwinlineError | undefined;
  const refuse = (action: string, error: unknown) => {
    if (error instanceof TwinlineError) return error;
    const storeError = refusal(action, path, error);
    if (storeError.reason === 'damaged') damage = storeError;
    return storeError;
  };
  return {
    refuse,
    async guarded(action, work) {
      try {
        return await work();
      } catch (error) {
        throw refuse(action, await findReason(error));
      }
    },
    requireWhole() {
      if (damage) throw damage;
    },
  };
}

/** Of `mdb_strerror`, and what our own readers say of texts that LMDB gave. */
const DAMAGE = /^MDB_(CORRUPTED|PAGE_NOTFOUND|INVALID|VERSION_MISMATCH|BAD_CHECKSUM)/;

// ERR_STORE with the path and what to look at.
function refusal(action: string, path: string, error: unknown): TwinlineError {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof DamagedFile || error instanceof SyntaxError || DAMAGE.test(reason))
    return damagedError(`LMDB store "${path}"`, error);
  return new TwinlineError(
    'ERR_STORE',
    `LMDB store "${path}": ${action} failed: ${reason}. Check that the folder is on a local disk with free space and that this user may write to it.`,
    { cause: error },
  );
}

/** Why a transaction failed: lmdb tells it by a second promise, which would end the process without a handler. */
export async function findReason(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (!commitError) return error;
  const reason = commitError.catch((failure: unknown) => failure);
  return Promise.race([reason, nextTurn(error)]);
}

// Numbers are digits of 7 bits, highest first: one byte each in UTF-8, read without parsing (3× faster than decimal
// text here), and in the order of the numbers when they begin a key.
const BITS_28 = 2 ** 28;
// ended and timer flags · turn key length · reply length · expiresAt · filed · base · dueAt
const AT = { flags: 0, turnKey: 1, reply: 5, expiresAt: 9, filed: 17, base: 25, dueAt: 33, text: 41 } as const;
const ENDED = 1;
const TIMER = 2;

/** What the store itself keeps with a session. */
export interface Filing {
  /** LMDB's version of the entry minus the session's revision; the version grows when the revision starts again. */
  readonly base: number;
  /** Where the session stands in the order of time: never later than its `expiresAt`. */
  readonly filed: number;
}

export function encodeSession(session: SessionCommit, { base, filed }: Filing): string {
  const { turnKey, reply, dueAt } = session;
  const flags = (session.ended ? ENDED : 0) | (dueAt === null ? 0 : TIMER);
  const lengths = fourDigits(turnKey.length) + fourDigits(reply.length);
  const moments = digits(Math.min(session.expiresAt, LAST_MOMENT)) + digits(filed) + digits(base) + digits(dueAt ?? 0);
  return String.fromCharCode(flags) + lengths + moments + turnKey + reply + session.record;
}

/** `version` is LMDB's version of the entry. */
export function decodeSession(text: string, version: number): StoredSession {
  const replyAt = AT.text + readFour(text, AT.turnKey);
  const recordAt = replyAt + readFour(text, AT.reply);
  return {
    revision: version - readBase(text),
    record: text.slice(recordAt),
    turnKey: text.slice(AT.text, replyAt),
    reply: text.slice(replyAt, recordAt),
    ended: isEnded(text),
    expiresAt: readExpiresAt(text),
    dueAt: readDueAt(text),
  };
}

export function readExpiresAt(text: string): number {
  return readDigits(text, AT.expiresAt);
}

export function readFiled(text: string): number {
  return readDigits(text, AT.filed);
}

export function readBase(text: string): number {
  return readDigits(text, AT.base);
}

export function readDueAt(text: string): number | null {
  return text.charCodeAt(AT.flags) & TIMER ? readDigits(text, AT.dueAt) : null;
}

export function isEnded(text: string): boolean {
  return (text.charCodeAt(AT.flags) & ENDED) !== 0;
}

/** The same session, filed at its own `expiresAt` and under the next version of LMDB's. */
export function refile(text: string): string {
  const filed = text.slice(AT.expiresAt, AT.filed);
  return text.slice(0, AT.filed) + filed + digits(readBase(text) + 1) + text.slice(AT.dueAt);
}

/** A key that is ordered by time, then by session key. */
export function timeKey(at: number, key: string): string {
  return digits(at) + key;
}

export function splitTimeKey(entry: string): { at: number; key: string } {
  return { at: readDigits(entry, 0), key: entry.slice(8) };
}

// A whole number of up to 56 bits.
function digits(value: number): string {
  return fourDigits(Math.floor(value / BITS_28)) + fourDigits(value % BITS_28);
}

function fourDigits(value: number): string {
  return String.fromCharCode(value >>> 21, (value >>> 14) & 127, (value >>> 7) & 127, value & 127);
}

function readDigits(text: string, at: number): number {
  return readFour(text, at) * BITS_28 + readFour(text, at + 4);
}

function readFour(text: string, at: number): number {
  const high = (text.charCodeAt(at) << 21) | (text.charCodeAt(at + 1) << 14);
  return high | (text.charCodeAt(at + 2) << 7) | text.charCodeAt(at + 3);
}
