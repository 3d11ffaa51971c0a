// Revisions go up by one with every commit, each from the one before: a stale writer never wins.

import type { Checker } from '../checker.ts';

export function monotoneRevision(): Checker {
  const revisions = new Map<string, number>();
  return {
    promise: 'revisions only grow, and a stale writer loses',
    committed: ({ key, expected, revision }) => {
      const before = revisions.get(key) ?? 0;
      revisions.set(key, revision);
      return expected === before && revision === before + 1
        ? undefined
        : `${key}: a writer that had read revision ${expected} wrote ${revision} over ${before}`;
    },
  };
}
