// SIM swaps: what is stored of a SIM card, and how long an account with a new SIM is restricted.

import { ACCOUNT_LIMITS } from './limits.ts';

/** The SIM last used to open an account. */
export type KnownSim = {
  /** `<kid>:<keyed hash>`. */
  readonly mark: string;
  /** When it replaced another SIM, in milliseconds since 1970; null if it never did. */
  readonly changedAt: number | null;
};

/**
 * The SIM record to store when an account is opened. `marks` are keyed hashes of the SIM under every key, separated by
 * spaces, the active key's first. The first SIM of an account is not a swap.
 */
export function noteSim(previous: KnownSim | undefined, marks: string, now: number): KnownSim {
  const all = marks.split(' ');
  const mark = all[0]!;
  const changedAt = previous?.changedAt ?? null;
  // Marks made with a key that is gone cannot be compared.
  const isComparable = previous !== undefined && all.some((one) => readKid(one) === readKid(previous.mark));
  return isComparable && !all.includes(previous.mark) ? { mark, changedAt: now } : { mark, changedAt };
}

/** Whether the SIM replaced another within ACCOUNT_LIMITS.simHoldMs; false for undefined. */
export function isSimNew(sim: KnownSim | undefined, now: number): boolean {
  const changedAt = sim?.changedAt ?? null;
  return changedAt !== null && now < changedAt + ACCOUNT_LIMITS.simHoldMs;
}

const readKid = (mark: string) => mark.slice(0, mark.indexOf(':'));
