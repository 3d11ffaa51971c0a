// Changes of one log in LMDB: head, frames and index in one conditional transaction, which LMDB's writer decides.

import { getLastVersion } from 'lmdb';
import type { Clock } from '../../clock.ts';
import type { WrittenFrames } from '../log/follow.ts';
import type { LogHead } from '../log-rules.ts';
import { type Environment, openEnvironment, splitTimeKey, TABLE, type Table, timeKey } from './tables.ts';

/** What a change does: a new head and rows, or nothing, and its answer. */
export type LogChange<T> = { readonly answer: T } & (
  | { readonly head?: undefined }
  | { readonly head: Changes; write?(id: string): void; readonly written?: WrittenFrames }
);
type Changes = Omit<StoredHead, 'id' | 'filed'>;

export interface LogWriterOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Throws when the store is closed. */
  readonly check: () => void;
  /** Told after every change. */
  readonly changed: (log: string, written?: WrittenFrames) => void;
}

export interface LogWriter {
  /** The head as everybody's last commit left it. */
  latest(log: string): HeadEntry | undefined;
  /** Nothing when it has expired. */
  requireLiving(entry: HeadEntry | undefined): StoredHead | undefined;
  /** Decides with the living head, again and again until no other writer was faster, and gives the answer. */
  change<T>(log: string, decide: (head: StoredHead | undefined) => LogChange<T>): Promise<T>;
  /** False when the log was changed since `entry` was read. */
  erase(log: string, entry: HeadEntry): Promise<boolean>;
  /** Deletes the log of this row of the index by expiry if it has expired; true if it did. */
  sweepOne(place: string, now: number): Promise<boolean>;
  /** Deletes what is left of a log that is gone. */
  deleteFrames(id: string): Promise<void>;
}

/** Frames that are deleted in one transaction. */
export const DELETE_BATCH = 500;

export function logWriter(tables: LogTables & Environment, { clock, check, changed }: LogWriterOptions): LogWriter {
  const { gate, logs, expiry, trash } = tables;

  // lmdb keeps one view of the data for a whole millisecond; another process may have committed, and said so, since.
  function latest(log: string): HeadEntry | undefined {
    logs.resetReadTxn();
    return readHead(tables, log);
  }

  function requireLiving(entry: HeadEntry | undefined): StoredHead | undefined {
    return entry && entry.head.expiresAt > clock.now() ? entry.head : undefined;
  }

  // The first look may be a moment old. What it decides is written only if the head is still the same, and an answer
  // without a write is given only after the latest look.
  async function change<T>(log: string, decide: (head: StoredHead | undefined) => LogChange<T>): Promise<T> {
    for (let entry = readHead(tables, log), isLatest = false; ; entry = latest(log), isLatest = true) {
      check();
      const { answer, ...todo } = decide(requireLiving(entry));
      if (todo.head) {
        const { head, write, written } = todo;
        if (await put(log, entry, { head, write: write ?? (() => {}) })) {
          changed(log, written);
          return answer;
        }
      } else if (isLatest) return answer;
    }
  }

  function put(log: string, entry: HeadEntry | undefined, change: { head: Changes; write(id: string): void }) {
    const old = entry?.head;
    const isSame = requireLiving(entry) !== undefined;
    const id = isSame ? old!.id : newLogId();
    const { expiresAt } = change.head;
    const filed = old && old.filed <= expiresAt ? old.filed : expiresAt;
    const value = encodeHead({ ...change.head, id, filed });
    const work = () => {
      if (old && !isSame) void trash.put(old.id, '');
      if (filed !== old?.filed) refile(expiry, log, old?.filed, filed);
      change.write(id);
      void logs.put(log, value, (entry?.version ?? newVersion()) + 1);
    };
    return gate.run(() => (entry ? logs.ifVersion(log, entry.version, work) : logs.ifNoExists(log, work)));
  }

  async function erase(log: string, { head, version }: HeadEntry): Promise<boolean> {
    const changes = () => {
      void logs.remove(log);
      refile(expiry, log, head.filed);
      void trash.put(head.id, '');
    };
    const erased = await gate.run(() => logs.ifVersion(log, version, changes));
    if (erased) {
      changed(log);
      await deleteFrames(tables, check, head.id);
    }
    return erased;
  }

  async function sweepOne(place: string, now: number): Promise<boolean> {
    const { at, key: log } = splitTimeKey(place);
    const entry = latest(log);
    // Somebody has moved or removed it since it was listed.
    if (!entry || entry.head.filed !== at) return false;
    if (entry.head.expiresAt <= now) return erase(log, entry);
    const { head, version } = entry;
    const changes = () => {
      refile(expiry, log, at, head.expiresAt);
      void logs.put(log, encodeHead({ ...head, filed: head.expiresAt }), version + 1);
    };
    await gate.run(() => logs.ifVersion(log, version, changes));
    return false;
  }

  return { latest, requireLiving, change, erase, sweepOne, deleteFrames: (id) => deleteFrames(tables, check, id) };
}

function refile(expiry: LogTables['expiry'], log: string, from: number | undefined, to?: number): void {
  if (from !== undefined) void expiry.remove(timeKey(from, log));
  if (to !== undefined) void expiry.put(timeKey(to, log), '');
}

// Of a log that is gone.
async function deleteFrames(tables: LogTables & Environment, check: () => void, id: string): Promise<void> {
  const { gate, logs, frames, trash } = tables;
  for (;;) {
    const keys = [...frames.getKeys({ start: id, end: frameKey(id, Number.MAX_SAFE_INTEGER), limit: DELETE_BATCH })];
    if (keys.length === 0) break;
    await gate.run(() => Promise.all(keys.map((key) => frames.remove(key))));
    logs.resetReadTxn();
    check();
  }
  await gate.run(() => trash.remove(id));
}

// By chance: a log that is removed and begins again never meets the versions of its former life.
function newVersion(): number {
  return Math.floor(Math.random() * 2 ** 48);
}

export interface LogTables {
  /** Log → its head, as text. */
  readonly logs: Table;
  /** `frameKey(id, n)` → the frame. */
  readonly frames: Table;
  /** `timeKey(filed, log)` of every log. */
  readonly expiry: Table;
  /** Ids of logs that are gone, as long as their frames may not all be. */
  readonly trash: Table;
}

/** A head as it is stored. */
export interface StoredHead extends LogHead {
  /** Begins the keys of its frames: a log that begins again never meets the frames of its former life. */
  readonly id: string;
  /** Where the log stands in the index by expiry: never later than its `expiresAt`. */
  readonly filed: number;
}

/** A head and LMDB's version of it. */
interface HeadEntry {
  readonly head: StoredHead;
  readonly version: number;
}

/** Opens or creates the tables in the folder `path`; throws ERR_STORE. */
export function openLogTables(path: string): LogTables & Environment {
  return openEnvironment(path, (root) => ({
    logs: root.openDB('logs-1', { ...TABLE, useVersions: true }),
    frames: root.openDB('frames-1', TABLE),
    expiry: root.openDB('log-expiry-1', TABLE),
    trash: root.openDB('log-trash-1', TABLE),
  }));
}

/** An id that no other log has. In order of time, so that the frames of one moment change few pages. */
function newLogId(): string {
  return timeKey(Date.now(), timeKey(Math.floor(Math.random() * 2 ** 48), ''));
}

/** Frames of one log are neighbours, in the order of their numbers. */
export function frameKey(id: string, n: number): string {
  return id + timeKey(n, '');
}

export function readHead({ logs }: LogTables, log: string): HeadEntry | undefined {
  const text = logs.get(log);
  if (text === undefined) return undefined;
  const version = getLastVersion();
  return { head: decodeHead(text), version };
}

function encodeHead(head: StoredHead): string {
  const { id, fence, first, last, bytes, ended, expiresAt, filed } = head;
  return JSON.stringify([id, fence, first, last, bytes, ended ? 1 : 0, expiresAt, filed]);
}

function decodeHead(text: string): StoredHead {
  const [id, fence, first, last, bytes, ended, expiresAt, filed] = JSON.parse(text) as [string, ...number[]];
  return {
    id,
    fence: fence!,
    first: first!,
    last: last!,
    bytes: bytes!,
    ended: ended === 1,
    expiresAt: expiresAt!,
    filed: filed!,
  };
}
