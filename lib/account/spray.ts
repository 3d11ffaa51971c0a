// PIN spraying: guesses spread over many phone numbers, where no single number's count grows. Raises an alarm and applies a
// brake.

import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { SharedNotes } from '../store/shared-note.ts';
import { ACCOUNT_LIMITS } from './limits.ts';

export interface SprayAlarm {
  readonly kind: 'spray';
  /** Failed PIN checks in the last ACCOUNT_LIMITS.sprayWindowMs, in this process or in all instances that pool counts. */
  readonly failures: number;
  /** Share of failures among all checks in that window, 0 to 1. */
  readonly ratio: number;
}

/**
 * How a check may proceed. `slowed`: only for a number without failures, and a failure is reported as ERR_BUSY. `refused`:
 * the budget for failing checks is used up.
 */
export type Pace = 'free' | 'slowed' | 'refused';

export interface SprayBrake {
  /** Called before each PIN check. */
  begin(): Pace;
  /** Called after each check that was not refused; `unchecked` when the PIN was never compared. */
  end(pace: Pace, outcome: 'right' | 'wrong' | 'unchecked'): void;
}

/** Checks in a bucket of SPRAY_BUCKET_MS milliseconds; `at` is its number. */
type PinChecks = { readonly at: number; readonly checks: number; readonly failures: number };

/** The pooled counts of all instances; `at` is 0 for the current bucket, negative for earlier ones. */
export interface CountedTogether {
  readonly buckets: readonly PinChecks[];
  /** Instances with checks in that window, at least 1. */
  readonly instances: number;
}

export interface SprayOptions {
  readonly onAlarm?: ((alarm: SprayAlarm) => void) | undefined;
  /**
   * Adds recent checks to the counts of all instances. Called after a failed check and periodically, and never awaited: while
   * it is slow or rejects, this process relies on its own counts.
   * @default each process counts on its own
   */
  readonly share?: ((counts: Omit<PinChecks, 'at'>) => Promise<CountedTogether>) | undefined;
}

const { sprayWindowMs, sprayFailures, sprayRatio, slowedChecks, slowedCheckMs, sprayShareMs } = ACCOUNT_LIMITS;
export const SPRAY_BUCKETS = 30;
export const SPRAY_BUCKET_MS = sprayWindowMs / SPRAY_BUCKETS;

/**
 * Watches the PIN checks of a process. While many fail, it throttles: `slowedChecks` may fail at once and one more every
 * `slowedCheckMs` (divided among instances that pool counts); correct PINs cost nothing. Raises the alarm at most once per
 * window.
 */
export function sprayBrake(clock: Clock, { onAlarm = () => {}, share }: SprayOptions = {}): SprayBrake {
  let buckets: { at: number; checks: number; failures: number }[] = [];
  let totals: CountedTogether = { buckets: [], instances: 1 };
  let unshared = { checks: 0, failures: 0 };
  let isSharing = false;
  let sharedAt = Number.NEGATIVE_INFINITY;
  let alarmedAt = Number.NEGATIVE_INFINITY;
  let left: number = slowedChecks;
  let filledAt = clock.monotonic();

  const bucketNow = () => Math.floor(clock.monotonic() / SPRAY_BUCKET_MS);
  const drop = (at: number) => {
    buckets = buckets.filter((bucket) => bucket.at > at - SPRAY_BUCKETS);
  };
  const sum = (list: readonly PinChecks[]) => ({
    checks: list.reduce((total, { checks }) => total + checks, 0),
    failures: list.reduce((total, { failures }) => total + failures, 0),
  });
  const findSpray = (at: number): SprayAlarm | undefined => {
    const own = sum(buckets);
    const all = sum(totals.buckets.filter((bucket) => bucket.at > at - SPRAY_BUCKETS));
    // Checks not shared yet are in only one of the two counts, so the larger one never overestimates.
    const { checks, failures } = all.failures > own.failures ? all : own;
    const isSpray = failures > sprayFailures && failures / checks > sprayRatio;
    return isSpray ? { kind: 'spray', failures, ratio: failures / checks } : undefined;
  };

  const begin = (): Pace => {
    const now = clock.monotonic();
    const at = bucketNow();
    drop(at);
    const { instances } = totals;
    const most = Math.max(1, slowedChecks / instances);
    left = Math.min(most, left + (now - filledAt) / (slowedCheckMs * instances));
    filledAt = now;
    if (!findSpray(at)) return 'free';
    if (left < 1) return 'refused';
    left--;
    return 'slowed';
  };

  const alarm = (at: number) => {
    const now = clock.monotonic();
    const spray = findSpray(at);
    const isQuiet = now < alarmedAt + sprayWindowMs;
    if (!spray || isQuiet) return;
    alarmedAt = now;
    onAlarm(spray);
  };

  const count = (isFailure: boolean) => {
    const at = bucketNow();
    drop(at);
    let current = buckets.at(-1);
    if (current?.at !== at) {
      current = { at, checks: 0, failures: 0 };
      buckets.push(current);
    }
    current.checks++;
    if (isFailure) current.failures++;
    alarm(at);
  };

  // One request at a time; checks counted in the meantime go with the next.
  const shareCounts = async (ask: NonNullable<SprayOptions['share']>) => {
    isSharing = true;
    const counts = unshared;
    unshared = { checks: 0, failures: 0 };
    sharedAt = clock.monotonic();
    try {
      const { buckets, instances } = await ask(counts);
      const at = bucketNow();
      totals = { buckets: buckets.map((bucket) => ({ ...bucket, at: at + bucket.at })), instances };
      alarm(at);
    } catch {
      // The store is down, which its own watch reports. The counts are shared once it is back.
      unshared = { checks: unshared.checks + counts.checks, failures: unshared.failures + counts.failures };
    }
    isSharing = false;
  };

  const note = (isFailure: boolean) => {
    if (!share) return;
    unshared = { checks: unshared.checks + 1, failures: unshared.failures + (isFailure ? 1 : 0) };
    const isTime = isFailure || clock.monotonic() - sharedAt >= sprayShareMs;
    if (isTime && !isSharing) void shareCounts(share);
  };

  return {
    begin,
    end(pace, outcome) {
      if (pace === 'slowed' && outcome !== 'wrong')
        left = Math.min(Math.max(1, slowedChecks / totals.instances), left + 1);
      if (outcome === 'unchecked') return;
      count(outcome === 'wrong');
      note(outcome === 'wrong');
    },
  };
}

/** `seen`: the bucket of each instance's last check. */
type Noted = { readonly buckets: readonly PinChecks[]; readonly seen: { readonly [instance: string]: number } };

const KEY = 'spray';

/**
 * Pools counts across instances: one shared note in the session store, updated by each instance one request at a time.
 * Buckets use the wall clock, so clocks of instances may differ by up to SPRAY_BUCKET_MS.
 */
export function sharedSpray(
  notes: SharedNotes,
  clock: Pick<Clock, 'now'>,
  instance: string = randomUUID(),
): NonNullable<SprayOptions['share']> {
  return async ({ checks, failures }) => {
    const at = Math.floor(clock.now() / SPRAY_BUCKET_MS);
    const isRecent = (then: number) => then > at - SPRAY_BUCKETS && then <= at + SPRAY_BUCKETS;
    const { buckets, seen } = await notes.change<Noted>(KEY, (note = { buckets: [], seen: {} }) => {
      const recentBuckets = note.buckets.filter((bucket) => isRecent(bucket.at));
      const own = recentBuckets.find((bucket) => bucket.at === at) ?? { at, checks: 0, failures: 0 };
      const others = Object.entries(note.seen).filter(([, then]) => isRecent(then));
      return {
        buckets: [
          ...recentBuckets.filter((bucket) => bucket !== own),
          { at, checks: own.checks + checks, failures: own.failures + failures },
        ],
        seen: Object.fromEntries([...others, [instance, at]].slice(-ACCOUNT_LIMITS.sprayInstances)),
      };
    });
    return {
      buckets: buckets.map((bucket) => ({ ...bucket, at: Math.min(0, bucket.at - at) })),
      instances: Object.keys(seen).length,
    } satisfies CountedTogether;
  };
}
