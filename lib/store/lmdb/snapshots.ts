// Sessions in LMDB: durable to power loss, shared by every process of one host that opens the same folder.
//
// What it does not do: network file systems, and processes on other hosts or in other PID namespaces (two containers):
// the lock lives in shared memory. The file grows as needed and never shrinks; freed pages are used again.

import { setImmediate as nextTick } from 'node:timers/promises';
import { getLastVersion } from 'lmdb';
import { LRUCache } from 'lru-cache';
import { systemClock } from '../../clock.ts';
import { COMMON_LIMITS, growing } from '../../common-limits.ts';
import { checkKey, checkLimit, closedError } from '../../given.ts';
import type { CommitResult, SessionCommit, SnapshotStore } from '../store.ts';
import { writeHold } from './hold.ts';
import type { LmdbOptions } from './options.ts';
import {
  decodeSession,
  encodeSession,
  findReason,
  isEnded,
  openTables,
  readBase,
  readDueAt,
  readExpiresAt,
  readFiled,
  refile,
  splitTimeKey,
  timeKey,
  watchFailures,
} from './tables.ts';

interface SessionEntry {
  /** Its key in the table of sessions. */
  readonly place: string;
  readonly version: number;
  readonly text: string;
}

const LIST_CHUNK = 500;
const PLACES_CACHED = 50_000;
/** Loaded sessions that are kept until they are written. */
const LOADED_KEPT = 512;

/** Opens the store, synchronously; throws ERR_STORE when the folder cannot be used. */
export function openSnapshots({ path, clock = systemClock }: LmdbOptions): SnapshotStore {
  const { gate, root, sessions, places, timers } = openTables(path);
  // A place is never used for a second session, so one that was remembered is right or empty.
  const remembered = new LRUCache<string, string>(growing(PLACES_CACHED));
  const hold = writeHold(path);
  const { guarded, refuse, requireWhole } = watchFailures(path);
  let isClosed = false;

  // What `load` read is what its turn writes over a moment later: the writer checks the version, so it is not read again.
  const cache = new Map<string, SessionEntry | undefined>();

  function keepLoaded(key: string, entry: SessionEntry | undefined): void {
    if (cache.size >= LOADED_KEPT) cache.clear();
    cache.set(key, entry);
  }

  function takeLoaded(key: string): SessionEntry | undefined {
    const entry = cache.has(key) ? cache.get(key) : read(key);
    cache.delete(key);
    return entry;
  }

  function check(key?: string): void {
    if (isClosed) throw closedError('LMDB');
    requireWhole();
    if (key !== undefined) checkKey(key);
  }

  function readAt(place: string): SessionEntry | undefined {
    const text = sessions.get(place);
    return text === undefined ? undefined : { place, version: getLastVersion(), text };
  }

  function read(key: string): SessionEntry | undefined {
    const lastPlace = remembered.get(key);
    const entry = lastPlace === undefined ? undefined : readAt(lastPlace);
    if (entry) return entry;
    const place = places.get(key);
    if (place === undefined) return undefined;
    remembered.set(key, place);
    return readAt(place);
  }

  // lmdb keeps one view of the data for a whole millisecond; another process may have committed, and said so, since.
  function readLatest(key: string): SessionEntry | undefined {
    sessions.resetReadTxn();
    return read(key);
  }

  /** Makes these changes if the entry was not written since it was read. */
  function writeIf({ place, version }: SessionEntry, changes: () => void): Promise<boolean> {
    return gate.run(() => sessions.ifVersion(place, version, changes));
  }

  // `base` makes the new revision: LMDB's version, one higher, minus `base`.
  function replace(
    key: string,
    old: SessionEntry,
    { base, next }: { base: number; next: SessionCommit },
  ): Promise<boolean> {
    const { place, version, text } = old;
    const before = { filed: readFiled(text), dueAt: readDueAt(text) };
    const filed = Math.min(before.filed, next.expiresAt);
    const value = encodeSession(next, { base, filed });
    if (filed === before.filed && next.dueAt === before.dueAt)
      return gate.run(() => sessions.put(place, value, version + 1, version));
    return writeIf(old, () => {
      move(key, place, { filed, value, version: version + 1 });
      setTimer(key, before.dueAt, next.dueAt);
    });
  }

  function create(key: string, next: SessionCommit): Promise<boolean> {
    // A random base: a removed session that is created again never meets the versions of its former life.
    const base = Math.floor(Math.random() * 2 ** 48);
    const filed = next.expiresAt;
    const place = timeKey(filed, key);
    const value = encodeSession(next, { base, filed });
    const changes = () => {
      void places.put(key, place);
      void sessions.put(place, value, base + 1);
      setTimer(key, null, next.dueAt);
    };
    return gate.run(() => places.ifNoExists(key, changes));
  }

  // Within a condition on the old place.
  function move(key: string, from: string, to: { filed: number; value: string; version: number }): void {
    const place = timeKey(to.filed, key);
    if (place !== from) {
      void sessions.remove(from);
      void places.put(key, place);
    }
    void sessions.put(place, to.value, to.version);
  }

  function setTimer(key: string, before: number | null, after: number | null): void {
    if (before === after) return;
    if (before !== null) void timers.remove(timeKey(before, key));
    if (after !== null) void timers.put(timeKey(after, key), '');
  }

  function erase(key: string, entry: SessionEntry): Promise<boolean> {
    remembered.delete(key);
    return writeIf(entry, () => {
      void sessions.remove(entry.place);
      void places.remove(key);
      setTimer(key, readDueAt(entry.text), null);
    });
  }

  // Each condition makes the step void when the session was written since it was read; the next sweep sees it again.
  async function sweepPlace(place: string, now: number): Promise<boolean> {
    const old = readAt(place);
    if (!old) return false;
    const { key } = splitTimeKey(place);
    const { text, version } = old;
    if (readExpiresAt(text) <= now) return erase(key, old);
    await writeIf(old, () => {
      move(key, place, { filed: readExpiresAt(text), value: refile(text), version: version + 1 });
    });
    return false;
  }

  return {
    name: 'lmdb',
    durability: 'power-loss',

    load(key) {
      check(key);
      try {
        const entry = readLatest(key);
        keepLoaded(key, entry);
        if (entry === undefined || readExpiresAt(entry.text) <= clock.now()) return undefined;
        return decodeSession(entry.text, entry.version);
      } catch (error) {
        throw refuse('load', error);
      }
    },

    async commit(key, expected, next): Promise<CommitResult> {
      check(key);
      try {
        // The first look may be a moment old; it is trusted only when it agrees, and then the writer checks it again.
        for (let entry = takeLoaded(key), latest = false; ; entry = readLatest(key), latest = true) {
          const live = entry !== undefined && readExpiresAt(entry.text) > clock.now();
          const revision = live ? entry!.version - readBase(entry!.text) : 0;
          if (revision === expected) {
            // An expired session gives way to one whose revisions start at 1, while LMDB's version goes on.
            const write = () =>
              entry ? replace(key, entry, { base: entry.version - expected, next }) : create(key, next);
            if (await hold.run(write, Boolean)) return { kind: 'committed', revision: expected + 1 };
            check();
          } else if (latest) return { kind: 'conflict', revision };
        }
      } catch (error) {
        throw refuse('commit', await findReason(error));
      }
    },

    remove: (key) =>
      guarded('remove', async () => {
        for (;;) {
          check(key);
          const entry = readLatest(key);
          if (entry === undefined) return false;
          if (await erase(key, entry)) return readExpiresAt(entry.text) > clock.now();
        }
      }),

    list: ({ limit = 100, cursor } = {}) =>
      guarded('list', async () => {
        check(cursor);
        checkLimit(limit);
        const keys: string[] = [];
        for (let after = cursor ?? ''; ; await nextTick()) {
          check();
          sessions.resetReadTxn();
          const now = clock.now();
          let count = 0;
          for (const { key, value } of places.getRange({ start: after, exclusiveStart: true, limit: LIST_CHUNK })) {
            count++;
            after = key;
            const text = sessions.get(value);
            if (text === undefined || isEnded(text) || readExpiresAt(text) <= now) continue;
            if (keys.length === limit) return { keys, next: keys[limit - 1]! };
            keys.push(key);
          }
          if (count < LIST_CHUNK) return { keys };
        }
      }),

    due: (now, limit) =>
      guarded('due', async () => {
        check();
        checkLimit(limit);
        sessions.resetReadTxn();
        const keys: string[] = [];
        for (const entry of timers.getKeys({ start: '', end: timeKey(now + 1, '') })) {
          const { key } = splitTimeKey(entry);
          const session = read(key);
          if (session && readExpiresAt(session.text) > now) keys.push(key);
          if (keys.length === limit) break;
        }
        return keys;
      }),

    sweep: (now, limit) =>
      guarded('sweep', async () => {
        checkLimit(limit);
        for (let swept = 0; ; ) {
          check();
          const batch = Math.min(limit - swept, COMMON_LIMITS.sweepBatch);
          sessions.resetReadTxn();
          const due = [...sessions.getKeys({ start: '', end: timeKey(now + 1, ''), limit: batch })];
          const outcomes = await Promise.all(due.map((place) => sweepPlace(place, now)));
          swept += outcomes.filter(Boolean).length;
          if (swept === limit || due.length < batch) return swept;
        }
      }),

    ping: () =>
      guarded('ping', async () => {
        check();
        readLatest('\0');
      }),

    async close() {
      if (isClosed) return;
      isClosed = true;
      await root.close();
      gate.close();
    },
  };
}
