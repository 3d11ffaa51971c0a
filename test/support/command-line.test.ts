// What long runs say of the time that they still take.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { timeLeft } from './command-line.ts';

const test = suite('time left');

test('it follows from what was done, in seconds and then in minutes, and is not told before anything was', () => {
  const start = performance.now() - 10_000;
  assert.is(timeLeft({ done: 0, total: 10, start }), '');
  assert.match(timeLeft({ done: 5, total: 10, start }), /^, 1[0-2] s to go$/);
  assert.match(timeLeft({ done: 1, total: 31, start }), /^, 5 min to go$/);
  assert.is(timeLeft({ done: 10, total: 10, start }), ', 0 s to go');
});

test.run();
