// What every SnapshotStore promises, as checks for any test runner.

import { withBench } from '../bench.ts';
import { type Check, listChecks, type SkipOptions, skipChecks } from '../checks.ts';
import type { OpenSnapshots } from './bench.ts';
import { SNAPSHOT_COMMITS } from './commits.ts';
import { SNAPSHOT_LIFE } from './life.ts';
import { SNAPSHOT_TIMES } from './times.ts';

/**
 * The checks of a SnapshotStore. `open` is called for each check, with a new empty folder and a clock that stands still: the same
 * folder again means the same data, another folder other data. Each store that was opened is closed by the check. The last check makes
 * random calls, for which the package `fast-check` must be installed.
 */
export function snapshotStoreChecks(open: OpenSnapshots, options: SkipOptions = {}): Check[] {
  const random: Check = {
    name: 'any order of calls ends as it does in a plain map',
    run: async () => {
      const { snapshotModel } = await import('../models/sessions.ts');
      await snapshotModel((keep) => withBench(open, ({ store, clock }) => keep(store, clock)));
    },
  };
  const promises = { ...SNAPSHOT_COMMITS, ...SNAPSHOT_LIFE, ...SNAPSHOT_TIMES };
  return skipChecks([...listChecks(promises, (keep) => withBench(open, keep)), random], options);
}
