// The exit code and the last line of a run: what a person, a script and CI rely on.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runFixture } from './spawn.ts';

/** Whoever hangs is ended after a second. */
const SOON = ['--stall', '1000'];

const test = suite('outcome');

test('a good run ends with its counts and exit code 0', async () => {
  const { code, text, lastLine } = await runFixture('good');
  assert.is(lastLine, '5 passed, 0 failed', text);
  assert.is(code, 0);
  assert.match(text, /^✓ good\.test\.ts {2}4 passed {2}\d+ ms$/m);
  assert.match(text, /^a line of a test$/m);
  assert.not.match(text, /•|Total:/);
});

test('a word chooses files by their path, and a word without a file fails', async () => {
  const [one, none] = await Promise.all([
    runFixture('good', { words: ['linger'] }),
    runFixture('good', { words: ['linger', 'nosuch'] }),
  ]);
  assert.is(one.lastLine, '1 passed, 0 failed');
  assert.is(one.code, 0);
  assert.is(none.lastLine, '1 passed, 1 failed');
  assert.is(none.code, 1);
  assert.match(none.text, /nosuch\n +no test file has this in its path/);
});

test('an unknown option fails instead of running everything', async () => {
  const { code, text, lastLine } = await runFixture('good', { words: ['--updat'] });
  assert.is(code, 1);
  assert.is(lastLine, '0 passed, 1 failed');
  assert.match(text, /Unknown option '--updat'/);
});

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
