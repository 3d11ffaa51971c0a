// What the rule finds, and what it leaves alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFlow } from 'twinline/flow';
import rule from '../index.js';

/** Where the rule finds something in a flow that ends with this text. */
function find(/** @type {unknown} */ text) {
  const source = { flow: 'main', version: 1, start: 'bye', screens: { bye: { type: 'end', text } } };
  const { problems } = checkFlow(JSON.stringify(source), 'main.flow.json', { rules: [rule] });
  return problems.filter(({ code }) => code === rule.code);
}

test('a text that is all capitals is found, where it stands', () => {
  const [found, ...more] = find('GO AWAY');
  assert.deepEqual(more, []);
  assert.equal(found?.pointer, '/screens/bye/text');
});

test('calm texts and abbreviations are left alone', () => {
  assert.deepEqual(find('Thank you.'), []);
  assert.deepEqual(find('OK'), []);
});
