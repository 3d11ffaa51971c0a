// What every LogStore promises, under our runner; run it with a function that opens the store.

import { type OpenLogs, withLogs } from '../../lib/testing/logs/bench.ts';
import { logStoreChecks } from '../../lib/testing/stores.ts';
import { skipped } from '../support/skip.ts';
import { suite } from '../support/suites.ts';
import { LOG_MEMORY } from './log-memory.ts';

/** Runs the suite. `skip` leaves out promises by their exact sentence, each with a reason. */
export function logStoreContract(
  name: string,
  open: OpenLogs,
  options: { skip?: { readonly [promise: string]: string } } = {},
): void {
  const test = suite(`log store ${name}`);
  for (const { name: promise, run, skip } of logStoreChecks(open, options))
    test(promise, () => (skip === undefined ? run() : skipped(skip)));
  for (const [promise, keep] of Object.entries(LOG_MEMORY)) test(promise, () => withLogs(open, keep));
  test.run();
}
