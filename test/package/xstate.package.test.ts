// The oldest XState of the peer dependency's range: the engine's tests hold with it, and its types fit.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ROOT } from './manifest.ts';

const test = suite('oldest XState');

const HOOK = pathToFileURL(join(ROOT, 'test/fixtures/package/oldest-xstate.mjs')).href;
const WORDS = [
  'engine/shortcut',
  'engine/differential',
  'engine/step',
  'engine/turn',
  'engine/transition',
  'engine/timers',
];

test('the engine runs machines of the oldest version as XState does', async () => {
  const env = { ...process.env, NO_COLOR: '1', NODE_OPTIONS: `--import=${HOOK}` };
  const run = promisify(execFile);
  const args = ['--import', 'tsx', join(ROOT, 'test/run.ts'), ...WORDS];
  const { stdout } = await run(process.execPath, args, { cwd: ROOT, env, maxBuffer: 2 ** 24 }).catch((error) => error);
  assert.match(stdout, /^[1-9]\d* passed, 0 failed$/m, stdout);
});

test.run();
