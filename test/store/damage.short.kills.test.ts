// Files of stores that were cut or overwritten: whoever opens them is refused with words, or gets right answers, or is told of the
// damage for as long as the store is open. No process is ended by them, and none says that it is well while it fails.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtFile } from '../support/build.ts';
import { withFolder } from '../support/process.ts';
import { chooseSize } from '../support/size.ts';

const test = suite('damaged stores');

const SEED = Number(process.env.TEST_SEED ?? 1);
const CASES = chooseSize({ short: 40, day: 150, whole: 3_000 });

interface Outcome {
  readonly what: string;
  readonly outcome: string;
}

async function damage(store: string, folder: string): Promise<readonly Outcome[]> {
  const args = [await builtFile('test/store/damage-child.ts'), store, folder, String(SEED), String(CASES)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const ended = await new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ?? code)));
  assert.is(ended, 0, `${ended === 0 ? '' : readFileSync(join(folder, 'case'), 'utf8')}\n${err}`);
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Outcome);
}

for (const [store, name] of Object.entries({ lmdb: 'LMDB', sqlite: 'SQLite' }))
  test(`${name}: a file that was cut or overwritten is refused, answers right, or says that it is damaged`, () =>
    withFolder(async (folder) => {
      const [untouched, ...outcomes] = await damage(store, folder);
      assert.equal(untouched, { what: 'nothing', outcome: 'well' });
      assert.is(outcomes.length, CASES - 1);
      const odd = outcomes.filter(({ outcome }) => !['refused', 'damaged', 'well'].includes(outcome));
      assert.equal(odd, []);
      assert.ok(outcomes.some(({ outcome }) => outcome !== 'well'));
    }));

test.run();
