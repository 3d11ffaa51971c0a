// How often one client may ask: koa-ratelimit, on a memory that does not grow with every address that somebody makes up.

import type { Context } from 'koa';
import ratelimit from 'koa-ratelimit';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { LastSeenMap } from './last-seen-map.ts';

/** Counts one request under `bucket`: 0 when it may pass, else the seconds to wait, at least 1. */
export type Limiter = (bucket: string) => Promise<number>;

/** The same, and under the network that a client is in. */
export type ClientLimiter = (bucket: string, network?: string) => Promise<number>;

export interface LimiterOptions {
  /** Requests per window. */
  readonly max: number;
  readonly windowMs: number;
}

/** All that koa-ratelimit sees of a request; what it would answer, the doors say in their own words. */
class Counted {
  readonly bucket: string;
  readonly state: { rateLimit?: { after: number } } = {};

  constructor(bucket: string) {
    this.bucket = bucket;
  }

  set(): void {}
}

/** One count per bucket for all routes that use this limiter. */
export function rateLimiter({ max, windowMs }: LimiterOptions): Limiter {
  const limit = ratelimit({
    driver: 'memory',
    db: new LastSeenMap(SERVER_LIMITS.countedClients),
    max,
    duration: windowMs,
    disableHeader: true,
    id: (ctx) => (ctx as unknown as Counted).bucket,
  });
  return async (bucket) => {
    const counted = new Counted(bucket);
    await limit(counted as unknown as Context, pass);
    const { rateLimit } = counted.state;
    return rateLimit === undefined ? 0 : Math.max(1, rateLimit.after);
  };
}

async function pass(): Promise<void> {}
