// Group commit for a database whose calls are synchronous: writes of one moment share one transaction, one disk flush.

import { setImmediate, setTimeout } from 'node:timers';
import type Database from 'libsql';
import { TwinlineError } from '../../errors.ts';
import { damagedError } from '../damage.ts';
import { isDamage } from './check.ts';

/** Writes share a transaction in the order of their calls. */
export interface GroupWriter {
  /**
   * Runs `work` in a transaction and resolves with its result once that is durable. Work that throws a TwinlineError
   * must not have written anything: the others of its group are committed all the same.
   */
  write<T>(work: () => T): Promise<T>;
  /** Resolves when nothing waits to be written. */
  waitUntilSettled(): Promise<void>;
}

interface WaitingWork {
  readonly work: () => unknown;
  readonly since: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Writes in one transaction; the event loop stands still for so many at most. */
const GROUP_MAX = 100;
/** Milliseconds that a group waits for another process's transaction, and between two looks. */
const BUSY_MS = 5_000;
const BUSY_PAUSE_MS = 5;
const LOCK_WAIT_MS = 2;
/** Milliseconds that SQLite may stand still for a read: only while another process recovers the file after a crash. */
const READ_WAIT_MS = 250;

/** `refuse` makes the error of everyone in a group whose transaction failed. */
export function groupWriter(db: Database.Database, refuse: (error: unknown) => TwinlineError): GroupWriter {
  let waiting: WaitingWork[] = [];
  let scheduled = false;
  const onSettled: (() => void)[] = [];

  function schedule(pause: 'next turn' | 'busy'): void {
    scheduled = true;
    if (pause === 'busy') setTimeout(flush, BUSY_PAUSE_MS);
    else setImmediate(flush);
  }

  function flush(): void {
    const group = waiting.slice(0, GROUP_MAX);
    const outcome = writeGroup(db, group, refuse);
    if (outcome === 'busy') schedule('busy');
    else {
      waiting = waiting.slice(group.length);
      for (const settle of outcome) settle();
      scheduled = false;
      if (waiting.length) schedule('next turn');
      else for (const done of onSettled.splice(0)) done();
    }
  }

  return {
    write: <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ work, since: performance.now(), resolve: resolve as (value: unknown) => void, reject });
        if (!scheduled) schedule('next turn');
      }),
    waitUntilSettled: () => (scheduled ? new Promise((resolve) => onSettled.push(resolve)) : Promise.resolve()),
  };
}

// One transaction: what settles its works, or that another process's transaction is in the way.
function writeGroup(
  db: Database.Database,
  group: readonly WaitingWork[],
  refuse: (error: unknown) => TwinlineError,
): 'busy' | (() => void)[] {
  const refuseAll = (error: unknown) => {
    const reason = refuse(error);
    return group.map(
      ({ reject }) =>
        () =>
          reject(reason),
    );
  };
  try {
    begin(db);
  } catch (error) {
    if (isBusy(error) && performance.now() - group[0]!.since < BUSY_MS) return 'busy';
    return refuseAll(error);
  }
  try {
    const settles = group.map(attempt);
    db.exec('COMMIT');
    return settles;
  } catch (error) {
    // SQLite may have rolled back by itself; then there is nothing left to undo.
    if (db.inTransaction) db.exec('ROLLBACK');
    return refuseAll(error);
  }
}

// SQLite waits for a lock by standing still; so it waits a moment only, and the group comes again.
function begin(db: Database.Database): void {
  db.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
  try {
    db.exec('BEGIN IMMEDIATE');
  } finally {
    db.exec(`PRAGMA busy_timeout = ${READ_WAIT_MS}`);
  }
}

function attempt({ work, resolve, reject }: WaitingWork): () => void {
  try {
    const value = work();
    return () => resolve(value);
  } catch (error) {
    if (error instanceof TwinlineError) return () => reject(error);
    throw error;
  }
}

/** Whether another process holds a lock that this one needs. */
export function isBusy(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY');
}

/** What a failure of SQLite becomes: ERR_STORE with the path and what to look at. */
export function sqliteRefusal(action: string, path: string, error: unknown): TwinlineError {
  if (isDamage(error)) return damagedError(`SQLite store "${path}"`, error);
  const reason = error instanceof Error ? error.message : String(error);
  return new TwinlineError(
    'ERR_STORE',
    `SQLite store "${path}": ${action} failed: ${reason}. Check that the folder exists on a local disk with free space and that this user may write to it.`,
    { cause: error },
  );
}
