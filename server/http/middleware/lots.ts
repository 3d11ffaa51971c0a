// Requests that a process may let pass by itself, taken a lot at a time from a count that it shares with others.

import { LRUCache } from 'lru-cache';
import { SERVER_LIMITS } from '../../config/limits.ts';

/** What a shared count answers. */
export interface CountAnswer {
  /** Requests that may pass, of those that were asked for; fewer: no more before the window ends. */
  readonly passing: number;
  /** Milliseconds to the end of the window, at least 1. */
  readonly leftMs: number;
}

/** Counts so many requests of a bucket together. */
export type AskForLot = (bucket: string, count: number) => Promise<CountAnswer>;

export interface Lots {
  /** Takes one request of what is left; false when nothing is. `now`: milliseconds of performance.now(). */
  take(bucket: string, now: number): boolean;
  /** Waits for one of a new lot: 0, or the milliseconds to the end of the window. Rejects with what `ask` rejects with. */
  draw(bucket: string): Promise<number>;
}

/** How many requests are taken at a time: one thousandth of the limit, at least one and at most SERVER_LIMITS.countedLot. */
export function computeLot(max: number): number {
  return Math.max(1, Math.min(SERVER_LIMITS.countedLot, Math.floor(max / 1_000)));
}

interface Waiter {
  readonly resolve: (waitMs: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Lots of so many requests, or of as many as wait for one when they are more. A lot ends with its window. */
export function createLots(lot: number, ask: AskForLot): Lots {
  const held = new LRUCache<string, { left: number; readonly until: number }>({ max: SERVER_LIMITS.countedClients });
  const lines = new Map<string, Waiter[]>();

  async function serve(bucket: string, line: Waiter[]): Promise<void> {
    try {
      // Those who come while a lot is on its way wait for the next.
      while (line.length) {
        const count = Math.max(lot, line.length);
        const { passing, leftMs } = await ask(bucket, count);
        const served = line.splice(0, passing);
        for (const { resolve } of served) resolve(0);
        if (passing < count) for (const { resolve } of line.splice(0)) resolve(leftMs);
        held.set(bucket, { left: passing - served.length, until: performance.now() + leftMs });
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
      const one = held.peek(bucket);
      if (!one || one.left === 0 || now >= one.until) return false;
      one.left--;
      return true;
    },
    draw: (bucket) =>
      new Promise((resolve, reject) => {
        const line = lines.get(bucket) ?? [];
        if (line.push({ resolve, reject }) > 1 || lines.has(bucket)) return;
        lines.set(bucket, line);
        void serve(bucket, line);
      }),
  };
}
