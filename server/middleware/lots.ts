// Requests that a process may let pass by itself, taken a lot at a time from a count that it shares with others.

import { LIMITS } from '../../lib/limits.ts';
import { LastSeenMap } from './last-seen-map.ts';

/** What a shared count answers. */
export interface Told {
  /** Requests that may pass; 0: none before the window ends. */
  readonly passing: number;
  /** Milliseconds to the end of the window, at least 1. */
  readonly leftMs: number;
}

export interface Lots {
  /** Takes one request of what is left; false when nothing is. `now`: milliseconds of performance.now(). */
  take(bucket: string, now: number): boolean;
  /** Asks for a lot, once for all who wait for one. Rejects with what `ask` rejects with. */
  refill(bucket: string): Promise<Told>;
}

/** How many requests are taken at a time: one thousandth of the limit, at least one and at most LIMITS.countedLot. */
export function lotOf(max: number): number {
  return Math.max(1, Math.min(LIMITS.countedLot, Math.floor(max / 1_000)));
}

/** Lots that come from `ask`. A lot ends with its window. */
export function createLots(ask: (bucket: string) => Promise<Told>): Lots {
  const held = new LastSeenMap<{ left: number; readonly until: number }>(LIMITS.countedClients);
  const asking = new Map<string, Promise<Told>>();

  async function fetch(bucket: string): Promise<Told> {
    try {
      const told = await ask(bucket);
      held.set(bucket, { left: told.passing, until: performance.now() + told.leftMs });
      return told;
    } finally {
      asking.delete(bucket);
    }
  }

  return {
    take(bucket, now) {
      // That it was asked for is seen when it is filled again.
      const lot = held.peek(bucket);
      if (!lot || lot.left === 0 || now >= lot.until) return false;
      lot.left--;
      return true;
    },
    refill(bucket) {
      const asked = asking.get(bucket) ?? fetch(bucket);
      asking.set(bucket, asked);
      return asked;
    },
  };
}
