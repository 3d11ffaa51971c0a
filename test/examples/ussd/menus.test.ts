// The example menus are as lint wants them, their tests pass, and recorded dialogues that reach all of them read today as they did.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { run } from '../../server/support/command.ts';
import { FOLDER, listFiles, SETTINGS } from './place.ts';

const test = suite('example menus');

test('lint finds nothing', async () => {
  const { code, out } = await run(['lint', FOLDER], SETTINGS);
  assert.is(code, 0, out);
  assert.match(out, /^14 flows, 0 errors, 0 warnings$/);
});

test('dialogues of recordings and tests are the same, and reach every screen, option and way', async () => {
  const dialogues = [...listFiles('dialogues', '.jsonl'), ...listFiles('.', '.test.json')];
  const { code, out } = await run(['replay', ...dialogues, '--menus-dir', FOLDER, '--coverage'], SETTINGS);
  assert.is(code, 0, out);
  assert.match(out, / turns: \d+ same, 0 moved, 0 different$/m);
  assert.equal(
    out.split('\n').filter((line) => line.includes('no test reaches')),
    [],
  );
});

test.run();
