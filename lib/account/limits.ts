// Limits of lib/account: a name, a number, its unit.

export const ACCOUNT_LIMITS = {
  pinDigitsMin: 4,
  pinDigitsMax: 6,
  /** PIN checks waiting for a scrypt worker; any beyond are refused. */
  pinQueue: 32,
  /** Consecutive failures that lock an account. */
  pinFailuresToLock: 3,
  /** Length of the first lock in milliseconds; doubles with each further one. */
  pinLockMs: 900_000,
  pinLockMaxMs: 86_400_000,
  /** Failures within `pinWindowMs` that lock an account until an operator unlocks it. */
  pinFailuresPerWindow: 10,
  pinWindowMs: 86_400_000,
  /** Milliseconds after a SIM swap during which the PIN cannot be changed: 240 hours, as in CAMARA's SIM swap check. */
  simHoldMs: 864_000_000,
  /** Characters of an account holder's name. */
  accountNameChars: 64,
  /** Repeats of one PIN check (same idempotency key, unknown outcome) that are not counted as new attempts. */
  pinRepeats: 10,
  /** Slots that count attempts on numbers without an account; on a collision the newer number takes the slot. */
  strangerSlots: 65_536,
  /**
   * While guesses are spread over many numbers: checks that may fail in a burst, across instances that pool counts, and
   * milliseconds until one more may.
   */
  slowedChecks: 20,
  slowedCheckMs: 1_000,
  /** The alarm is raised by more failures than this within `sprayWindowMs`, if they exceed `sprayRatio` of all checks. */
  sprayFailures: 50,
  sprayRatio: 0.2,
  sprayWindowMs: 300_000,
  /** Milliseconds between two reports of successful checks by an instance, and the most instances counted. */
  sprayShareMs: 10_000,
  sprayInstances: 100,
} as const;
