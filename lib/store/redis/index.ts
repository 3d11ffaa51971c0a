// Sessions in Redis: shared by every instance on every machine that reaches it; single, Sentinel or Cluster.

import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { checkKey, checkLimit, requireGiven } from '../../given.ts';
import { STORE_LIMITS } from '../limits.ts';
import { byTime, compareText, type Timed } from '../memory/sorted.ts';
import type { CommitResult, Durability, SessionCommit, SnapshotStore, StoredSession } from '../store.ts';
import { type RedisAt, type RedisConnection, shareConnection } from './connection.ts';
import { redisDurability } from './durability.ts';
import {
  type Bucket,
  decodeSession,
  encodeSession,
  findExpiry,
  type Places,
  placesUnder,
  REDIS_PREFIX,
  sessionScripts,
} from './layout.ts';

export { type RedisChannelOptions, redisChannel } from './channel.ts';
export { connectRedis, type RedisAt, type RedisConnection, type RedisConnectionOptions } from './connection.ts';
export { redisDurability } from './durability.ts';
export { openRedisLogs, type RedisLogsOptions, redisLogs } from './logs.ts';

/** Options of the sessions in Redis. */
export type RedisSnapshotsOptions = RedisAt & {
  /** What every key in Redis begins with: letters, digits, `:._-`. @default 'twinline:' */
  readonly prefix?: string;
  /** Decides what has expired. @default the system's clock */
  readonly clock?: Pick<Clock, 'now'>;
  /** What {@link redisDurability} said; {@link openRedisSnapshots} asks it. @default 'memory' */
  readonly durability?: Durability;
  /**
   * Milliseconds for which timers that `due` gave to one instance are not given to others; 0: all get all of them.
   * @default STORE_LIMITS.redisClaimMs
   */
  readonly claimMs?: number;
};

/**
 * As {@link redisSnapshots}, after asking Redis how durable it is. Rejects with ERR_STORE when it does not answer.
 * @example
 * const store = await openRedisSnapshots({ url: process.env.REDIS_URL! });
 * store.durability; // → 'memory'
 * await store.close();
 */
export async function openRedisSnapshots(options: RedisSnapshotsOptions): Promise<SnapshotStore> {
  const places = namePlaces(options);
  const connection = shareConnection(options);
  try {
    return storeOn(connection, places, { durability: await redisDurability(connection), ...options });
  } catch (error) {
    await connection.close();
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
 * for STORE_LIMITS.redisGraceMs, so clocks may differ by that much. Throws ERR_CONFIG for a bad URL or prefix.
 * @example
 * const store = redisSnapshots({ url: process.env.REDIS_URL!, prefix: 'tea:' });
 * const engine = createEngine({ store, conversations: [compileFlow(await loadFlow('hello.flow.json'))] });
 * await takeTurn(engine, { key: 'ann', decide: () => ({ kind: 'begin', conversation: 'hello' }) });
 * (await store.list()).keys; // → ['ann']
 * await store.close();
 */
export function redisSnapshots(options: RedisSnapshotsOptions): SnapshotStore {
  // In this order: when the prefix is refused, no connection is left open.
  const places = namePlaces(options);
  return storeOn(shareConnection(options), places, options);
}

function namePlaces(options: RedisSnapshotsOptions): Places {
  requireGiven('keep sessions in Redis', options, {});
  return placesUnder(options.prefix ?? REDIS_PREFIX);
}

type StoreOptions = Pick<RedisSnapshotsOptions, 'clock' | 'durability' | 'claimMs'>;

function storeOn(connection: RedisConnection, places: Places, options: StoreOptions): SnapshotStore {
  const { clock = systemClock, durability = 'memory', claimMs = STORE_LIMITS.redisClaimMs } = options;
  const { client, run } = connection;
  const { buckets, of: bucketOf } = places;
  const scripts = sessionScripts(connection);
  const owner = randomUUID();

  function parseLiving(text: string | null): StoredSession | undefined {
    const session = text === null ? undefined : decodeSession(text);
    return session && session.expiresAt > clock.now() ? session : undefined;
  }

  async function write(key: string, expected: number, next: SessionCommit): Promise<CommitResult> {
    const { sessions, list, expiry, timers } = bucketOf(key);
    const place = sessions + key;
    const now = clock.now();
    // How long, not until when: Redis's clock is not the store's, which in tests stands still.
    const ttlMs = Math.max(0, findExpiry(next) - now) + STORE_LIMITS.redisGraceMs;
    // The script reads the rest from the head of the session's text: each argument costs.
    const args = [now, ttlMs, expected, encodeSession(next, expected + 1)] as const;
    let result = isPlain(expected, next) ? await scripts.commitPlain(place, ...args) : NEEDS_INDEXES;
    if (result === NEEDS_INDEXES) result = await scripts.commit(place, list, expiry, timers, ...args, key);
    if (result === WRITTEN) return { kind: 'committed', revision: expected + 1 };
    return { kind: 'conflict', revision: result as number };
  }

  // Buckets with entries up to `now` in one of their indexes, and how many.
  async function withEntries(index: 'timers' | 'expiry', now: number): Promise<Share[]> {
    const counts = await Promise.all(buckets.map((bucket) => client.zcount(bucket[index], '-inf', now)));
    return buckets.map((bucket, at) => ({ bucket, count: counts[at]! })).filter(({ count }) => count > 0);
  }

  async function dueIn({ sessions, timers, claim }: Bucket, now: number, count: number): Promise<Timed[]> {
    // By chance, so that instances that share the work do not all meet again at the same moment.
    const hiddenMs = Math.ceil(claimMs * (0.5 + Math.random() / 2));
    const found = (await scripts.due(timers, claim, sessions, now, count, owner, hiddenMs)) as string[];
    return Array.from({ length: found.length / 2 }, (_, at) => ({
      key: found[at * 2]!,
      at: Number(found[at * 2 + 1]),
    }));
  }

  async function sweepAll(now: number, limit: number): Promise<number> {
    for (let swept = 0; ; ) {
      const shares = shareOut(await withEntries('expiry', now), limit - swept);
      const counts = await Promise.all(
        shares.map(async ({ bucket: { sessions, list, expiry, timers }, count }) => {
          return (await scripts.sweep(list, expiry, timers, sessions, now, count)) as number;
        }),
      );
      swept += counts.reduce((sum, count) => sum + count, 0);
      if (!shares.length || swept >= limit) return swept;
    }
  }

  return {
    name: 'redis',
    durability,

    load: (key) =>
      run('load', () => {
        checkKey(key);
        return client.get(bucketOf(key).sessions + key).then(parseLiving);
      }),

    commit: (key, expected, next) =>
      run('commit', () => {
        checkKey(key);
        return write(key, expected, next);
      }),

    remove: (key) =>
      run('remove', async () => {
        checkKey(key);
        const { sessions, list, expiry, timers } = bucketOf(key);
        return (await scripts.remove(sessions + key, list, expiry, timers, clock.now(), key)) === 1;
      }),

    list: ({ limit = 100, cursor } = {}) =>
      run('list', async () => {
        checkLimit(limit);
        if (cursor !== undefined) checkKey(cursor);
        const after = cursor === undefined ? '-' : `(${cursor}`;
        const now = clock.now();
        const reads = buckets.map(({ list, sessions }) => async (count: number) => {
          return (await scripts.list(list, sessions, now, after, count)) as string[];
        });
        const keys = await mergeFirst(reads, { limit: limit + 1, compare: compareText });
        return keys.length > limit ? { keys: keys.slice(0, limit), next: keys[limit - 1]! } : { keys };
      }),

    due: (now, limit) =>
      run('list what is due', async () => {
        checkLimit(limit);
        const reads = (await withEntries('timers', now)).map(
          ({ bucket }) =>
            (count: number) =>
              dueIn(bucket, now, count),
        );
        return (await mergeFirst(reads, { limit, compare: byTime })).map(({ key }) => key);
      }),

    sweep: (now, limit) =>
      run('sweep', async () => {
        checkLimit(limit);
        return sweepAll(now, limit);
      }),

    ping: connection.ping,
    close: connection.close,
  };
}

// What the script of a commit answers besides a revision.
const WRITTEN = -1;
const NEEDS_INDEXES = -2;

// Whether the session most probably has its place in the indexes already.
function isPlain(expected: number, { ended, dueAt }: SessionCommit): boolean {
  return expected > 0 && !ended && dueAt === null;
}

interface Share {
  readonly bucket: Bucket;
  readonly count: number;
}

/** Who may sweep how many, so that all together do not sweep more than `limit`. */
function shareOut(found: readonly Share[], limit: number): Share[] {
  const shares: Share[] = [];
  let left = limit;
  for (const { bucket, count } of found) {
    const share = Math.min(left, count, COMMON_LIMITS.sweepBatch);
    if (share > 0) shares.push({ bucket, count: share });
    left -= share;
  }
  return shares;
}

/** Reads the first `count` items of one place, in order. */
type ReadFirst<T> = (count: number) => Promise<readonly T[]>;

// More than an even share, since shares are never even; a second reading costs a round trip.
const SHARE = 1.25;
const SPARE = 8;

/** The first `limit` items of all places together. Each place is asked for a share, and again for more when it matters. */
async function mergeFirst<T>(
  places: readonly ReadFirst<T>[],
  { limit, compare }: { readonly limit: number; readonly compare: (a: T, b: T) => number },
): Promise<T[]> {
  const share = Math.min(limit, Math.ceil((limit / places.length) * SHARE) + SPARE);
  const reads = places.map((read) => ({ read, count: share, items: [] as readonly T[] }));
  for (let due = reads; ; ) {
    await Promise.all(
      due.map(async (one) => {
        one.items = await one.read(one.count);
      }),
    );
    const merged = reads
      .flatMap(({ items }) => items)
      .sort(compare)
      .slice(0, limit);
    const last = merged.length === limit ? merged[limit - 1] : undefined;
    // A place that gave all it was asked for may have more that comes before the last one.
    due = reads.filter(({ items, count }) => {
      if (items.length < count || count === limit) return false;
      return last === undefined || compare(items.at(-1)!, last) < 0;
    });
    if (!due.length) return merged;
    for (const one of due) one.count = Math.min(limit, one.count * 4);
  }
}
