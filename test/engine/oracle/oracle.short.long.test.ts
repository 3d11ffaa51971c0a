// Random statecharts in Twinline and in XState itself: a machine that is stored between any two events does what one does that
// never left memory.

import fc from 'fast-check';
import { suite } from 'uvu';
import { chooseSize } from '../../support/size.ts';
import { toMachine } from './chart.ts';
import { compare } from './compare.ts';
import { inDocument, inSession } from './durable.ts';
import { type Case, callingCases, quietCases } from './generate.ts';

const test = suite('statecharts');

const CASES = chooseSize({ short: 500, day: 5_000, whole: 100_000 });
const seed = Number(process.env.TEST_SEED ?? 1);

const assertCases = (cases: fc.Arbitrary<Case>, numRuns: number, begin: Parameters<typeof compare>[2]) =>
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

test(`${CASES} random machines without calls are where XState is`, async () => {
  await assertCases(quietCases, CASES / 2, (...args) => inSession(...args));
  await assertCases(quietCases, CASES / 2, (...args) => inDocument(...args));
});

test(`${CASES} random machines with calls are where XState is`, async () => {
  await assertCases(callingCases, CASES / 2, (...args) => inDocument(...args));
});

test.run();
