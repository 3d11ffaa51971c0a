// Walks over all buckets: what each holds in order, merged into one order.

/** Reads the first `count` items of one place, in order. */
export type ReadFirst<T> = (count: number) => Promise<readonly T[]>;

// More than an even share, since shares are never even; a second reading costs a round trip.
const SHARE = 1.25;
const SPARE = 8;

/** The first `limit` items of all places together. Each place is asked for a share, and again for more when it matters. */
export async function mergeFirst<T>(
  places: readonly ReadFirst<T>[],
  { limit, compare }: { readonly limit: number; readonly compare: (a: T, b: T) => number },
): Promise<T[]> {
  const share = Math.min(limit, Math.ceil((limit / places.length) * SHARE) + SPARE);
  const reads = places.map((read) => ({ read, count: share, items: [] as readonly T[] }));
  for (let due = reads; ; ) {
    await Promise.all(
      due.map(async (one) => {
        one.items = await one.read(one.count);
      }),
    );
    const merged = reads
      .flatMap(({ items }) => items)
      .sort(compare)
      .slice(0, limit);
    const last = merged.length === limit ? merged[limit - 1] : undefined;
    // A place that gave all it was asked for may have more that comes before the last one.
    due = reads.filter(({ items, count }) => {
      if (items.length < count || count === limit) return false;
      return last === undefined || compare(items.at(-1)!, last) < 0;
    });
    if (!due.length) return merged;
    for (const one of due) one.count = Math.min(limit, one.count * 4);
  }
}
