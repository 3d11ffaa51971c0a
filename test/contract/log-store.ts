// What every LogStore promises; run it with a function that opens the store.

import * as assert from 'uvu/assert';
import { skipped } from '../support/skip.ts';
import { suite } from '../support/suites.ts';
import { LOG_APPENDS } from './log-appends.ts';
import { type OpenLogs, withLogs } from './log-bench.ts';
import { LOG_FOLLOWERS } from './log-followers.ts';
import { logModel } from './log-model.ts';
import { LOG_READS } from './log-reads.ts';

const PROMISES = { ...LOG_APPENDS, ...LOG_READS, ...LOG_FOLLOWERS };

/** Runs the suite. `skip` leaves out promises by their exact sentence, each with a reason. */
export function logStoreContract(
  name: string,
  open: OpenLogs,
  { skip = {} }: { skip?: { readonly [promise: string]: string } } = {},
): void {
  const test = suite(`log store ${name}`, { timeoutMs: 60_000 });

  for (const [sentence, keep] of Object.entries(PROMISES))
    test(sentence, () => {
      if (skip[sentence] !== undefined) skipped(skip[sentence]);
      return withLogs(open, keep);
    });

  test('any order of calls ends as it does in plain arrays', () =>
    logModel((keep) => withLogs(open, ({ store, clock }) => keep(store, clock))));

  test('every promise that is skipped exists', () => {
    for (const sentence of Object.keys(skip)) assert.ok(sentence in PROMISES, sentence);
  });

  test.run();
}
