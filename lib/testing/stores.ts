// What every store promises, as checks for any test runner.

import { withBench } from './bench.ts';
import { type Check, listChecks, type SuiteOptions, skipChecks } from './checks.ts';
import { type OpenDocuments, withDocuments } from './documents/bench.ts';
import { DOCUMENT_LIFE } from './documents/life.ts';
import { DOCUMENT_QUERIES } from './documents/queries.ts';
import { DOCUMENT_WRITES } from './documents/writes.ts';
import { LOG_APPENDS } from './logs/appends.ts';
import { type OpenLogs, withLogs } from './logs/bench.ts';
import { LOG_FOLLOWERS } from './logs/followers.ts';
import { LOG_READS } from './logs/reads.ts';
import { withFastCheck } from './random.ts';
import type { OpenSnapshots } from './sessions/bench.ts';
import { SNAPSHOT_COMMITS } from './sessions/commits.ts';
import { SNAPSHOT_LIFE } from './sessions/life.ts';
import { SNAPSHOT_TIMES } from './sessions/times.ts';

const ANY_ORDER_AS_MAP = 'any order of calls ends as it does in a plain map';
const ANY_ORDER_AS_ARRAYS = 'any order of calls ends as it does in plain arrays';

/**
 * The checks of a SnapshotStore. `open` is called for each check, with a new empty folder and a clock that stands still: the same
 * folder again means the same data, another folder other data. Each store that was opened is closed by the check. The last check makes
 * random calls, for which the package `fast-check` must be installed; `seed` and `path` make those of a failure again.
 * @example
 * // In node:test: for (const { name, run, skip } of checks) test(name, { skip }, run);
 * const checks = snapshotStoreChecks(({ clock }) => memorySnapshots({ clock }));
 * await checks[0]!.run();
 * checks.length > 0; // → true
 */
export function snapshotStoreChecks(open: OpenSnapshots, options: SuiteOptions = {}): Check[] {
  const random = async () => {
    const { snapshotModel } = await withFastCheck(() => import('./models/sessions.ts'));
    await snapshotModel((keep) => withBench(open, ({ store, clock }) => keep(store, clock)), options);
  };
  const promises = { ...SNAPSHOT_COMMITS, ...SNAPSHOT_LIFE, ...SNAPSHOT_TIMES };
  const checks = listChecks(promises, (keep) => withBench(open, keep));
  return skipChecks([...checks, { name: ANY_ORDER_AS_MAP, run: random }], options);
}

/**
 * The checks of a DocumentStore; `open` as in {@link snapshotStoreChecks}.
 * @example
 * // In node:test: for (const { name, run, skip } of checks) test(name, { skip }, run);
 * const checks = documentStoreChecks(({ clock }) => memoryDocuments({ clock }));
 * await checks[0]!.run();
 * checks.length > 0; // → true
 */
export function documentStoreChecks(open: OpenDocuments, options: SuiteOptions = {}): Check[] {
  const random = async () => {
    const { documentModel } = await withFastCheck(() => import('./models/documents.ts'));
    await documentModel((keep) => withDocuments(open, ({ store }) => keep(store)), options);
  };
  const promises = { ...DOCUMENT_LIFE, ...DOCUMENT_QUERIES, ...DOCUMENT_WRITES };
  const checks = listChecks(promises, (keep) => withDocuments(open, keep));
  return skipChecks([...checks, { name: ANY_ORDER_AS_MAP, run: random }], options);
}

/**
 * The checks of a LogStore; `open` as in {@link snapshotStoreChecks}. One has 200 followers at once: a store that polls for each of them
 * may need a minute for it, so let the followers of a process share what they read.
 * @example
 * const checks = logStoreChecks(({ clock }) => memoryLogs({ clock }));
 * await checks[0]!.run();
 * checks.length > 0; // → true
 */
export function logStoreChecks(open: OpenLogs, options: SuiteOptions = {}): Check[] {
  const random = async () => {
    const { logModel } = await withFastCheck(() => import('./models/logs.ts'));
    await logModel((keep) => withLogs(open, ({ store, clock }) => keep(store, clock)), options);
  };
  const promises = { ...LOG_APPENDS, ...LOG_FOLLOWERS, ...LOG_READS };
  const checks = listChecks(promises, (keep) => withLogs(open, keep));
  return skipChecks([...checks, { name: ANY_ORDER_AS_ARRAYS, run: random }], options);
}
