// Sessions in Redis, shared by all instances: single server, Sentinel or Cluster.

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

/** Options of `redisSnapshots`. */
export type RedisSnapshotsOptions = RedisAt & {
  /** Prefix of all keys: letters, digits, `:._-`. @default 'twinline:' */
  readonly prefix?: string;
  /** Decides what has expired. @default systemClock */
  readonly clock?: Pick<Clock, 'now'>;
  /** The result of {@link redisDurability}, which {@link openRedisSnapshots} calls. @default 'memory' */
  readonly durability?: Durability;
  /**
   * How long timers returned by `due` are hidden from other instances, in milliseconds; 0 returns all timers to all
   * instances.
   * @default STORE_LIMITS.redisClaimMs
   */
  readonly claimMs?: number;
};

/**
 * Like {@link redisSnapshots}, but first determines how durable Redis is. Rejects with ERR_STORE when Redis does not answer.
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
 * Opens the store; returns immediately and connects in the background. A commit is one script that compares, writes and
 * updates the indexes atomically on one node; a load is one GET. A commit that failed without a reply may have been applied:
 * load again and compare the turn key.  `due` gives each timer to one instance at a time: timers returned to this store are
 * hidden from others for `claimMs`, so that work is not done twice. If this instance dies, they reappear after that.  The
 * store's clock decides what has expired, and `sweep` deletes it. Redis itself deletes only what nobody has swept for
 * STORE_LIMITS.redisGraceMs, so clocks may differ by that much. Throws ERR_CONFIG for an invalid URL or prefix.
 * @example
 * const store = redisSnapshots({ url: process.env.REDIS_URL!, prefix: 'tea:' });
 * const engine = createEngine({ store, conversations: [compileFlow(await loadFlow('hello.flow.json'))] });
 * await takeTurn(engine, { key: 'ann', decide: () => ({ kind: 'begin', conversation: 'hello' }) });
 * (await store.list()).keys; // → ['ann']
 * await store.close();
 */
export function redisSnapshots(options: RedisSnapshotsOptions): SnapshotStore {
  // Checks the prefix first, so that no connection stays open when it is refused.
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
    // A relative TTL, because Redis's clock differs from the store's, which stands still in tests.
    const ttlMs = Math.max(0, findExpiry(next) - now) + STORE_LIMITS.redisGraceMs;
    // Every argument costs, so the script parses the rest from the head of the session's text.
    const args = [now, ttlMs, expected, encodeSession(next, expected + 1)] as const;
    let result = isPlain(expected, next) ? await scripts.commitPlain(place, ...args) : NEEDS_INDEXES;
    if (result === NEEDS_INDEXES) result = await scripts.commit(place, list, expiry, timers, ...args, key);
    if (result === WRITTEN) return { kind: 'committed', revision: expected + 1 };
    return { kind: 'conflict', revision: result as number };
  }

  // Buckets with entries up to `now` in an index, and their number.
  async function withEntries(index: 'timers' | 'expiry', now: number): Promise<Share[]> {
    const counts = await Promise.all(buckets.map((bucket) => client.zcount(bucket[index], '-inf', now)));
    return buckets.map((bucket, at) => ({ bucket, count: counts[at]! })).filter(({ count }) => count > 0);
  }

  async function dueIn({ sessions, timers, claim }: Bucket, now: number, count: number): Promise<Timed[]> {
    // Randomised, so that instances that share the work do not all retry at the same moment.
    const hiddenMs = Math.ceil(claimMs * (0.5 + Math.random() / 2));
    const answer = (await scripts.due(timers, claim, sessions, now, count, owner, hiddenMs)) as string[];
    return Array.from({ length: answer.length / 2 }, (_, at) => ({
      key: answer[at * 2]!,
      at: Number(answer[at * 2 + 1]),
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

// Replies of the commit script other than a revision.
const WRITTEN = -1;
const NEEDS_INDEXES = -2;

// Whether the session most likely needs no index update.
function isPlain(expected: number, { ended, dueAt }: SessionCommit): boolean {
  return expected > 0 && !ended && dueAt === null;
}

interface Share {
  readonly bucket: Bucket;
  readonly count: number;
}

/** Distributes `limit` over the buckets. */
function shareOut(pieces: readonly Share[], limit: number): Share[] {
  const shares: Share[] = [];
  let rest = limit;
  for (const { bucket, count } of pieces) {
    const share = Math.min(rest, count, COMMON_LIMITS.sweepBatch);
    if (share > 0) shares.push({ bucket, count: share });
    rest -= share;
  }
  return shares;
}

/** Reads the first `count` items of a bucket, in order. */
type ReadFirst<T> = (count: number) => Promise<readonly T[]>;

// More than an even share, because items are never evenly distributed and a second read costs a round trip.
const SHARE = 1.25;
const SPARE = 8;

/** The first `limit` items of all buckets. Reads a share of each bucket, and more only where it can matter. */
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
    const keys = reads
      .flatMap(({ items }) => items)
      .sort(compare)
      .slice(0, limit);
    const last = keys.length === limit ? keys[limit - 1] : undefined;
    // A bucket that returned its whole share may have more items that come before the last one.
    due = reads.filter(({ items, count }) => {
      if (items.length < count || count === limit) return false;
      return last === undefined || compare(items.at(-1)!, last) < 0;
    });
    if (!due.length) return keys;
    for (const one of due) one.count = Math.min(limit, one.count * 4);
  }
}
