// The LMDB environments under our stores: their tables, how keys become bytes, what their failures become.

import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Database, open, type RootDatabase } from 'lmdb';
import { TwinlineError } from '../../errors.ts';
import { quietLmdb } from './hold.ts';

export type Table = Database<string, string>;

/** In the first page: LMDB's magic number and, behind it, the format of its file. */
const MAGIC_AT = 24;
const MAGIC = 0xbeefc0de;
const FORMAT = 2;

export interface Tables {
  readonly root: RootDatabase;
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
export function openTables(path: string): Tables {
  return openEnvironment(path, (root) => ({
    root,
    sessions: root.openDB('sessions-2', { ...TABLE, useVersions: true }),
    places: root.openDB('places-2', TABLE),
    timers: root.openDB('timers-2', TABLE),
  }));
}

/** How every table is opened: UTF-8 has no collisions among well-formed texts, and LMDB compares its bytes. */
export const TABLE = { encoding: 'string', keyEncoder: { writeKey, readKey } } as const;

/** Opens or creates an environment in the folder `path`, and its tables; throws ERR_STORE. */
export function openEnvironment<T>(path: string, openAll: (root: RootDatabase) => T): T {
  quietLmdb();
  try {
    refuseForeign(join(path, 'data.mdb'));
    // Without overlapping flushes a reader sees only what is on the disk, writes group better (a sixth less CPU per
    // turn, measured at 64 at once), and at most two threads of libuv's pool wait for the disk.
    const disk = { noSubdir: false, overlappingSync: false, permissionsMode: 0o600 };
    // lmdb's own grouping by event turn makes a promise that nobody can hear and that rejects when the disk is full,
    // which ends the process. With this threshold it groups the same way without it.
    const grouping = { eventTurnBatching: false, txnStartThreshold: 1000 };
    return openAll(open<string, string>(path, { ...disk, ...grouping }));
  } catch (error) {
    throw refusal('open', path, error);
  }
}

// lmdb 3.5 ends the process (SIGSEGV) when it is given a file of another kind; so its magic number is checked first.
function refuseForeign(file: string): void {
  if (!existsSync(file)) return;
  const head = Buffer.alloc(MAGIC_AT + 8);
  const fd = openSync(file, 'r');
  const length = readSync(fd, head);
  closeSync(fd);
  const known = head.readUInt32LE(MAGIC_AT) === MAGIC && head.readUInt16LE(MAGIC_AT + 4) === FORMAT;
  if (length > 0 && !known) throw new Error(`${file} is no LMDB file of format ${FORMAT}`);
}

function writeKey(key: string, target: Buffer, start: number): number {
  return start + target.write(key, start);
}

function readKey(source: Buffer, start: number, end: number): string {
  return source.toString('utf8', start, end);
}

/** What a failure of LMDB becomes: ERR_STORE with the path and what to look at. */
export function refusal(action: string, path: string, error: unknown): TwinlineError {
  const reason = error instanceof Error ? error.message : String(error);
  return new TwinlineError(
    'ERR_STORE',
    `LMDB store "${path}": ${action} failed: ${reason}. Check that the folder is on a local disk with free space and that this user may write to it.`,
    { cause: error },
  );
}

/** Why a transaction failed: lmdb tells it by a second promise, which would end the process if nobody listened. */
export async function reasonOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (!commitError) return error;
  const reason = commitError.catch((failure: unknown) => failure);
  return Promise.race([reason, nextTurn(error)]);
}
