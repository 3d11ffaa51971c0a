// Guesses that are spread over many phone numbers, where no count of a single number grows: an alarm, and a brake.

import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { SharedNotes } from '../store/shared-note.ts';
import { ACCOUNT_LIMITS } from './limits.ts';

export interface SprayAlarm {
  readonly kind: 'spray';
  /** Failed PIN checks in the last ACCOUNT_LIMITS.sprayWindowMs: of this process, and of the others where they count together. */
  readonly failures: number;
  /** Failed checks among all checks of that time, 0 to 1. */
  readonly ratio: number;
}

/**
 * How a check may go on. `slowed`: only for a number without failures, and a failure is not answered as one. `refused`: all
 * checks that may fail at this moment are used up.
 */
export type Pace = 'free' | 'slowed' | 'refused';

export interface SprayBrake {
  /** Asked before each PIN check. */
  begin(): Pace;
  /** Called after each check that was not refused; `unchecked`: it did not come to a check. */
  end(pace: Pace, outcome: 'right' | 'wrong' | 'unchecked'): void;
}

/** Checks of SPRAY_BUCKET_MS milliseconds: `at` counts such times. */
type PinChecks = { readonly at: number; readonly checks: number; readonly failures: number };

/** What all instances have counted together; `at` is 0 now, and negative before. */
export interface CountedTogether {
  readonly buckets: readonly PinChecks[];
  /** Instances that had checks in that time, at least 1. */
  readonly instances: number;
}

export interface SprayOptions {
  readonly onAlarm?: ((alarm: SprayAlarm) => void) | undefined;
  /**
   * Adds checks of this moment to those of all instances. Called after a failed check and now and then, and never waited for:
   * while it takes its time, or rejects, this process counts alone. @default each process counts for itself
   */
  readonly share?: ((counted: Omit<PinChecks, 'at'>) => Promise<CountedTogether>) | undefined;
}

const { sprayWindowMs, sprayFailures, sprayRatio, slowedChecks, slowedCheckMs, sprayShareMs } = ACCOUNT_LIMITS;
export const SPRAY_BUCKETS = 30;
export const SPRAY_BUCKET_MS = sprayWindowMs / SPRAY_BUCKETS;

/**
 * Watches the PIN checks of a process. While many of them fail it slows them: only `slowedChecks` may fail at once, and one
 * more each `slowedCheckMs`, a part of both where several instances count together; right ones cost nothing. Raises the alarm at
 * most once per window.
 */
export function sprayBrake(clock: Clock, { onAlarm = () => {}, share }: SprayOptions = {}): SprayBrake {
  let buckets: { at: number; checks: number; failures: number }[] = [];
  let shared: CountedTogether = { buckets: [], instances: 1 };
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
    const all = sum(shared.buckets.filter((bucket) => bucket.at > at - SPRAY_BUCKETS));
    // What is not shared yet is in neither of them twice: the larger count is never too large.
    const { checks, failures } = all.failures > own.failures ? all : own;
    const isSpray = failures > sprayFailures && failures / checks > sprayRatio;
    return isSpray ? { kind: 'spray', failures, ratio: failures / checks } : undefined;
  };

  const begin = (): Pace => {
    const now = clock.monotonic();
    const at = bucketNow();
    drop(at);
    const { instances } = shared;
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

  const count = (failed: boolean) => {
    const at = bucketNow();
    drop(at);
    let current = buckets.at(-1);
    if (current?.at !== at) {
      current = { at, checks: 0, failures: 0 };
      buckets.push(current);
    }
    current.checks++;
    if (failed) current.failures++;
    alarm(at);
  };

  // One at a time: what is counted meanwhile goes with the next.
  const shareCounts = async (ask: NonNullable<SprayOptions['share']>) => {
    isSharing = true;
    const counts = unshared;
    unshared = { checks: 0, failures: 0 };
    sharedAt = clock.monotonic();
    try {
      const { buckets, instances } = await ask(counts);
      const at = bucketNow();
      shared = { buckets: buckets.map((bucket) => ({ ...bucket, at: at + bucket.at })), instances };
      alarm(at);
    } catch {
      // The store is away, which its own watch reports. The counts are shared when it is back.
      unshared = { checks: unshared.checks + counts.checks, failures: unshared.failures + counts.failures };
    }
    isSharing = false;
  };

  const note = (failed: boolean) => {
    if (!share) return;
    unshared = { checks: unshared.checks + 1, failures: unshared.failures + (failed ? 1 : 0) };
    const isTime = failed || clock.monotonic() - sharedAt >= sprayShareMs;
    if (isTime && !isSharing) void shareCounts(share);
  };

  return {
    begin,
    end(pace, outcome) {
      if (pace === 'slowed' && outcome !== 'wrong')
        left = Math.min(Math.max(1, slowedChecks / shared.instances), left + 1);
      if (outcome === 'unchecked') return;
      count(outcome === 'wrong');
      note(outcome === 'wrong');
    },
  };
}

/** `seen`: the time at which each instance had a check last. */
type Noted = { readonly buckets: readonly PinChecks[]; readonly seen: { readonly [instance: string]: number } };

const KEY = 'spray';

/**
 * What instances count together: one note in their session store, added to at most once at a time by each. Counts by the time of day, in steps of SPRAY_BUCKET_MS: clocks of instances may differ by as much as that.
 */
export function sharedSpray(
  notes: SharedNotes,
  clock: Pick<Clock, 'now'>,
  instance: string = randomUUID(),
): NonNullable<SprayOptions['share']> {
  return async ({ checks, failures }) => {
    const at = Math.floor(clock.now() / SPRAY_BUCKET_MS);
    const isRecent = (then: number) => then > at - SPRAY_BUCKETS && then <= at + SPRAY_BUCKETS;
    const { buckets, seen } = await notes.change<Noted>(KEY, (noted = { buckets: [], seen: {} }) => {
      const kept = noted.buckets.filter((bucket) => isRecent(bucket.at));
      const own = kept.find((bucket) => bucket.at === at) ?? { at, checks: 0, failures: 0 };
      const others = Object.entries(noted.seen).filter(([, then]) => isRecent(then));
      return {
        buckets: [
          ...kept.filter((bucket) => bucket !== own),
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
