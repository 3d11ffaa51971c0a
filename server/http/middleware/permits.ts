// Permits: requests that a process may let pass by itself, fetched in batches from a count that it shares with others.

import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../lib/clock.ts';
import { growing } from '../../../lib/common-limits.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';

/** What a shared count answers. */
export interface CountAnswer {
  /** Requests that may pass, of those that were asked for; fewer: no more before the window ends. */
  readonly passing: number;
  /** Milliseconds to the end of the window, at least 1. */
  readonly leftMs: number;
}

/** Counts so many requests of a bucket together. */
export type AskForPermits = (bucket: string, count: number) => Promise<CountAnswer>;

export interface Permits {
  /** Takes one request of what is left; false when nothing is. `now`: by the monotonic clock. */
  take(bucket: string, now: number): boolean;
  /** Waits for one of a new batch: 0, or the milliseconds to the end of the window. Rejects with what `ask` rejects with. */
  fetch(bucket: string): Promise<number>;
}

/** How many permits are fetched at a time: one thousandth of the limit, at least one and at most SERVER_LIMITS.permitBatch. */
export function computeBatchSize(max: number): number {
  return Math.max(1, Math.min(SERVER_LIMITS.permitBatch, Math.floor(max / 1_000)));
}

interface Waiter {
  readonly resolve: (waitMs: number) => void;
  readonly reject: (error: unknown) => void;
}

export interface PermitOptions {
  readonly ask: AskForPermits;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Permits in batches of this size, or of as many as wait for one when they are more. A batch ends with its window. */
export function createPermits(batch: number, { ask, clock }: PermitOptions): Permits {
  const permits = new LRUCache<string, { left: number; readonly until: number }>(growing(SERVER_LIMITS.countedClients));
  const lines = new Map<string, Waiter[]>();

  async function serve(bucket: string, line: Waiter[]): Promise<void> {
    try {
      // Requests that come while a batch is on its way wait for the next.
      while (line.length) {
        const count = Math.max(batch, line.length);
        const { passing, leftMs } = await ask(bucket, count);
        const served = line.splice(0, passing);
        for (const { resolve } of served) resolve(0);
        if (passing < count) for (const { resolve } of line.splice(0)) resolve(leftMs);
        permits.set(bucket, { left: passing - served.length, until: clock.monotonic() + leftMs });
      }
    } catch (error) {
      for (const { reject } of line) reject(error);
    } finally {
      lines.delete(bucket);
    }
  }

  return {
    take(bucket, now) {
      // That it was asked for is seen when it is filled again.
      const one = permits.peek(bucket);
      if (!one || one.left === 0 || now >= one.until) return false;
      one.left--;
      return true;
    },
    fetch: (bucket) =>
      new Promise((resolve, reject) => {
        const line = lines.get(bucket) ?? [];
        if (line.push({ resolve, reject }) > 1 || lines.has(bucket)) return;
        lines.set(bucket, line);
        void serve(bucket, line);
      }),
  };
}
