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

/** Sessions by key, by expiry and by the time when they are due. */
class SessionTable {
  readonly sessions = new Map<string, HeldSession>();
  readonly keys = sortedList<string>(compareText);
  readonly expiry = sortedList<Timed>(byTime);
  readonly timers = sortedList<Timed>(byTime);

  findLiving(key: string, now: number): HeldSession | undefined {
    const entry = this.sessions.get(key);
    return entry && entry.session.expiresAt > now ? entry : undefined;
  }

  write(key: string, revision: number, next: SessionCommit): void {
    const { record, turnKey, reply, ended, expiresAt, dueAt } = next;
    const { sessions, keys, expiry } = this;
    const old = sessions.get(key);
    // A session whose expiry moves later keeps its place in the expiry list; the sweep moves it when it gets there.
    const filed = old && old.filed <= expiresAt ? old.filed : expiresAt;
    if (!old) keys.add(key);
    if (filed !== old?.filed) {
      if (old) expiry.delete({ at: old.filed, key });
      expiry.add({ at: filed, key });
    }
    this.#setTimer(key, old?.session.dueAt ?? null, dueAt);
    sessions.set(key, { session: { revision, record, turnKey, reply, ended, expiresAt, dueAt }, filed });
  }

  drop(key: string, entry: HeldSession): void {
    this.sessions.delete(key);
    this.keys.delete(key);
    this.expiry.delete({ at: entry.filed, key });
    this.#setTimer(key, entry.session.dueAt, null);
  }

  /** Removes a session that has expired; one whose expiry has moved later is filed there. */
  refile(entry: Timed, now: number): void {
    const current = this.sessions.get(entry.key)!;
    const { session } = current;
    if (session.expiresAt <= now) this.drop(entry.key, current);
    else {
      this.expiry.delete(entry);
      this.expiry.add({ at: session.expiresAt, key: entry.key });
      this.sessions.set(entry.key, { session, filed: session.expiresAt });
    }
  }

  #setTimer(key: string, before: number | null, after: number | null): void {
    if (before === after) return;
    if (before !== null) this.timers.delete({ at: before, key });
    if (after !== null) this.timers.add({ at: after, key });
  }
}

/**
 * An empty store, ready immediately. `clock` decides what has expired.
 * @example
 * const store = memorySnapshots();
 * store.durability; // → 'memory'
 * await store.load('nobody'); // → undefined
 */
export function memorySnapshots({ clock = systemClock }: { clock?: Pick<Clock, 'now'> } = {}): SnapshotStore {
  const table = new SessionTable();
  const { sessions } = table;
  let isClosed = false;

  function check(key?: string): void {
    if (isClosed) throw closedError('memory');
    if (key !== undefined) checkKey(key);
  }

  return {
    name: 'memory',
    durability: 'memory',
    load(key) {
      check(key);
      return table.findLiving(key, clock.now())?.session;
    },
    async commit(key, expected, next) {
      check(key);
      const revision = table.findLiving(key, clock.now())?.session.revision ?? 0;
      if (revision !== expected) return { kind: 'conflict', revision };
      table.write(key, expected + 1, next);
      return { kind: 'committed', revision: expected + 1 };
    },
    async remove(key) {
      check(key);
      const existed = table.findLiving(key, clock.now()) !== undefined;
      const entry = sessions.get(key);
      if (entry) table.drop(key, entry);
      return existed;
    },
    async list({ limit = 100, cursor } = {}) {
      check(cursor);
      checkLimit(limit);
      const now = clock.now();
      const page: string[] = [];
      for (const key of table.keys.ascend(cursor)) {
        if (key === cursor || !table.findLiving(key, now) || sessions.get(key)?.session.ended) continue;
        if (page.length === limit) return { keys: page, next: page[limit - 1]! };
        page.push(key);
      }
      return { keys: page };
    },
    async due(now, limit) {
      check();
      checkLimit(limit);
      const page: string[] = [];
      for (const { at, key } of table.timers.ascend()) {
        if (at > now || page.length === limit) break;
        if (table.findLiving(key, now)) page.push(key);
      }
      return page;
    },
    async sweep(now, limit) {
      check();
      checkLimit(limit);
      let swept = 0;
      const stale: Timed[] = [];
      for (const entry of table.expiry.ascend()) {
        if (entry.at > now || swept === limit) break;
        stale.push(entry);
        if (!table.findLiving(entry.key, now)) swept++;
      }
      for (const entry of stale) table.refile(entry, now);
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
}
