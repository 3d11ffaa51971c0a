// Stores in this process's memory, and here that of sessions: for tests and for `DATA_DIR=:memory:`. Nothing survives the process.

import { type Clock, systemClock } from '../../clock.ts';
import { checkKey, checkLimit, closedError } from '../../given.ts';
import type { SessionCommit, SnapshotStore, StoredSession } from '../store.ts';
import { byTime, compareText, sortedList, type Timed } from './sorted.ts';

export { memoryChannel } from './channel.ts';
export { memoryDocuments } from './documents.ts';
export { memoryLogs } from './logs.ts';

interface HeldSession {
  readonly session: StoredSession;
  /** Where the session stands in the expiry list: never later than its `expiresAt`. */
  readonly filed: number;
}

/**
 * An empty store; ready at once. `clock` decides what has expired.
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
  let closed = false;

  function findLiving(key: string, now: number): HeldSession | undefined {
    const held = sessions.get(key);
    return held && held.session.expiresAt > now ? held : undefined;
  }

  function check(key?: string): void {
    if (closed) throw closedError('memory');
    if (key !== undefined) checkKey(key);
  }

  function write(key: string, revision: number, next: SessionCommit): void {
    const { record, turnKey, reply, ended, expiresAt, dueAt } = next;
    const old = sessions.get(key);
    // A session that lives on keeps its place in the expiry list; the sweep moves it when its turn comes.
    const filed = old && old.filed <= expiresAt ? old.filed : expiresAt;
    if (!old) keys.add(key);
    if (filed !== old?.filed) {
      if (old) expiry.delete({ at: old.filed, key });
      expiry.add({ at: filed, key });
    }
    setTimer(key, old?.session.dueAt ?? null, dueAt);
    sessions.set(key, { session: { revision, record, turnKey, reply, ended, expiresAt, dueAt }, filed });
  }

  function drop(key: string, held: HeldSession): void {
    sessions.delete(key);
    keys.delete(key);
    expiry.delete({ at: held.filed, key });
    setTimer(key, held.session.dueAt, null);
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
      const found = findLiving(key, clock.now()) !== undefined;
      const held = sessions.get(key);
      if (held) drop(key, held);
      return found;
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
      closed = true;
      sessions.clear();
    },
  };

  function refile(entry: Timed, now: number): void {
    const held = sessions.get(entry.key)!;
    const { session } = held;
    if (session.expiresAt <= now) drop(entry.key, held);
    else {
      expiry.delete(entry);
      expiry.add({ at: session.expiresAt, key: entry.key });
      sessions.set(entry.key, { session, filed: session.expiresAt });
    }
  }
}
