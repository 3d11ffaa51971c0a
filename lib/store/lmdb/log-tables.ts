// How LMDB holds frame logs: a head per log, a row per frame, an index by expiry, and what is still to be deleted.

import { getLastVersion, type RootDatabase } from 'lmdb';
import type { LogHead } from '../log/rules.ts';
import { timeKey } from './session-text.ts';
import { openEnvironment, TABLE, type Table } from './tables.ts';

export interface LogTables {
  readonly root: RootDatabase;
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
export interface HeadEntry {
  readonly head: StoredHead;
  readonly version: number;
}

/** Opens or creates the tables in the folder `path`; throws ERR_STORE. */
export function openLogTables(path: string): LogTables {
  return openEnvironment(path, (root) => ({
    root,
    logs: root.openDB('logs-1', { ...TABLE, useVersions: true }),
    frames: root.openDB('frames-1', TABLE),
    expiry: root.openDB('log-expiry-1', TABLE),
    trash: root.openDB('log-trash-1', TABLE),
  }));
}

/** An id that no other log has. In order of time, so that the frames of one moment change few pages. */
export function newLogId(): string {
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

export function encodeHead(head: StoredHead): string {
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
