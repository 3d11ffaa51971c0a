// How often one client may ask all instances together: a count in Redis, and one of this process while Redis is away.
//
// koa-ratelimit's own driver for Redis keeps an entry per request, under the clock of the instance that asks: much memory for large
// limits, requests of one microsecond count once, and clocks that differ shift the window. This is one number per client.

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
const PREFIX = 'twinline:rate:';

// A window begins with its first request and is measured by the clock of Redis. Of a batch that is counted, answers how
// many may pass, and the milliseconds that are left of the window.
const COUNT = `
  local batch = tonumber(ARGV[3])
  local count = redis.call('INCRBY', KEYS[1], batch)
  if count == batch then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
  local over = math.max(0, count - tonumber(ARGV[2]))
  return {math.max(0, batch - over), math.max(1, redis.call('PTTL', KEYS[1]))}`;

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
  let retryAt: number | undefined;

  const ask: AskForPermits = async (bucket, requests) => {
    const shared = redis.run('count a request', () => count(PREFIX + bucket, windowMs, max, requests));
    const [passing, leftMs] = (await within(shared, patienceMs, clock)) as [number, number];
    if (retryAt !== undefined) onBack?.();
    retryAt = undefined;
    if (passing < requests) waiting.set(bucket, clock.monotonic() + leftMs);
    return { passing, leftMs };
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

function within<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const late = () => reject(new TwinlineError('ERR_TIMEOUT', `Redis did not count a request within ${ms} ms.`));
    void clock.wait(ms, over.signal).then(() => over.signal.aborted || late());
    void work.then(resolve, reject).finally(() => over.abort());
  });
}
