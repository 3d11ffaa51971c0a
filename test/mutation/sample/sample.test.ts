// The tests of the sample, which miss one change on purpose.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { countLetters, countTo, GREETING, mayEnter } from './sample.ts';

const test = suite('sample');

let opened = 0;
test.before(() => {
  opened++;
});
test.after(() => {
  opened--;
});

test('children stay outside', () => {
  assert.is(opened, 1);
  assert.ok(mayEnter(30));
  assert.not(mayEnter(7));
});

test('a greeting has two words', () => assert.is(GREETING, 'hello there'));

test('letters are counted', () => assert.is(countLetters('four'), 4));

test('counting comes to an end', () => assert.is(countTo(3), 3));

test.run();
