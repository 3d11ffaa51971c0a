// What every SnapshotStore promises; run it with a function that opens the store.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { skipped } from '../support/skip.ts';
import { withBench } from './bench.ts';
import type { OpenSnapshots } from './snapshot-bench.ts';
import { SNAPSHOT_COMMITS } from './snapshot-commits.ts';
import { SNAPSHOT_LIFE } from './snapshot-life.ts';
import { snapshotModel } from './snapshot-model.ts';
import { SNAPSHOT_TIMES } from './snapshot-times.ts';

const PROMISES = { ...SNAPSHOT_COMMITS, ...SNAPSHOT_TIMES, ...SNAPSHOT_LIFE };

/** Runs the suite. `skip` leaves out promises by their exact sentence, each with a reason. */
export function snapshotStoreContract(
  name: string,
  open: OpenSnapshots,
  { skip = {} }: { skip?: { readonly [promise: string]: string } } = {},
): void {
  const test = suite(`snapshot store ${name}`);

  for (const [sentence, keep] of Object.entries(PROMISES))
    test(sentence, () => {
      if (skip[sentence] !== undefined) skipped(skip[sentence]);
      return withBench(open, keep);
    });

  test('any order of calls ends as it does in a plain map', () =>
    snapshotModel((keep) => withBench(open, ({ store, clock }) => keep(store, clock))));

  test('every promise that is skipped exists', () => {
    for (const sentence of Object.keys(skip)) assert.ok(sentence in PROMISES, sentence);
  });

  test.run();
}
