// Random statecharts in Twinline and in XState itself: a machine that is stored between any two events does what one does that
// never left memory.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SimulatedClock } from '../../../lib/clock.ts';
import { lmdbSnapshots } from '../../../lib/store/lmdb/index.ts';
import { chooseSize } from '../../support/size.ts';
import { toMachine } from './chart.ts';
import { compare } from './compare.ts';
import { inDocument, inSession } from './durable.ts';
import { type Case, callingCases, quietCases } from './generate.ts';

const test = suite('statecharts');

const CASES = chooseSize({ short: 500, day: 500, whole: 100_000 });
// CI compares the same cases each day; other seeds look for new differences (`TEST_SIZE=whole`, --seed).
const runSeed = Number(process.env.TEST_SEED ?? 1);
const firstSeed = chooseSize({ short: 1, day: 1, whole: runSeed });

interface Regression extends Case {
  readonly about: string;
}

/** What was different once, as small as it became. */
const REGRESSIONS = JSON.parse(
  readFileSync(new URL('regressions.json', import.meta.url), 'utf8'),
) as readonly Regression[];

for (const { about, ...one } of REGRESSIONS)
  test(`${about}: the same in memory, in a session and in a document`, async () => {
    const isCalling = JSON.stringify(one.chart).includes('"invoke"');
    for (const isAsleep of isCalling ? [false] : [false, true])
      for (const begin of [inSession, inDocument])
        assert.ok(
          await compare(toMachine(one.chart), { ...one, isAsleep }, (...args) => begin(...args)),
          'compared to its end',
        );
  });

const assertCases = (
  cases: fc.Arbitrary<Case>,
  numRuns: number,
  begin: Parameters<typeof compare>[2],
  seed = firstSeed,
) =>
  fc.assert(
    fc.asyncProperty(cases, async (one) => {
      await compare(toMachine(one.chart), one, begin);
    }),
    {
      numRuns,
      seed,
      reporter: (details) => {
        if (!details.failed) return;
        const [smallest] = details.counterexample ?? [];
        throw new Error(
          `seed ${details.seed}, case ${details.numRuns}, made smaller ${details.numShrinks} times:\n${JSON.stringify(smallest)}\n${details.errorInstance}`,
        );
      },
    },
  );

// Many cases are many tests, so that the runner sees how far they have come.
const PART = 2_000;
const quarter = Math.ceil(CASES / 4);

for (let from = 0; from < quarter; from += PART) {
  const count = Math.min(PART, quarter - from);
  const seed = firstSeed + from;
  test(`from ${from}: ${2 * count} random machines without calls are where XState is, whenever somebody looks`, async () => {
    await assertCases(quietCases, count, (...args) => inSession(...args), seed);
    await assertCases(quietCases, count, (...args) => inDocument(...args), seed);
  });

  test(`from ${from}: ${2 * count} random machines with calls that answer late, fail or never end are where XState is`, async () => {
    await assertCases(callingCases, count, (...args) => inSession(...args), seed);
    await assertCases(callingCases, count, (...args) => inDocument(...args), seed);
  });
}

test('random machines are where XState is when LMDB keeps them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'oracle-'));
  let nth = 0;
  const open = (clock: SimulatedClock) => lmdbSnapshots({ path: join(folder, `${nth++}`), clock });
  await assertCases(quietCases, Math.ceil(CASES / 50), (machine, behaviours, input) =>
    inSession(machine, behaviours, input, open),
  );
  rmSync(folder, { recursive: true });
});

test.run();
