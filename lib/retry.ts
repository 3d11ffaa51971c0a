// Trying again: how long to wait before the next try, the loop around work that a store refuses for the moment, and what is made
// once, and again when it has failed.

import type { Clock } from './clock.ts';
import { TwinlineError } from './errors.ts';

export interface Backoff {
  /** Milliseconds before the second try; doubled before each that follows. */
  readonly firstMs: number;
  /** Milliseconds that a delay has at most. @default no bound */
  readonly maxMs?: number;
  /** The share of a delay that chance may take off, 0 to 1, so that tries of many spread out. @default 0 */
  readonly jitter?: number;
  /** Gives numbers from 0 up to, not including, 1. @default Math.random */
  readonly random?: () => number;
}

/** Milliseconds to wait after so many tries, which are 1 or more. */
export function retryDelay(
  tries: number,
  { firstMs, maxMs = Infinity, jitter = 0, random = Math.random }: Backoff,
): number {
  const delay = Math.min(firstMs * 2 ** (tries - 1), maxMs);
  return jitter === 0 ? delay : delay * (1 - jitter * random());
}

/** Between tries to read or write a store that may come back soon. */
const STORE_BACKOFF: Backoff = { firstMs: 50, maxMs: 1_000 };

/** Gives what `work` gives; rejects with what may not be tried again, and with everything once the signal has aborted. */
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

/** A Map, or a cache of a bounded size. */
interface KeptPromises<T> {
  get(key: string): Promise<T> | undefined;
  set(key: string, made: Promise<T>): unknown;
  delete(key: string): unknown;
}

/** What is kept under the key, or what `make` gives, kept for the next who asks. What has failed once may succeed later. */
export function keepMade<T>(kept: KeptPromises<T>, key: string, make: () => Promise<T>): Promise<T> {
  const before = kept.get(key);
  if (before) return before;
  const made = make();
  kept.set(key, made);
  made.catch(() => kept.delete(key));
  return made;
}
