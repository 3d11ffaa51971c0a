// What every store promises, under our runner; run it with a function that opens the store. In `npm test` every `nth` of the promises
// is tried, and always the comparison with a model.

import type { Check } from '../../lib/testing/checks.ts';
import type { OpenDocuments } from '../../lib/testing/documents/bench.ts';
import { type OpenLogs, withLogs } from '../../lib/testing/logs/bench.ts';
import type { OpenSnapshots } from '../../lib/testing/sessions/bench.ts';
import { documentStoreChecks, logStoreChecks, snapshotStoreChecks } from '../../lib/testing/stores.ts';
import { sample } from '../support/size.ts';
import { suite } from '../support/suites.ts';
import { LOG_MEMORY } from './log-memory.ts';

export function documentStoreContract(name: string, open: OpenDocuments, nth = 1): void {
  run(`document store ${name}`, sample(documentStoreChecks(open).toReversed(), nth));
}

export function snapshotStoreContract(name: string, open: OpenSnapshots): void {
  run(`snapshot store ${name}`, snapshotStoreChecks(open));
}

export function logStoreContract(name: string, open: OpenLogs, nth = 1): void {
  run(`log store ${name}`, sample(logStoreChecks(open).toReversed(), nth));
}

/** Measures memory: only for files that run in a process of their own. */
export function logMemoryContract(name: string, open: OpenLogs): void {
  const checks = Object.entries(LOG_MEMORY).map(([promise, keep]) => ({
    name: promise,
    run: () => withLogs(open, keep),
  }));
  run(`memory of the log store ${name}`, checks);
}

function run(name: string, checks: readonly Pick<Check, 'name' | 'run'>[]): void {
  const test = suite(name);
  for (const check of checks) test(check.name, check.run);
  test.run();
}
