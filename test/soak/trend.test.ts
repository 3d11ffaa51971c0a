// What counts as growth in a soak: a trend beyond its scatter and beyond what is allowed.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { allowedGrowth, fitTrend, isGrowing } from './trend.ts';

const test = suite('trend of a soak');

test('the line through points on a line is that line', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1_000, max: 1_000 }), fc.integer({ min: 3, max: 50 }), (slope, count) => {
      const { slope: found, error } = fitTrend(Array.from({ length: count }, (_, x) => [x, slope * x + 7] as const));
      assert.ok(Math.abs(found - slope) < 1e-6 && error < 1e-3, `${found} ± ${error}`);
    }),
  );
});

test('a leak is found under scatter; scatter alone, a saw tooth and what is allowed are none', () => {
  let state = 42;
  const noise = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 32 - 0.5) * 2_000_000;
  };
  const points = (leak: number) => Array.from({ length: 24 }, (_, x) => [x, 50_000_000 + leak * x + noise()] as const);
  assert.is(isGrowing(points(1_000_000), 8_000_000), true);
  assert.is(isGrowing(points(0), 1_000_000), false);
  assert.is(isGrowing(points(200_000), 8_000_000), false);
  const saw = Array.from({ length: 24 }, (_, x) => [x, (x % 4) * 5_000_000] as const);
  assert.is(isGrowing(saw, 8_000_000), false);
});

test('a short run may grow with its work, a long one with its time alone', () => {
  const mebibytes = (pieces: number, seconds: number) => allowedGrowth({ pieces, seconds }) / 1_048_576;
  assert.is(mebibytes(100, 72), 8);
  assert.is(mebibytes(20_480, 72), 20);
  assert.is(mebibytes(2_048_000, 3_600), 256);
  assert.is(mebibytes(2_048_000, 900), 64);
  assert.is(mebibytes(20_480, 900), 20);
});

test.run();
