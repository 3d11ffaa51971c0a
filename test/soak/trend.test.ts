// What counts as growth in a soak: a trend beyond its scatter and beyond what is allowed.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isGrowing } from './trend.ts';

const test = suite('trend of a soak');

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

test.run();
