// The engine in simulated worlds full of faults: nothing that was promised is broken, and what breaks a promise is found.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtFile } from '../support/build.ts';
import { killed } from '../support/process.ts';
import { chooseSize } from '../support/size.ts';
import { BROKEN } from './broken.ts';
import { describeFailure } from './failure.ts';
import { range, simulate, simulateAll, sumUp } from './many.ts';
import { readChanges } from './options.ts';
import { simulateInPool } from './pool.ts';
import { setupOf } from './setup.ts';

/** `npm run simulate` takes as many as are wanted. */
const SEEDS = chooseSize({ short: 200, day: 1_500, whole: 3_000 });
/** Within so many seeds every broken store is found. */
const FOUND_WITHIN = 300;

const test = suite('simulation');

test(`${SEEDS.toLocaleString('en')} seeds of crashes, lost answers, duplicates and wrong clocks break no promise`, async () => {
  const sum = await simulateInPool({ from: 1, count: SEEDS, store: 'simulated', changes: {} }, { processes: 2 });
  const [seed] = sum.failed;
  if (seed !== undefined) assert.unreachable(await describeFailure({ seed, store: 'simulated', changes: {} }));
  const { tally } = sum;
  assert.is(tally.seeds, SEEDS);
  // Faults that no longer happen would prove nothing.
  const rare = Object.entries(tally).filter(([name, count]) => name !== 'violations' && count < SEEDS / 100);
  assert.equal(rare, []);
});

test('on the real memory store 1,000 seeds break no promise', async () => {
  const { failed, tally } = await sumUp({ from: 1, count: 1_000, store: 'memory', changes: {} });
  const [seed] = failed;
  if (seed !== undefined) assert.unreachable(await describeFailure({ seed, store: 'memory', changes: {} }));
  assert.is(tally.seeds, 1_000);
});

test('a seed decides everything: the same trace again, alone or among others, in this process and in another', async () => {
  const alone: string[] = [];
  for (const seed of range(100, 20)) alone.push((await simulate(seed)).hash);
  const among = new Map<number, string>();
  await simulateAll(range(90, 60), {}, ({ seed, hash }) => among.set(seed, hash));
  assert.equal(
    alone,
    [...range(100, 20)].map((seed) => among.get(seed)),
  );
  assert.is(new Set(among.values()).size, 60);
  const stretch = { from: 1, count: 500, store: 'simulated', changes: {} };
  const here = await sumUp(stretch);
  const there = await simulateInPool(stretch, { processes: 2 });
  assert.equal(there, here);
});

// In a process of its own: in this one, what other files left behind looks at the time as well.
test('no seed asks the real time, a real timer or real chance', async () => {
  const child = fork(await builtFile('test/simulation/real-calls.ts'), { execArgv: [] });
  try {
    const [asked] = await once(child, 'message', { signal: AbortSignal.timeout(60_000) });
    assert.equal(asked, []);
  } finally {
    await killed(child);
  }
});

for (const [lack, { breaks }] of Object.entries(BROKEN))
  test(`a store without ${lack} is found: ${breaks}`, async () => {
    for (const seed of range(1, FOUND_WITHIN)) {
      const { violations } = await simulate(seed, setupOf(`no-${lack}`));
      if (violations.some(({ promise }) => promise === breaks)) return;
    }
    assert.unreachable(`not found within ${FOUND_WITHIN} seeds`);
  });

test('a violation is told with its seed, its options, the trace before it and the command that repeats it', async () => {
  const { failed } = await sumUp({ from: 1, count: 20, store: 'no-compare-and-set', changes: {} });
  const told = await describeFailure({ seed: failed[0]!, store: 'no-compare-and-set', changes: {} });
  const { command, changes } =
    /^repeat it: (?<command>npm run simulate -- --seed \d+ --seeds 1 --trace --store \S+ --set (?<changes>\S+))$/m.exec(
      told,
    )?.groups ?? {};
  assert.ok(command, told);
  assert.match(told, `seed ${failed[0]} breaks a promise: `);
  assert.match(told, /^options: \{"sessions":/m);
  assert.match(told, /^ {2}s\d +\d+ ms {2}process \d: commit at \d/m);
  assert.ok(told.split('\n').length < 80, told);
  // What it says is enough, is enough.
  const setup = setupOf('no-compare-and-set');
  const again = await simulate(failed[0]!, { ...setup, changes: readChanges(changes!) });
  assert.ok(again.violations.length);
});

test.run();
