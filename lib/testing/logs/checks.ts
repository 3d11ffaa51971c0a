// What every LogStore promises, as checks for any test runner.

import { type Check, listChecks, type SkipOptions, skipChecks } from '../checks.ts';
import { LOG_APPENDS } from './appends.ts';
import { type OpenLogs, withLogs } from './bench.ts';
import { LOG_FOLLOWERS } from './followers.ts';
import { LOG_READS } from './reads.ts';

/**
 * The checks of a LogStore. `open` is called for each check, with a new empty folder and a clock that stands still: the same
 * folder again means the same data, another folder other data. Each store that was opened is closed by the check. The last check makes
 * random calls, for which the package `fast-check` must be installed.
 */
export function logStoreChecks(open: OpenLogs, options: SkipOptions = {}): Check[] {
  const random: Check = {
    name: 'any order of calls ends as it does in plain arrays',
    run: async () => {
      const { logModel } = await import('../models/logs.ts');
      await logModel((keep) => withLogs(open, ({ store, clock }) => keep(store, clock)));
    },
  };
  const promises = { ...LOG_APPENDS, ...LOG_FOLLOWERS, ...LOG_READS };
  return skipChecks([...listChecks(promises, (keep) => withLogs(open, keep)), random], options);
}
