// Guesses that are spread over many phone numbers, where no count of a single number grows: an alarm, and a brake.

import type { Clock } from '../clock.ts';
import { ACCOUNT_LIMITS } from './limits.ts';

export interface SprayAlarm {
  readonly kind: 'spray';
  /** Failed PIN checks of this process in the last ACCOUNT_LIMITS.sprayWindowMs. */
  readonly failures: number;
  /** Failed checks among all checks of that time, 0 to 1. */
  readonly ratio: number;
}

/**
 * How a check may go on. `slowed`: only for a number without failures, and a failure is not told as one. `refused`: all
 * checks that may fail at this moment are used up.
 */
export type Pace = 'free' | 'slowed' | 'refused';

export interface SprayBrake {
  /** Asked before each PIN check. */
  begin(): Pace;
  /** Called after each check that was not refused; `unchecked`: it did not come to a check. */
  end(pace: Pace, outcome: 'right' | 'wrong' | 'unchecked'): void;
}

const { sprayWindowMs, sprayFailures, sprayRatio, slowedChecks, slowedCheckMs } = ACCOUNT_LIMITS;
const BUCKETS = 30;
const BUCKET_MS = sprayWindowMs / BUCKETS;

/**
 * Watches the PIN checks of a process. While many of them fail it slows them: only `slowedChecks` may fail at once, and one
 * more each `slowedCheckMs`; right ones cost nothing. Raises the alarm at most once per window.
 */
export function sprayBrake(clock: Clock, onAlarm: (alarm: SprayAlarm) => void = () => {}): SprayBrake {
  let buckets: { at: number; checks: number; failures: number }[] = [];
  let alarmedAt = Number.NEGATIVE_INFINITY;
  let left: number = slowedChecks;
  let filledAt = clock.monotonic();

  const drop = (at: number) => {
    buckets = buckets.filter((bucket) => bucket.at > at - BUCKETS);
  };
  const findSpray = (): SprayAlarm | undefined => {
    const checks = buckets.reduce((sum, bucket) => sum + bucket.checks, 0);
    const failures = buckets.reduce((sum, bucket) => sum + bucket.failures, 0);
    const isSpray = failures > sprayFailures && failures / checks > sprayRatio;
    return isSpray ? { kind: 'spray', failures, ratio: failures / checks } : undefined;
  };

  const begin = (): Pace => {
    const now = clock.monotonic();
    drop(Math.floor(now / BUCKET_MS));
    left = Math.min(slowedChecks, left + (now - filledAt) / slowedCheckMs);
    filledAt = now;
    if (!findSpray()) return 'free';
    if (left < 1) return 'refused';
    left--;
    return 'slowed';
  };

  const count = (failed: boolean) => {
    const now = clock.monotonic();
    const at = Math.floor(now / BUCKET_MS);
    drop(at);
    let current = buckets.at(-1);
    if (current?.at !== at) {
      current = { at, checks: 0, failures: 0 };
      buckets.push(current);
    }
    current.checks++;
    if (failed) current.failures++;
    const spray = findSpray();
    const isQuiet = now < alarmedAt + sprayWindowMs;
    if (!spray || isQuiet) return;
    alarmedAt = now;
    onAlarm(spray);
  };

  return {
    begin,
    end(pace, outcome) {
      if (pace === 'slowed' && outcome !== 'wrong') left = Math.min(slowedChecks, left + 1);
      if (outcome !== 'unchecked') count(outcome === 'wrong');
    },
  };
}
