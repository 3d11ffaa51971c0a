// What every DocumentStore promises, under our runner; run it with a function that opens the store.

import type { OpenDocuments } from '../../lib/testing/documents/bench.ts';
import { documentStoreChecks } from '../../lib/testing/stores.ts';
import { skipped } from '../support/skip.ts';
import { suite } from '../support/suites.ts';

/** Runs the suite. `skip` leaves out promises by their exact sentence, each with a reason. */
export function documentStoreContract(
  name: string,
  open: OpenDocuments,
  options: { skip?: { readonly [promise: string]: string } } = {},
): void {
  const test = suite(`document store ${name}`);
  for (const { name: promise, run, skip } of documentStoreChecks(open, options))
    test(promise, () => (skip === undefined ? run() : skipped(skip)));
  test.run();
}
