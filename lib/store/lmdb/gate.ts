// Keeps the writes of running processes apart from the moment in which another process opens the same environment.
//
// Why: an opening LMDB sets the number of the last transaction, which all processes share, to what it read from the file a
// moment before. A commit that ends in between is lost although it was acknowledged, and its writer may crash (ITS#9496;
// mended in LMDB 0.9.29, not in the copy that lmdb 3.5 ships).
//
// How: while a process writes it holds a shared lock on `gate.db`; one that opens asks by the file `opening` and then takes
// the exclusive lock. Both are SQLite's locks, so the system frees those of a process that dies. Looking for `opening`
// happens every LOOK_MS, not at each write: a write costs one count.

import { mkdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { closedError } from '../../given.ts';

export interface Gate {
  /** Makes a write; while another process opens the environment, once that is done. */
  run<T>(write: () => Promise<T>): Promise<T>;
  /** For one that has opened it: the environment is closed. */
  close(): void;
}

/** The file by which one asks to open. */
const REQUEST = 'opening';
/** Milliseconds between two looks for one that wants to open. */
const LOOK_MS = 20;
/** The longest pause for one that opens, before writes go on: a turn has 4 seconds. */
const PAUSE_MS = 500;
/** How long one that opens waits for the writers. */
const OPEN_MS = 10_000;
/** Between two tries to get a lock. */
const TRY_MS = 2;

/** By real path: the environments that this process has open. LMDB opens each once, however often it is asked. */
const gates = new Map<string, { readonly gate: Gate; users: number }>();

/** Runs `openEnvironment` while no other process writes in the folder `path`, which is created when missing. */
export function openThroughGate<T>(path: string, openEnvironment: () => T): { environment: T; gate: Gate } {
  mkdirSync(path, { recursive: true });
  const folder = realpathSync(path);
  const existing = gates.get(folder);
  if (existing) {
    const environment = openEnvironment();
    existing.users++;
    return { environment, gate: existing.gate };
  }
  const lock = new Database(join(folder, 'gate.db'), { timeout: 0 });
  try {
    const environment = whileOthersPause(lock, folder, openEnvironment);
    const shared = { users: 1, gate: makeGate(lock, folder) };
    gates.set(folder, shared);
    return { environment, gate: shared.gate };
  } catch (error) {
    lock.close();
    throw error;
  }
}

function whileOthersPause<T>(lock: Database.Database, folder: string, openEnvironment: () => T): T {
  const request = join(folder, REQUEST);
  const until = performance.now() + OPEN_MS;
  try {
    // Opening is synchronous: nothing else runs in this process yet. Another one that opens may have removed the request.
    for (; ; Atomics.wait(SLEEPER, 0, 0, TRY_MS)) {
      writeFileSync(request, '');
      if (begins(lock, 'BEGIN EXCLUSIVE')) break;
      if (performance.now() > until)
        throw new Error(`another process has been writing there for ${OPEN_MS / 1_000} s without a pause`);
    }
    try {
      return openEnvironment();
    } finally {
      lock.exec('COMMIT');
    }
  } finally {
    rmSync(request, { force: true });
  }
}

const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

/** False when another process has a lock that keeps this one out. */
function begins(lock: Database.Database, begin: 'BEGIN' | 'BEGIN EXCLUSIVE'): boolean {
  try {
    lock.exec(begin);
    // SQLite takes the shared lock with the first look at the file.
    lock.exec('SELECT count(*) FROM sqlite_master');
    return true;
  } catch (error) {
    if (lock.inTransaction) lock.exec('ROLLBACK');
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return false;
    throw error;
  }
}

/** `idle`: the lock is free; `writing`: it is held; else new writes wait until another process has opened. */
type GateState = 'idle' | 'writing' | Promise<void>;

function makeGate(lock: Database.Database, folder: string): Gate {
  const request = join(folder, REQUEST);
  let state: GateState = 'idle';
  let underWay = 0;
  let hasWritten = false;
  let whenDrained = () => {};
  let looking: NodeJS.Timeout | undefined;
  let mayPauseAt = 0;

  function begin(): boolean {
    if (!begins(lock, 'BEGIN')) return false;
    state = 'writing';
    looking = setInterval(lookSafely, LOOK_MS);
    looking.unref();
    return true;
  }

  function end(): void {
    clearInterval(looking);
    lock.exec('COMMIT');
  }

  // No error may leave a timer: a folder or a lock that fails is met by the next write, too, which tells it.
  function lookSafely(): void {
    try {
      look();
    } catch {
      hasWritten = false;
    }
  }

  function look(): void {
    if (isAsked(request) && performance.now() >= mayPauseAt) pause(drain());
    else if (underWay === 0 && !hasWritten) {
      end();
      state = 'idle';
    }
    hasWritten = false;
  }

  async function drain(): Promise<void> {
    clearInterval(looking);
    if (underWay > 0)
      await new Promise<void>((resolve) => {
        whenDrained = resolve;
      });
    end();
  }

  /** Lets another process open after `drained`, and goes on. Those that wait get the error if that fails. */
  function pause(whenDrained?: Promise<void>): void {
    const paused = goOn(whenDrained).catch((error: unknown) => {
      state = 'idle';
      throw error;
    });
    paused.catch(() => {});
    state = paused;
  }

  async function goOn(whenDrained: Promise<void> | undefined): Promise<void> {
    await whenDrained;
    const until = performance.now() + PAUSE_MS;
    while (isAsked(request) && performance.now() < until) await sleep(TRY_MS);
    while (lock.open && !begin()) await sleep(TRY_MS);
    mayPauseAt = performance.now() + PAUSE_MS;
  }

  function leaveWrite(): void {
    hasWritten = true;
    if (--underWay === 0) whenDrained();
  }

  function run<T>(write: () => Promise<T>): Promise<T> {
    if (state !== 'writing') return runLater(write);
    underWay++;
    try {
      const result = write();
      result.then(leaveWrite, leaveWrite);
      return result;
    } catch (error) {
      leaveWrite();
      throw error;
    }
  }

  async function runLater<T>(write: () => Promise<T>): Promise<T> {
    while (state !== 'writing') {
      if (!lock.open) throw closedError('LMDB');
      if (state === 'idle' && !begin()) pause();
      if (typeof state === 'object') await state;
    }
    return run(write);
  }

  return {
    run,
    close() {
      const shared = gates.get(folder)!;
      if (--shared.users > 0) return;
      gates.delete(folder);
      clearInterval(looking);
      lock.close();
    },
  };
}

// One that died before it opened has left its request behind.
function isAsked(request: string): boolean {
  const stats = statSync(request, { throwIfNoEntry: false });
  if (!stats) return false;
  if (Date.now() - stats.mtimeMs < OPEN_MS) return true;
  rmSync(request, { force: true });
  return false;
}
