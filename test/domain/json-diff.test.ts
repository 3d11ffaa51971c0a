// Differences of JSON values: applied, they make the one of the other; and they cost no more than their bytes allow.

import fc from 'fast-check';
import { createPatch } from 'rfc6902';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DOMAIN_LIMITS } from '../../lib/domain/limits.ts';
import { diffJson } from '../../lib/json/compare.ts';
import type { Json } from '../../lib/json/json.ts';
import { applyJsonPatch, type Operation } from '../../lib/json/patch.ts';

const test = suite('differences of JSON');

const BUDGET = DOMAIN_LIMITS.historyDiff;
const TIGHT = { cellsPerList: 6, cells: 12, pathChars: 60 };

const small = fc.constantFrom<Json>(null, true, 0, 1, 'a', 'b', '~/');
const value = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    small,
    fc.array(tie('json'), { maxLength: 6 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c/d', '~', ''), tie('json'), { noNullPrototype: true }),
  ),
})).json;

test('applied to the one value, the operations make the other, within any budget', () => {
  const copyBytes = 0;
  fc.assert(
    fc.property(value, value, fc.constantFrom(BUDGET, TIGHT), (before, after, budget) => {
      const { operations } = diffJson(before, after, budget);
      const result = applyJsonPatch(before, operations as unknown as Operation[], { copyBytes });
      assert.equal(result, { value: after });
    }),
    { numRuns: 3_000 },
  );
});

test('small changes are told in the same operations as by the reference library', () => {
  fc.assert(
    fc.property(value, value, (before, after) => {
      assert.equal(diffJson(before, after, BUDGET).operations, createPatch(before, after));
    }),
    { numRuns: 2_000 },
  );
});

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, at) => from + at);
const WORST: { readonly [shape: string]: readonly [Json, Json] } = {
  'lists with nothing in common': [numbers(50_000), numbers(50_000, 50_000)],
  'lists that share every other item': [numbers(20_000), numbers(20_000).map((at) => (at % 2 ? at : -at))],
  'many lists of moderate length': [
    numbers(1_000).map(() => numbers(100)),
    numbers(1_000).map(() => numbers(100, 1_000)),
  ],
  'lists of objects': [numbers(10_000).map((a) => ({ a })), numbers(10_000).map((b) => ({ b }))],
  'a long name above many changes': [
    { ['x'.repeat(100_000)]: Object.fromEntries(numbers(10_000).map((at) => [at, 0])) },
    { ['x'.repeat(100_000)]: Object.fromEntries(numbers(10_000).map((at) => [at, 1])) },
  ],
  'an object with many other names': [
    Object.fromEntries(numbers(60_000).map((at) => [`a${at}`, at])),
    Object.fromEntries(numbers(60_000).map((at) => [`b${at}`, at])),
  ],
  'lists in lists, with a change inside': [chain(60, 1), chain(60, 2)],
};

function chain(levels: number, end: Json): Json {
  const wide = numbers(1_000);
  return numbers(levels).reduce<Json>((inner) => [[...wide, inner], inner === end ? 0 : 1], end);
}

test('the cost is bounded by the bytes of both values, and so are the operations', () => {
  for (const [shape, [before, after]] of Object.entries(WORST)) {
    const bytes = JSON.stringify(before).length + JSON.stringify(after).length;
    const { operations, steps } = diffJson(before, after, BUDGET);
    assert.ok(steps <= 4 * bytes + BUDGET.cells, `${shape}: ${steps} steps for ${bytes} bytes`);
    const told = JSON.stringify(operations).length;
    assert.ok(told <= 4 * bytes + 2 * BUDGET.pathChars, `${shape}: ${told} bytes of operations for ${bytes}`);
    const result = applyJsonPatch(before, operations as unknown as Operation[], { copyBytes: 0 });
    assert.is(JSON.stringify(result), JSON.stringify({ value: after }), shape);
  }
});

test.run();
