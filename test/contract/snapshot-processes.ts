// What every SnapshotStore that outlives a process promises about two of them that write the same keys.

import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { once } from 'node:events';
import * as assert from 'uvu/assert';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { builtFile } from '../support/build.ts';
import { killed } from '../support/process.ts';
import { until } from '../support/until.ts';

interface Counted {
  readonly count: number;
  readonly conflicts: number;
}

/** Starts store/snapshot-child.ts with a job. */
export async function snapshotChild(place: string, job: string): Promise<ChildProcess> {
  return fork(await builtFile('test/store/snapshot-child.ts'), [place, job], { execArgv: [] });
}

/** Two processes count up the same keys until they have met there; no count is lost. */
export async function noCountIsLost(place: string, store: SnapshotStore): Promise<void> {
  const children = await Promise.all([1, 2].map(() => snapshotChild(place, 'increment')));
  try {
    const told = children.map((): Counted => ({ count: 0, conflicts: 0 }));
    for (const [at, child] of children.entries())
      child.on('message', (what: Serializable) => (told[at] = what as unknown as Counted));
    const sum = (pick: (one: Counted) => number) => told.reduce((total, one) => total + pick(one), 0);
    await until(
      'both to count, and to meet',
      () => told.every(({ count }) => count > 0) && sum((one) => one.conflicts),
    );
    for (const child of children) child.send('stop');
    await Promise.all(children.map((child) => once(child, 'exit')));
    const { keys } = await store.list();
    const counters = await Promise.all(keys.map(async (key) => store.load(key)));
    assert.is(
      counters.reduce((total, counter) => total + Number(counter!.record), 0),
      sum(({ count }) => count),
    );
    for (const counter of counters) assert.is(Number(counter!.record), counter!.revision);
    for (const key of keys) await store.remove(key);
  } finally {
    await Promise.all(children.map(killed));
  }
}
