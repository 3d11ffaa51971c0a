// SIM swaps: what is kept of a SIM card, and for how long an account whose number has a new one does less.

import { ACCOUNT_LIMITS } from './limits.ts';

/** The SIM that an account was opened with last. */
export type KnownSim = {
  /** `<kid>:<keyed hash>`. */
  readonly mark: string;
  /** When it took the place of another, in milliseconds since 1970; null when it did not. */
  readonly changedAt: number | null;
};

/**
 * What to keep when an account is opened with a SIM; `marks`: its keyed hashes under every key, parted by spaces, that of the
 * active one first. The first SIM of an account is no change.
 */
export function noteSim(known: KnownSim | undefined, marks: string, now: number): KnownSim {
  const all = marks.split(' ');
  const mark = all[0]!;
  const changedAt = known?.changedAt ?? null;
  // Under a key that is gone nothing can be compared.
  const isComparable = known !== undefined && all.some((one) => readKid(one) === readKid(known.mark));
  return isComparable && !all.includes(known.mark) ? { mark, changedAt: now } : { mark, changedAt };
}

/** Whether the SIM took the place of another within ACCOUNT_LIMITS.simHoldMs; undefined is none. */
export function isSimNew(sim: KnownSim | undefined, now: number): boolean {
  const changedAt = sim?.changedAt ?? null;
  return changedAt !== null && now < changedAt + ACCOUNT_LIMITS.simHoldMs;
}

const readKid = (mark: string) => mark.slice(0, mark.indexOf(':'));
