// The time of day as a store on the network has it, and how far that is from ours. Instances whose clocks differ keep sessions in Redis
// by the clock of Redis, so that none ends a session because its own clock is ahead.

import { type Clock, systemClock } from '../../lib/clock.ts';

/** A clock that goes on by itself, and is set by the store each time that it is measured. */
export interface StoreClock extends Clock {
  /** Its time minus ours, in milliseconds, good to half a round trip. */
  offsetMs(): number;
  /** Asks the store. Rejects when that does not answer. */
  measure(): Promise<void>;
}

/** The clock of a store that others use, too. */
export interface SharedClock {
  /** What the store keeps. */
  readonly keeps: 'sessions' | 'documents';
  /** What it is, such as `redis`. */
  readonly kind: string;
  readonly clock: Pick<StoreClock, 'offsetMs' | 'measure'>;
}

/** Answers that took longer say too little about when the store looked at its clock. */
const ROUND_TRIP_MS = 1_000;

/** Resolves with a clock that was measured once. `readTime` asks the store, in milliseconds since 1970. */
export async function storeClock(readTime: () => Promise<number>, own: Clock = systemClock): Promise<StoreClock> {
  /** The store's time when our monotonic clock stood at 0: so nobody who sets the clock of this machine sets this one. */
  let base: number | undefined;

  async function measure(): Promise<void> {
    const begun = own.monotonic();
    const theirs = await readTime();
    const roundTripMs = own.monotonic() - begun;
    const measured = theirs - begun - roundTripMs / 2;
    if (base === undefined) base = measured;
    // Within what a measurement can tell it is right: to set it again would only make it jump to and fro.
    else if (roundTripMs <= ROUND_TRIP_MS && Math.abs(measured - base) > roundTripMs / 2 + 1) base = measured;
  }

  await measure();
  const now = () => Math.round(base! + own.monotonic());
  return { now, monotonic: own.monotonic, wait: own.wait, offsetMs: () => now() - own.now(), measure };
}

/** Whether a store may be measured by this clock: one that a program or a test gives is the time for all. */
export const isMachineClock = (clock: Clock | undefined): boolean => clock === undefined || clock === systemClock;
