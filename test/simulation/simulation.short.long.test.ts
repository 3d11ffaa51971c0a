// The engine in simulated worlds full of faults: nothing that was promised is broken, and what breaks a promise is found.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { chooseSize, isShort } from '../support/size.ts';
import { BROKEN } from './broken.ts';
import { describeFailure } from './failure.ts';
import { range, simulate, simulateAll, sumUp } from './many.ts';
import { simulateInPool } from './pool.ts';
import { setupOf } from './setup.ts';

/** `npm run simulate` takes as many as are wanted. */
const SEEDS = chooseSize({ short: 200, day: 800, whole: 3_000 });
const ON_MEMORY = chooseSize({ short: 60, day: 400, whole: 1_000 });

const test = suite('simulation');

test(`${SEEDS.toLocaleString('en')} seeds of crashes, lost answers, duplicates and wrong clocks break no promise`, async () => {
  const stretch = { from: 1, count: SEEDS, store: 'simulated', changes: {} };
  const { failed, tally } = isShort ? await sumUp(stretch) : await simulateInPool(stretch, { processes: 2 });
  const [seed] = failed;
  if (seed !== undefined) assert.unreachable(await describeFailure({ seed, store: 'simulated', changes: {} }));
  assert.is(tally.seeds, SEEDS);
  // Faults that no longer happen would prove nothing.
  const missing = Object.entries(tally).filter(([name, count]) => name !== 'violations' && count === 0);
  assert.equal(missing, []);
});

test(`on the real memory store ${ON_MEMORY.toLocaleString('en')} seeds break no promise`, async () => {
  const { failed, tally } = await sumUp({ from: 1, count: ON_MEMORY, store: 'memory', changes: {} });
  const [seed] = failed;
  if (seed !== undefined) assert.unreachable(await describeFailure({ seed, store: 'memory', changes: {} }));
  assert.is(tally.seeds, ON_MEMORY);
});

test('a seed decides everything: the same trace again, alone or among others, in this process and in another', async () => {
  const alone: string[] = [];
  for (const seed of range(100, 10)) alone.push((await simulate(seed)).hash);
  const among = new Map<number, string>();
  await simulateAll(range(95, 25), {}, ({ seed, hash }) => among.set(seed, hash));
  assert.equal(
    alone,
    [...range(100, 10)].map((seed) => among.get(seed)),
  );
  assert.is(new Set(among.values()).size, 25);
  // Another process takes real time, timers and chance of its own, so none of them is asked.
  if (isShort) return;
  const stretch = { from: 1, count: 500, store: 'simulated', changes: {} };
  assert.equal(await simulateInPool(stretch, { processes: 2 }), await sumUp(stretch));
});

for (const [lack, { breaks }] of Object.entries(BROKEN))
  test(`a store without ${lack} is found: ${breaks}`, async () => {
    for (let seed = 1; ; seed++) {
      const { violations } = await simulate(seed, setupOf(`no-${lack}`));
      if (violations.some(({ promise }) => promise === breaks)) return;
    }
  });

test.run();
