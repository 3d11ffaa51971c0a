// What every SnapshotStore promises, under our runner; run it with a function that opens the store.

import type { OpenSnapshots } from '../../lib/testing/sessions/bench.ts';
import { snapshotStoreChecks } from '../../lib/testing/stores.ts';
import { skipped } from '../support/skip.ts';
import { suite } from '../support/suites.ts';

/** Runs the suite. `skip` leaves out promises by their exact sentence, each with a reason. */
export function snapshotStoreContract(
  name: string,
  open: OpenSnapshots,
  options: { skip?: { readonly [promise: string]: string } } = {},
): void {
  const test = suite(`snapshot store ${name}`);
  for (const { name: promise, run, skip } of snapshotStoreChecks(open, options))
    test(promise, () => (skip === undefined ? run() : skipped(skip)));
  test.run();
}
