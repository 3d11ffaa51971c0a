// Counts PIN attempts: pure functions over a small record stored with the account.

import { retryDelay } from '../retry.ts';
import { ACCOUNT_LIMITS } from './limits.ts';

const LOCK = { firstMs: ACCOUNT_LIMITS.pinLockMs, maxMs: ACCOUNT_LIMITS.pinLockMaxMs };

/** The attempts on one phone number. */
export type Attempts = {
  /** Failures since the last success or the end of the last lock. */
  readonly consecutive: number;
  /** Locks since the last success; each doubles the length of the next. */
  readonly locks: number;
  /** Milliseconds since 1970; 0 when never locked. */
  readonly lockedUntil: number;
  /** Too many failures within ACCOUNT_LIMITS.pinWindowMs: locked until an operator unlocks. */
  readonly held: boolean;
  /** Times of the failures in the last ACCOUNT_LIMITS.pinWindowMs, oldest first. */
  readonly failures: readonly number[];
  /** The last counted attempt, to recognise a repeat of the same call. */
  readonly last: {
    readonly key: string;
    readonly at: number;
    readonly repeats: number;
    readonly failed: boolean;
  } | null;
};

export const NO_ATTEMPTS: Attempts = {
  consecutive: 0,
  locks: 0,
  lockedUntil: 0,
  held: false,
  failures: [],
  last: null,
};

/** Why a login was refused; a lock without `lockedUntil` lasts until an operator unlocks the account. */
export type LoginRefusal =
  | { readonly reason: 'wrong'; readonly remaining: number }
  | { readonly reason: 'locked'; readonly lockedUntil?: number; readonly minutes?: number };

/**
 * Permission to check a PIN: store `attempts` before checking. `at` identifies the attempt to {@link succeed} and {@link
 * release}.
 */
export type Reservation =
  | { readonly kind: 'granted'; readonly attempts: Attempts; readonly at: number }
  | { readonly kind: 'refused'; readonly refusal: LoginRefusal };

/**
 * Counts an attempt as a failure before it is checked, so that concurrent attempts cannot outrun the count. A repeat of the
 * last attempt (same `key`) is not counted again: if it failed, it fails again; if it never finished, it may finish.
 */
export function reserve(attempts: Attempts, now: number, key: string | null): Reservation {
  const { last } = attempts;
  if (last && last.key === key) {
    if (last.failed) return { kind: 'refused', refusal: refusal(attempts, now) };
    if (last.repeats < ACCOUNT_LIMITS.pinRepeats)
      return { kind: 'granted', at: last.at, attempts: { ...attempts, last: { ...last, repeats: last.repeats + 1 } } };
  }
  if (isLocked(attempts, now)) return { kind: 'refused', refusal: refusal(attempts, now) };
  const failures = [...recent(attempts, now), now];
  // An expired lock grants a fresh set of attempts; only its length is remembered.
  const consecutive = (attempts.lockedUntil > 0 ? 0 : attempts.consecutive) + 1;
  const locks = consecutive >= ACCOUNT_LIMITS.pinFailuresToLock;
  return {
    kind: 'granted',
    at: now,
    attempts: {
      consecutive,
      locks: attempts.locks + (locks ? 1 : 0),
      lockedUntil: locks ? now + retryDelay(attempts.locks + 1, LOCK) : 0,
      held: failures.length >= ACCOUNT_LIMITS.pinFailuresPerWindow,
      failures,
      last: key === null ? null : { key, at: now, repeats: 0, failed: false },
    },
  };
}

/** Failures in the last ACCOUNT_LIMITS.pinWindowMs, without this attempt. */
export function failuresBefore({ attempts, at }: Extract<Reservation, { kind: 'granted' }>): number {
  return without(attempts.failures, at).length;
}

/** The PIN was correct: clears the consecutive failures, and any lock that concurrent attempts triggered. */
export function succeed(attempts: Attempts, at: number): Attempts {
  const failures = without(attempts.failures, at);
  return { ...NO_ATTEMPTS, failures, held: failures.length >= ACCOUNT_LIMITS.pinFailuresPerWindow };
}

/** The PIN was wrong, and is counted already; only records the outcome under the key. */
export function fail(attempts: Attempts, key: string | null): Attempts | undefined {
  const { last } = attempts;
  return last && last.key === key ? { ...attempts, last: { ...last, failed: true } } : undefined;
}

/** The PIN was never checked (overload, damaged record), so the attempt is uncounted. */
export function release(attempts: Attempts, at: number, key: string | null): Attempts {
  const failures = without(attempts.failures, at);
  const consecutive = Math.max(0, attempts.consecutive - 1);
  const unlocks = attempts.lockedUntil > 0 && consecutive < ACCOUNT_LIMITS.pinFailuresToLock;
  return {
    consecutive,
    locks: attempts.locks - (unlocks ? 1 : 0),
    lockedUntil: unlocks ? 0 : attempts.lockedUntil,
    held: failures.length >= ACCOUNT_LIMITS.pinFailuresPerWindow,
    failures,
    last: attempts.last?.key === key ? null : attempts.last,
  };
}

/** The answer to a refused attempt. */
export function refusal(attempts: Attempts, now: number): LoginRefusal {
  const { held, lockedUntil, consecutive } = attempts;
  if (held) return { reason: 'locked' };
  if (lockedUntil > now) return { reason: 'locked', lockedUntil, minutes: Math.ceil((lockedUntil - now) / 60_000) };
  const inRow = ACCOUNT_LIMITS.pinFailuresToLock - (lockedUntil > 0 ? 0 : consecutive);
  return {
    reason: 'wrong',
    remaining: Math.min(inRow, ACCOUNT_LIMITS.pinFailuresPerWindow - recent(attempts, now).length),
  };
}

/** Failures and locks of a phone number, for operators. */
export interface LockState {
  /** `held`: locked until an operator unlocks it. */
  readonly state: 'open' | 'locked' | 'held';
  /** Milliseconds since 1970; null unless the state is `locked`. */
  readonly lockedUntil: number | null;
  /** Consecutive failures that count towards the next lock. */
  readonly failuresInRow: number;
  /** Failures within ACCOUNT_LIMITS.pinWindowMs. */
  readonly failuresInWindow: number;
  /** Locks since the last success; each doubles the length of the next. */
  readonly locks: number;
}

/** The state of the count at a time. */
export function lockState(attempts: Attempts, now: number): LockState {
  const { held, lockedUntil, consecutive, locks } = attempts;
  const isTimed = !held && lockedUntil > now;
  return {
    state: held ? 'held' : isTimed ? 'locked' : 'open',
    lockedUntil: isTimed ? lockedUntil : null,
    failuresInRow: lockedUntil > 0 && lockedUntil <= now ? 0 : consecutive,
    failuresInWindow: recent(attempts, now).length,
    locks,
  };
}

/** Whether there is nothing to clear. */
export function isClean({ held: isHeld, lockedUntil, consecutive, locks, failures }: Attempts): boolean {
  return !isHeld && lockedUntil === 0 && consecutive === 0 && locks === 0 && failures.length === 0;
}

function isLocked({ held: isHeld, lockedUntil }: Attempts, now: number): boolean {
  return isHeld || lockedUntil > now;
}

function recent({ failures }: Attempts, now: number): readonly number[] {
  return failures.filter((at) => at > now - ACCOUNT_LIMITS.pinWindowMs);
}

function without(times: readonly number[], one: number): readonly number[] {
  const at = times.indexOf(one);
  return at < 0 ? times : times.toSpliced(at, 1);
}
