// What instances count of PIN checks together: one note in their session store, added to at most once at a time by each.

import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { SharedNotes } from '../store/shared-note.ts';
import { ACCOUNT_LIMITS } from './limits.ts';
import { type CountedTogether, type PinChecks, SPRAY_BUCKET_MS, SPRAY_BUCKETS, type SprayOptions } from './spray.ts';

/** `seen`: the time at which each instance had a check last. */
type Noted = { readonly buckets: readonly PinChecks[]; readonly seen: { readonly [instance: string]: number } };

const KEY = 'spray';

/** Counts by the time of day, in steps of SPRAY_BUCKET_MS: clocks of instances may differ by as much as that. */
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
