// The exit code and the last line of a run: what a person, a script and CI rely on.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runFixture } from './spawn.ts';

/** Whoever hangs is ended after a second. */
const SOON = ['--stall', '1000'];

const test = suite('outcome');

test('in several processes the same is counted, and one that ends or never yields fails its file alone', async () => {
  const [good, empty, exits, spins] = await Promise.all(
    ['good', 'empty', 'exits', 'spins'].map((name) => runFixture(name, { jobs: 2, words: SOON })),
  );
  assert.equal([good!.lastLine, good!.code], ['5 passed, 0 failed', 0], good!.text);
  assert.equal([empty!.lastLine, empty!.code], ['0 passed, 1 failed', 1], empty!.text);
  assert.equal([exits!.lastLine, exits!.code], ['1 passed, 1 failed', 1], exits!.text);
  assert.match(exits!.text, /✘ early\.test\.ts[\s\S]*its process ended with 0/);
  assert.equal([spins!.code, spins!.signal], [1, null], spins!.text);
  assert.match(spins!.text, /"waits in a promise loop"\n +never yields/);
  assert.match(spins!.text, /its process ended with SIGKILL/);
  assert.match(spins!.lastLine, /^\d+ passed, 1 failed$/);
});

test('skips are counted and explained, and fail when CI=true', async () => {
  const [here, ci] = await Promise.all([runFixture('skips'), runFixture('skips', { env: { CI: 'true' } })]);
  assert.is(here.lastLine, '1 passed, 0 failed, 4 skipped');
  assert.is(here.code, 0);
  for (const words of ['the whole file: skipped, no browser here', 'all › does not run: skipped, no server here'])
    assert.ok(here.text.includes(words), here.text);
  assert.is(ci.lastLine, '1 passed, 1 failed, 4 skipped');
  assert.is(ci.code, 1);
});

test.run();
