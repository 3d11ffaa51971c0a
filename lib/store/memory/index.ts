// Stores in memory, and here sessions, for tests and `DATA_DIR=:memory:`. Lost when the process ends.

import { type Clock, systemClock } from '../../clock.ts';
import { checkKey, checkLimit, closedError } from '../../given.ts';
import type { SessionCommit, SnapshotStore, StoredSession } from '../store.ts';
import { byTime, compareText, sortedList, type Timed } from './sorted.ts';

export { memoryChannel } from './channel.ts';
export { memoryDocuments } from './documents.ts';
export { memoryLogs } from './logs.ts';

interface HeldSession {
  readonly session: StoredSession;
  /** The session's time in the expiry list: never later than its `expiresAt`. */
  readonly filed: number;
}

/**
 * An empty store, ready immediately. `clock` decides what has expired.
 * @example
 * const store = memorySnapshots();
 * store.durability; // → 'memory'
 * await store.load('nobody'); // → undefined
 */
export function memorySnapshots({ clock = systemClock }: { clock?: Pick<Clock, 'now'> } = {}): SnapshotStore {
  const sessions = new Map<string, HeldSession>();
  const keys = sortedList<string>(compareText);
  const expiry = sortedList<Timed>(byTime);
  const timers = sortedList<Timed>(byTime);
  let isClosed = false;

  function findLiving(key: string, now: number): HeldSession | undefined {
    const entry = sessions.get(key);
    return entry && entry.session.expiresAt > now ? entry : undefined;
  }

  function check(key?: string): void {
    if (isClosed) throw closedError('memory');
    if (key !== undefined) checkKey(key);
  }

  function write(key: string, revision: number, next: SessionCommit): void {
    const { record, turnKey, reply, ended, expiresAt, dueAt } = next;
    const old = sessions.get(key);
    // A session whose expiry moves later keeps its place in the expiry list; the sweep moves it when it gets there.
    const filed = old && old.filed <= expiresAt ? old.filed : expiresAt;
    if (!old) keys.add(key);
    if (filed !== old?.filed) {
      if (old) expiry.delete({ at: old.filed, key });
      expiry.add({ at: filed, key });
    }
    setTimer(key, old?.session.dueAt ?? null, dueAt);
    sessions.set(key, { session: { revision, record, turnKey, reply, ended, expiresAt, dueAt }, filed });
  }

  function drop(key: string, entry: HeldSession): void {
    sessions.delete(key);
    keys.delete(key);
    expiry.delete({ at: entry.filed, key });
    setTimer(key, entry.session.dueAt, null);
  }

  function setTimer(key: string, before: number | null, after: number | null): void {
    if (before === after) return;
    if (before !== null) timers.delete({ at: before, key });
    if (after !== null) timers.add({ at: after, key });
  }

  return {
    name: 'memory',
    durability: 'memory',
    load(key) {
      check(key);
      return findLiving(key, clock.now())?.session;
    },
    async commit(key, expected, next) {
      check(key);
      const revision = findLiving(key, clock.now())?.session.revision ?? 0;
      if (revision !== expected) return { kind: 'conflict', revision };
      write(key, expected + 1, next);
      return { kind: 'committed', revision: expected + 1 };
    },
    async remove(key) {
      check(key);
      const existed = findLiving(key, clock.now()) !== undefined;
      const entry = sessions.get(key);
      if (entry) drop(key, entry);
      return existed;
    },
    async list({ limit = 100, cursor } = {}) {
      check(cursor);
      checkLimit(limit);
      const now = clock.now();
      const page: string[] = [];
      for (const key of keys.ascend(cursor)) {
        if (key === cursor || !findLiving(key, now) || sessions.get(key)?.session.ended) continue;
        if (page.length === limit) return { keys: page, next: page[limit - 1]! };
        page.push(key);
      }
      return { keys: page };
    },
    async due(now, limit) {
      check();
      checkLimit(limit);
      const page: string[] = [];
      for (const { at, key } of timers.ascend()) {
        if (at > now || page.length === limit) break;
        if (findLiving(key, now)) page.push(key);
      }
      return page;
    },
    async sweep(now, limit) {
      check();
      checkLimit(limit);
      let swept = 0;
      const stale: Timed[] = [];
      for (const entry of expiry.ascend()) {
        if (entry.at > now || swept === limit) break;
        stale.push(entry);
        if (!findLiving(entry.key, now)) swept++;
      }
      for (const entry of stale) refile(entry, now);
      return swept;
    },
    async ping() {
      check();
    },
    async close() {
      isClosed = true;
      sessions.clear();
    },
  };

  function refile(entry: Timed, now: number): void {
    const current = sessions.get(entry.key)!;
    const { session } = current;
    if (session.expiresAt <= now) drop(entry.key, current);
    else {
      expiry.delete(entry);
      expiry.add({ at: session.expiresAt, key: entry.key });
      sessions.set(entry.key, { session, filed: session.expiresAt });
    }
  }
}
