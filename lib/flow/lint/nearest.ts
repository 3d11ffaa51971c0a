// "Did you mean" for a whole flow: remembered, and bounded, so that thousands of misspelt names stay cheap.

import { nearestName } from '../expression/suggest.ts';

const COMPARISONS = 100_000;

/** Finds the known name nearest to another; gives up after so many comparisons in all. */
export function nearestFinder(): (name: string, known: readonly string[]) => string | undefined {
  const found = new Map<readonly string[], Map<string, string | undefined>>();
  let left = COMPARISONS;
  return (name, known) => {
    const before = found.get(known) ?? new Map<string, string | undefined>();
    found.set(known, before);
    if (before.has(name)) return before.get(name);
    left -= known.length;
    const nearest = left < 0 ? undefined : nearestName(name, known);
    before.set(name, nearest);
    return nearest;
  };
}
