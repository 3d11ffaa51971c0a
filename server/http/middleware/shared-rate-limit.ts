// How often one client may ask all instances together: a count in Redis, and one of this process while Redis is away.
//
// koa-ratelimit's own driver for Redis keeps an entry per request, under the clock of the instance that asks: much memory for large
// limits, requests of one microsecond count once, and clocks that differ shift the window. This is one number per client.

import type { Cluster, Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../lib/clock.ts';
import { growing } from '../../../lib/common-limits.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import type { RedisConnection } from '../../../lib/store/redis/connection.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { type AskForPermits, computeBatchSize, createPermits } from './permits.ts';
import type { Limiter, LimiterOptions } from './rate-limit.ts';

export interface SharedLimiterOptions extends LimiterOptions {
  readonly clock: Clock;
  readonly redis: Pick<RedisConnection, 'run' | 'script'>;
  /** Counts while Redis is away. */
  readonly local: Limiter;
  /** Milliseconds that Redis may take to count. @default SERVER_LIMITS.sharedCountMs */
  readonly patienceMs?: number;
  /** Redis did not count in time: from now on, and until it does again, `local` counts. */
  readonly onAway?: (error: unknown) => void;
  readonly onBack?: () => void;
}

/** While Redis is away, one request in so many milliseconds finds out whether it is back. */
const RETRY_MS = 1_000;
/** A window that ends sooner counts as over here: it may end in Redis while the request is on its way. */
const LAST_MS = 1_000;
const PREFIX = 'twinline:rate:';

// A window begins with its first request and is measured by the clock of Redis. → the count, and the milliseconds that are left of the
// window. A count without an end (see `add`) gets one.
const COUNT = `
  local count = redis.call('INCRBY', KEYS[1], ARGV[2])
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 then
    left = ARGV[1]
    redis.call('PEXPIRE', KEYS[1], left)
  end
  return {count, math.max(1, tonumber(left))}`;

/**
 * One count per bucket for all instances on the same Redis. Never rejects because of Redis, nor waits for it long.
 *
 * Of a limit of 2,000 and more an instance takes several requests at a time, see {@link computeBatchSize}: together they never let
 * more than `max` pass, and what an instance has taken and does not give out is lost to the others in this window.
 */
export function sharedRateLimiter(options: SharedLimiterOptions): Limiter {
  const { redis, local, max, windowMs, clock, patienceMs = SERVER_LIMITS.sharedCountMs, onAway, onBack } = options;
  const count = redis.script(COUNT, 1);
  const batch = computeBatchSize(max);
  // Clients that must wait are refused without asking again: a flood of refused requests costs Redis nothing.
  const waiting = new LRUCache<string, number>(growing(SERVER_LIMITS.countedClients));
  const windowEnds = new LRUCache<string, number>(growing(SERVER_LIMITS.countedClients));
  const within = patience(patienceMs, clock);
  let retryAt: number | undefined;

  async function begin(bucket: string, requests: number): Promise<number> {
    const [total, leftMs] = (await count(PREFIX + bucket, windowMs, requests)) as [number, number];
    windowEnds.set(bucket, clock.monotonic() + leftMs);
    return total;
  }

  // In a window that is known, without the script: it costs Redis ten times as much as the command, and most requests come here.
  async function add(client: Redis | Cluster, bucket: string, requests: number): Promise<number> {
    const total = await client.incrby(PREFIX + bucket, requests);
    // Redis has lost the window, and this was the first request of a new one.
    return total === requests ? begin(bucket, 0) : total;
  }

  const ask: AskForPermits = async (bucket, requests) => {
    const isKnown = (windowEnds.get(bucket) ?? 0) - clock.monotonic() > LAST_MS;
    const total = await within(
      redis.run('count a request', (client) => (isKnown ? add(client, bucket, requests) : begin(bucket, requests))),
    );
    if (retryAt !== undefined) onBack?.();
    retryAt = undefined;
    const passing = Math.max(0, requests - Math.max(0, total - max));
    const until = windowEnds.get(bucket)!;
    if (passing < requests) waiting.set(bucket, until);
    return { passing, leftMs: Math.max(1, until - clock.monotonic()) };
  };
  const askForOne = async (bucket: string): Promise<number> => {
    const { passing, leftMs } = await ask(bucket, 1);
    return passing > 0 ? 0 : leftMs;
  };
  const permits = createPermits(batch, { ask, clock });
  const askFor = batch === 1 ? askForOne : permits.fetch;

  // koa-ratelimit hands out its record and reads it a moment later: counted at the same moment, all would see the last
  // of them. When Redis goes away, all that have asked it come here at the same moment.
  let line: Promise<unknown> = Promise.resolve();
  const countHere: Limiter = (bucket) => {
    const own = line.then(() => local(bucket));
    line = own.catch(() => {});
    return own;
  };

  return async (bucket) => {
    const now = clock.monotonic();
    if (permits.take(bucket, now)) return 0;
    if (retryAt !== undefined && now < retryAt) return countHere(bucket);
    const until = waiting.get(bucket);
    if (until !== undefined && now < until) return seconds(until - now);
    // The others go on locally while this one finds out.
    if (retryAt !== undefined) retryAt = now + RETRY_MS;
    try {
      return seconds(await askFor(bucket));
    } catch (error) {
      if (retryAt === undefined) onAway?.(error);
      retryAt = clock.monotonic() + RETRY_MS;
      return countHere(bucket);
    }
  };
}

const seconds = (ms: number) => Math.ceil(ms / 1_000);

/**
 * Rejects what takes longer than `ms`. All wait equally long, so that one timer, for the oldest, is enough: a timer and a signal for
 * each request cost more than its count.
 */
function patience(ms: number, clock: Clock): <T>(work: Promise<T>) => Promise<T> {
  const line = new Set<{ readonly until: number; readonly giveUp: () => void }>();
  let isWatching = false;

  async function watch(): Promise<void> {
    isWatching = true;
    for (const { until } of line) {
      await clock.wait(until - clock.monotonic());
      for (const one of line) {
        if (one.until > clock.monotonic()) break;
        line.delete(one);
        one.giveUp();
      }
    }
    isWatching = false;
  }

  return (work) =>
    new Promise((resolve, reject) => {
      const late = () => reject(new TwinlineError('ERR_TIMEOUT', `Redis did not count a request within ${ms} ms.`));
      const one = { until: clock.monotonic() + ms, giveUp: late };
      line.add(one);
      if (!isWatching) void watch();
      const leave = () => void line.delete(one);
      work.then(
        (value) => {
          leave();
          resolve(value);
        },
        (error) => {
          leave();
          reject(error);
        },
      );
    });
}
