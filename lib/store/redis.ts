// Sessions in Redis: shared by every instance on every machine that reaches it; single, Sentinel or Cluster.

import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { LIMITS } from '../limits.ts';
import { checkKey, checkLimit, closedError } from './input.ts';
import { connectRedis, type RedisConnection } from './redis-connection.ts';
import { redisDurability } from './redis-durability.ts';
import { type Bucket, placesUnder } from './redis-places.ts';
import { sessionScripts } from './redis-scripts.ts';
import { decodeSession, encodeSession, expiryOf } from './redis-session.ts';
import { mergeFirst } from './redis-walk.ts';
import { compareText } from './sorted.ts';
import type { Durability, SessionCommit, SnapshotStore } from './store.ts';

export { connectRedis, type RedisConnection, type RedisConnectionOptions } from './redis-connection.ts';
export { redisDurability } from './redis-durability.ts';

/** Where Redis is: an address, see {@link connectRedis}, or a connection that others use too and that stays open. */
export type RedisAt = { readonly url: string } | { readonly connection: RedisConnection };

export type RedisSnapshotsOptions = RedisAt & {
  /** What every key in Redis begins with: letters, digits, `:._-`. @default 'twinline:' */
  readonly prefix?: string;
  /** Decides what has expired. @default the system's clock */
  readonly clock?: Pick<Clock, 'now'>;
  /** What {@link redisDurability} said; {@link openRedisSnapshots} asks it. @default 'memory' */
  readonly durability?: Durability;
  /**
   * Milliseconds for which timers that `due` gave to one instance are not given to others; 0: all get all of them.
   * @default LIMITS.redisClaimMs
   */
  readonly claimMs?: number;
};

/** As {@link redisSnapshots}, after asking Redis how durable it is. Rejects with ERR_STORE when it does not answer. */
export async function openRedisSnapshots(options: RedisSnapshotsOptions): Promise<SnapshotStore> {
  const { connection, hangUp } = connectionOf(options);
  try {
    return storeOn(connection, { hangUp, durability: await redisDurability(connection), ...options });
  } catch (error) {
    await hangUp();
    throw error;
  }
}

/**
 * Opens the store; returns at once and connects in the background. A commit is one script that compares, writes and
 * keeps the indexes, in one atomic step on one node; a load is one GET. A commit that was refused because no answer came
 * may have been done: load again and look at the turn key.
 *
 * `due` gives a timer to one instance at a time: what it gave to this store stays hidden from others for `claimMs`, so
 * that instances do not do the same work twice. It comes back by itself when this one dies.
 *
 * The store's clock decides what has expired, and `sweep` deletes it. Redis deletes by itself only what nobody has swept
 * for LIMITS.redisGraceMs, so clocks may differ by that much. Throws ERR_CONFIG for a bad URL or prefix.
 */
export function redisSnapshots(options: RedisSnapshotsOptions): SnapshotStore {
  const { connection, hangUp } = connectionOf(options);
  return storeOn(connection, { hangUp, ...options });
}

function connectionOf(options: RedisAt): { readonly connection: RedisConnection; hangUp(): Promise<void> } {
  if ('connection' in options) return { connection: options.connection, hangUp: async () => {} };
  const connection = connectRedis(options);
  return { connection, hangUp: connection.close };
}

type StoreOptions = Omit<RedisSnapshotsOptions, 'url' | 'connection'> & { hangUp(): Promise<void> };

interface Timed {
  readonly at: number;
  readonly key: string;
}

function storeOn(connection: RedisConnection, options: StoreOptions): SnapshotStore {
  const { clock = systemClock, prefix = 'twinline:', durability = 'memory', claimMs = LIMITS.redisClaimMs } = options;
  const { buckets, of: bucketOf } = placesUnder(prefix);
  const scripts = sessionScripts(connection);
  const owner = randomUUID();
  let running = 0;
  let idle: (() => void) | undefined;
  let closing: Promise<void> | undefined;

  async function guarded<T>(action: string, check: () => void, work: () => Promise<T>): Promise<T> {
    if (closing) throw closedError('Redis');
    check();
    running++;
    try {
      return await connection.run(action, work);
    } finally {
      if (--running === 0) idle?.();
    }
  }

  // Buckets with entries up to `now` in one of their indexes, and how many.
  async function withEntries(index: 'timers' | 'expiry', now: number): Promise<{ bucket: Bucket; count: number }[]> {
    const counts = await Promise.all(buckets.map((bucket) => connection.client.zcount(bucket[index], '-inf', now)));
    return buckets.map((bucket, at) => ({ bucket, count: counts[at]! })).filter(({ count }) => count > 0);
  }

  async function dueIn({ sessions, timers, claim }: Bucket, { now, count }: { now: number; count: number }) {
    // By chance, so that instances that share the work do not all meet again at the same moment.
    const hiddenMs = Math.ceil(claimMs * (0.5 + Math.random() / 2));
    const found = (await scripts.due(timers, claim, sessions, now, count, owner, hiddenMs)) as string[];
    return Array.from(
      { length: found.length / 2 },
      (_, at): Timed => ({ key: found[at * 2]!, at: +found[at * 2 + 1]! }),
    );
  }

  async function sweepIn({ sessions, list, expiry, timers }: Bucket, { now, count }: { now: number; count: number }) {
    return (await scripts.sweep(list, expiry, timers, sessions, now, count)) as number;
  }

  return {
    name: 'redis',
    durability,

    load: (key) =>
      guarded(
        'load',
        () => checkKey(key),
        async () => {
          const text = await connection.client.get(bucketOf(key).sessions + key);
          const session = text === null ? undefined : decodeSession(text);
          return session && session.expiresAt > clock.now() ? session : undefined;
        },
      ),

    commit: (key, expected, next) =>
      guarded(
        'commit',
        () => checkKey(key),
        async () => {
          const now = clock.now();
          const result = await scripts.commit(...commitArgs(bucketOf(key), { key, expected, next, now }));
          return result === -1
            ? { kind: 'committed', revision: expected + 1 }
            : { kind: 'conflict', revision: result as number };
        },
      ),

    remove: (key) =>
      guarded(
        'remove',
        () => checkKey(key),
        async () => {
          const { sessions, list, expiry, timers } = bucketOf(key);
          return (await scripts.remove(sessions + key, list, expiry, timers, clock.now(), key)) === 1;
        },
      ),

    list: ({ limit = 100, cursor } = {}) =>
      guarded(
        'list',
        () => checkList(limit, cursor),
        async () => {
          const after = cursor === undefined ? '-' : `(${cursor}`;
          const now = clock.now();
          const reads = buckets.map(
            ({ list, sessions }) =>
              async (count: number) =>
                (await scripts.list(list, sessions, now, after, count)) as string[],
          );
          const keys = await mergeFirst(reads, { limit: limit + 1, compare: compareText });
          return keys.length > limit ? { keys: keys.slice(0, limit), next: keys[limit - 1]! } : { keys };
        },
      ),

    due: (now, limit) =>
      guarded(
        'list what is due',
        () => checkLimit(limit),
        async () => {
          const reads = (await withEntries('timers', now)).map(
            ({ bucket }) =>
              (count: number) =>
                dueIn(bucket, { now, count }),
          );
          return (await mergeFirst(reads, { limit, compare: byTime })).map(({ key }) => key);
        },
      ),

    sweep: (now, limit) =>
      guarded(
        'sweep',
        () => checkLimit(limit),
        async () => {
          for (let swept = 0; ; ) {
            const shares = shareOut(await withEntries('expiry', now), limit - swept);
            const counts = await Promise.all(shares.map(({ bucket, count }) => sweepIn(bucket, { now, count })));
            swept += counts.reduce((sum, count) => sum + count, 0);
            if (!shares.length || swept >= limit) return swept;
          }
        },
      ),

    ping: () => guarded('ping', () => {}, connection.ping),

    close: () => {
      closing ??= (async () => {
        if (running) await new Promise<void>((resolve) => (idle = resolve));
        await options.hangUp();
      })();
      return closing;
    },
  };
}

interface Write {
  readonly key: string;
  readonly expected: number;
  readonly next: SessionCommit;
  readonly now: number;
}

function commitArgs({ sessions, list, expiry, timers }: Bucket, { key, expected, next, now }: Write) {
  const expiresAt = expiryOf(next);
  // Not the moment itself: Redis's clock is not the store's, and a clock in tests stands still.
  const ttlMs = Math.max(0, expiresAt - now) + LIMITS.redisGraceMs;
  const value = encodeSession(next, expected + 1);
  const state = [expiresAt, next.dueAt ?? '', next.ended ? 1 : 0];
  return [sessions + key, list, expiry, timers, expected, now, key, value, ttlMs, ...state] as const;
}

function checkList(limit: number, cursor: string | undefined): void {
  checkLimit(limit);
  if (cursor !== undefined) checkKey(cursor);
}

/** Who may sweep how many, so that all together do not sweep more than `limit`. */
function shareOut(found: readonly { bucket: Bucket; count: number }[], limit: number) {
  const shares: { bucket: Bucket; count: number }[] = [];
  let left = limit;
  for (const { bucket, count } of found) {
    const share = Math.min(left, count, LIMITS.sweepBatch);
    if (share > 0) shares.push({ bucket, count: share });
    left -= share;
  }
  return shares;
}

function byTime(a: Timed, b: Timed): number {
  return a.at - b.at || compareText(a.key, b.key);
}
