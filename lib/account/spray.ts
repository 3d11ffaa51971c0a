// Notices a few guesses on each of many accounts, which no counter of a single account can see.

import type { Clock } from '../clock.ts';
import { ACCOUNT_LIMITS } from './limits.ts';

export interface SprayAlarm {
  readonly kind: 'spray';
  /** Failed PIN checks of this process in the last ACCOUNT_LIMITS.sprayWindowMs. */
  readonly failures: number;
  /** Failed checks among all checks of that time, 0 to 1. */
  readonly ratio: number;
}

const BUCKETS = 30;
const BUCKET_MS = ACCOUNT_LIMITS.sprayWindowMs / BUCKETS;

/** Call the result with the outcome of every PIN check; it raises the alarm at most once per window. */
export function sprayWatch(clock: Clock, onAlarm: (alarm: SprayAlarm) => void): (failed: boolean) => void {
  let buckets: { at: number; checks: number; failures: number }[] = [];
  let quietUntil = 0;
  return (failed) => {
    const now = clock.now();
    const at = Math.floor(now / BUCKET_MS);
    buckets = buckets.filter((bucket) => bucket.at > at - BUCKETS && bucket.at <= at);
    let current = buckets.at(-1);
    if (current?.at !== at) {
      current = { at, checks: 0, failures: 0 };
      buckets.push(current);
    }
    current.checks++;
    if (failed) current.failures++;
    const checks = buckets.reduce((sum, bucket) => sum + bucket.checks, 0);
    const failures = buckets.reduce((sum, bucket) => sum + bucket.failures, 0);
    const ratio = failures / checks;
    if (now < quietUntil || failures <= ACCOUNT_LIMITS.sprayFailures || ratio <= ACCOUNT_LIMITS.sprayRatio) return;
    quietUntil = now + ACCOUNT_LIMITS.sprayWindowMs;
    onAlarm({ kind: 'spray', failures, ratio });
  };
}
