// How often one client may ask: koa-ratelimit, on a memory that does not grow with every address that somebody makes up.

import type { Context } from 'koa';
import ratelimit from 'koa-ratelimit';
import { LIMITS } from '../../lib/limits.ts';

/** Counts one request under `bucket`: 0 when it may pass, else the seconds to wait, at least 1. */
export type Limiter = (ctx: Context, bucket: string) => Promise<number>;

export interface LimiterOptions {
  /** Requests per window. */
  readonly max: number;
  readonly windowMs: number;
}

const BUCKET = Symbol('bucket');

/** One count per bucket for all routes that use this limiter. */
export function rateLimiter({ max, windowMs }: LimiterOptions): Limiter {
  const limit = ratelimit({
    driver: 'memory',
    db: new LastSeenMap(LIMITS.countedClients),
    max,
    duration: windowMs,
    disableHeader: true,
    id: (ctx) => (ctx as unknown as { [BUCKET]: string })[BUCKET],
  });
  return async (ctx, bucket) => {
    (ctx as unknown as { [BUCKET]: string })[BUCKET] = bucket;
    let passed = false;
    await limit(ctx, async () => {
      passed = true;
    });
    return passed ? 0 : Math.max(1, ctx.state.rateLimit.after);
  };
}

/** Of all that was put in, the `max` entries that were asked for last. koa-ratelimit insists on a Map. */
export class LastSeenMap<V> extends Map<string, V> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override get(key: string): V | undefined {
    const value = super.get(key);
    if (value === undefined) return undefined;
    super.delete(key);
    super.set(key, value);
    return value;
  }

  override set(key: string, value: V): this {
    if (this.size >= this.#max && !this.has(key)) super.delete(super.keys().next().value!);
    return super.set(key, value);
  }
}
