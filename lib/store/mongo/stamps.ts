// Stamps that order writes: by the clock, and never against what was seen before.

import type { Clock } from '../../clock.ts';

/** Stamps of one millisecond; the product with milliseconds stays a whole number that a double holds, until 2248. */
const PER_MS = 1_024;

/**
 * A hybrid logical clock. A stamp is greater than every one that this instance made or saw before; so writes that know
 * of each other are in order whatever the clocks of their instances say, others as well as these clocks agree.
 */
export interface Stamps {
  next(): number;
  /** Takes note of a stamp that was read. */
  saw(stamp: number): void;
}

export function openStamps(clock: Pick<Clock, 'now'>): Stamps {
  let last = 0;
  return {
    next() {
      last = Math.max(clock.now() * PER_MS, last + 1);
      return last;
    },
    saw(stamp) {
      if (stamp > last) last = stamp;
    },
  };
}
