// Retries: backoff delays, a loop for work that a store refuses for now, and a cache of promises that forgets failures.

import type { Clock } from './clock.ts';
import { TwinlineError } from './errors.ts';

export interface Backoff {
  /** Milliseconds before the second attempt; doubles with each further attempt. */
  readonly firstMs: number;
  /**
   * The longest delay in milliseconds.
   * @default no bound
   */
  readonly maxMs?: number;
  /**
   * The share of a delay that is random, 0 to 1, so that retries spread out.
   * @default 0
   */
  readonly jitter?: number;
  /**
   * Returns numbers in [0, 1).
   * @default Math.random
   */
  readonly random?: () => number;
}

/** Milliseconds to wait after the given number of attempts, at least 1. */
export function retryDelay(
  tries: number,
  { firstMs, maxMs = Infinity, jitter = 0, random = Math.random }: Backoff,
): number {
  const delay = Math.min(firstMs * 2 ** (tries - 1), maxMs);
  return jitter === 0 ? delay : delay * (1 - jitter * random());
}

/** Milliseconds that a Retry-After asks to wait, which is seconds or a date; undefined where it is neither. */
export function readRetryAfter(text: string, now: number): number | undefined {
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Math.max(0, Date.parse(text) - now);
  return Number.isNaN(ms) ? undefined : ms;
}

/** For a store that may recover soon. */
const STORE_BACKOFF: Backoff = { firstMs: 50, maxMs: 1_000 };

/**
 * Retries `work` until it succeeds; rejects with an error that is not retryable, and with any error once the signal
 * aborts.
 */
export async function retryUntilAborted<T>(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TwinlineError && error.retry) || signal.aborted) throw error;
    }
    await clock.wait(retryDelay(tries, STORE_BACKOFF), signal);
  }
}

/** A Map, or a bounded cache. */
interface KeptPromises<T> {
  get(key: string): Promise<T> | undefined;
  set(key: string, promise: Promise<T>): unknown;
  delete(key: string): unknown;
}

/** Returns the cached promise, or caches the one that `make` returns. A failure is not cached. */
export function keepMade<T>(promises: KeptPromises<T>, key: string, make: () => Promise<T>): Promise<T> {
  const existing = promises.get(key);
  if (existing) return existing;
  const promise = make();
  promises.set(key, promise);
  promise.catch(() => promises.delete(key));
  return promise;
}
