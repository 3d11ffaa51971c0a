// Limits of lib/account: a name, a number, its unit.

export const ACCOUNT_LIMITS = {
  pinDigitsMin: 4,
  pinDigitsMax: 6,
  /** PIN checks waiting for a free scrypt worker; more are refused. */
  pinQueue: 32,
  /** Consecutive failures that lock an account. */
  pinFailuresToLock: 3,
  /** Milliseconds of the first lock; doubles with each further one. */
  pinLockMs: 900_000,
  pinLockMaxMs: 86_400_000,
  /** Failures in `pinWindowMs` that lock an account until it is recovered. */
  pinFailuresPerWindow: 10,
  pinWindowMs: 86_400_000,
  /** Milliseconds for which an account whose number has a new SIM keeps its PIN: 240 hours, as CAMARA's SIM swap check has it. */
  simHoldMs: 864_000_000,
  /** Characters of the name of an account holder. */
  accountNameChars: 64,
  /** Repeats of one PIN check (same idempotency key, outcome not yet known) that are not counted as tries of their own. */
  pinRepeats: 10,
  /** Documents that count the tries on phone numbers without an account; a number that needs a taken one replaces it. */
  strangerSlots: 65_536,
  /** PIN checks that may fail at once while guesses are spread over many numbers, of all instances that count together, and milliseconds until one more may. */
  slowedChecks: 20,
  slowedCheckMs: 1_000,
  /** More failures than this within `sprayWindowMs`, and a larger share of all checks than `sprayRatio`, raise the alarm. */
  sprayFailures: 50,
  sprayRatio: 0.2,
  sprayWindowMs: 300_000,
  /** Milliseconds between two times that an instance tells the others of checks that did not fail, and instances that are counted. */
  sprayShareMs: 10_000,
  sprayInstances: 100,
} as const;
