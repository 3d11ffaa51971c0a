// How often one client may ask: koa-ratelimit, on a memory that does not grow with every address that is made up.

import type { Context } from 'koa';
import ratelimit from 'koa-ratelimit';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../lib/clock.ts';
import { growing } from '../../../lib/common-limits.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';

/** Counts one request under `bucket`: 0 when it may pass, else the seconds to wait, at least 1. */
export type Limiter = (bucket: string) => Promise<number>;

/** The same, and under the network that a client is in. */
export type ClientLimiter = (bucket: string, network?: string) => Promise<number>;

export interface LimiterOptions {
  /** Requests per window. */
  readonly max: number;
  readonly windowMs: number;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** All that koa-ratelimit sees of a request; what it would answer, the doors say in their own words. */
class Counted {
  readonly bucket: string;
  readonly state: { rateLimit?: unknown } = {};

  constructor(bucket: string) {
    this.bucket = bucket;
  }

  set(): void {}
}

/** One count per bucket for all routes that use this limiter. */
export function rateLimiter({ max, windowMs, clock }: LimiterOptions): Limiter {
  const windows = new Windows(SERVER_LIMITS.countedClients, { windowMs, clock });
  const limit = ratelimit({
    driver: 'memory',
    db: windows,
    max,
    // It is the memory that ends windows: the library knows no clock but that of the machine.
    duration: Number.POSITIVE_INFINITY,
    disableHeader: true,
    id: (ctx) => (ctx as unknown as Counted).bucket,
  });
  return async (bucket) => {
    const requests = new Counted(bucket);
    await limit(requests as unknown as Context, pass);
    const { rateLimit } = requests.state;
    return rateLimit === undefined ? 0 : windows.secondsLeft(bucket);
  };
}

async function pass(): Promise<void> {}

/**
 * The bounded memory of koa-ratelimit, which insists on a Map: of all that was put in, the `max` entries that were asked for last.
 * Every call takes the same time, however many entries there are: a plain Map that is put in order by `delete` and `set` must skip the
 * holes that these leave.
 */
export class LastSeenMap<V extends object> extends Map<string, V> {
  readonly #entries: LRUCache<string, V>;

  constructor(max: number) {
    super();
    this.#entries = new LRUCache(growing(max));
  }

  override get size(): number {
    return this.#entries.size;
  }

  override get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  override has(key: string): boolean {
    return this.#entries.has(key);
  }

  override set(key: string, value: V): this {
    this.#entries.set(key, value);
    return this;
  }

  override delete(key: string): boolean {
    return this.#entries.delete(key);
  }

  override clear(): void {
    this.#entries.clear();
  }

  override keys(): MapIterator<string> {
    return this.#entries.keys() as MapIterator<string>;
  }

  override values(): MapIterator<V> {
    return this.#entries.values() as MapIterator<V>;
  }

  override entries(): MapIterator<[string, V]> {
    return this.#entries.entries() as MapIterator<[string, V]>;
  }

  override [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries();
  }

  override forEach(look: (value: V, key: string, map: Map<string, V>) => void): void {
    for (const [key, value] of this.entries()) look(value, key, this);
  }
}

/** Where koa-ratelimit keeps what is left of the window of a bucket: it is there until the window ends. */
class Windows extends LastSeenMap<{ until?: number }> {
  readonly #windowMs: number;
  readonly #clock: Pick<Clock, 'monotonic'>;

  constructor(max: number, { windowMs, clock }: Pick<LimiterOptions, 'windowMs' | 'clock'>) {
    super(max);
    this.#windowMs = windowMs;
    this.#clock = clock;
  }

  override get(key: string): { until?: number } | undefined {
    const window = super.get(key);
    if (!window || this.#clock.monotonic() < window.until!) return window;
    this.delete(key);
    return undefined;
  }

  /** Begins a window. */
  override set(key: string, window: { until?: number }): this {
    window.until = this.#clock.monotonic() + this.#windowMs;
    return super.set(key, window);
  }

  /** Until the window of a bucket ends, at least 1. */
  secondsLeft(bucket: string): number {
    const { until = 0 } = super.get(`limit:${bucket}`) ?? {};
    return Math.max(1, Math.ceil((until - this.#clock.monotonic()) / 1_000));
  }
}
