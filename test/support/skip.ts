// The only way to skip: with a reason, which the runner prints, and which fails the run when CI=true.

/** Thrown by {@link skipped}; the runner counts it apart from failures. */
export class Skip extends Error {
  override readonly name = 'Skip' as const;
}

/**
 * Leaves the test that calls it undone. In `before` it leaves out the whole suite, at the top of a file the whole file.
 * `reason` says what is missing and how to get it: `no Redis here: set REDIS_URL or install redis-server`.
 */
export function skipped(reason: string): never {
  if (!reason.trim()) throw new Error('skipped() needs a reason: what is missing, and how to get it.');
  throw new Skip(reason);
}
