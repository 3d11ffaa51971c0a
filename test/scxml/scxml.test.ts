// The engine against SCXML: the cases that XState's own suite runs, with the process restarted between every event.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CASES, OUT_OF_REACH } from './cases.ts';
import { runCase } from './durable.ts';

const test = suite('scxml');
const passing = CASES.length - Object.keys(OUT_OF_REACH).length;

test(`${passing} of ${CASES.length} SCXML cases pass with the process restarted between every event`, async () => {
  const failed: { [name: string]: string } = {};
  for (const name of CASES)
    await runCase(name).catch((error) => {
      failed[name] = OUT_OF_REACH[name] ?? String(error instanceof Error ? error.stack : error);
    });
  assert.equal(failed, OUT_OF_REACH);
  assert.is(passing, 160);
  assert.is(CASES.length, 169);
});

test.run();
