// `twinline convert`: files that are written, what is printed and what is not, exit codes.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { run, withFiles } from '../support/command.ts';

const test = suite('convert on the command line');

const PRO = fileURLToPath(new URL('../../fixtures/convert/mkulima.rapidpro.json', import.meta.url));

test('flows are written, and lint and the report say the same as the library', () =>
  withFiles({}, async (folder) => {
    const out = join(folder, 'menus');
    const report = join(folder, 'report.json');
    const ran = await run(['convert', PRO, '--out', out, '--report', report]);
    const names = ['mkulima_line', 'short_survey'];
    assert.equal([ran.code, ran.out], [0, names.map((name) => join(out, `${name}.flow.json`)).join('\n')]);
    assert.is(ran.err.split('\n').at(-1), '8 things have no counterpart.');
    assert.is(JSON.parse(readFileSync(report, 'utf8')).length, 8);
    const lint = await run(['lint', out]);
    assert.is(lint.code, 0);
    assert.match(lint.out, '2 flows, 0 errors');
  }));

test('nothing is written over without --force', () =>
  withFiles({ 'short_survey.flow.json': '{}' }, async (folder) => {
    const args = ['convert', PRO, '--out', folder];
    const refused = await run(args);
    assert.is(refused.code, 1);
    assert.match(
      refused.err,
      /^Nothing was written: .*short_survey\.flow\.json is there already\. Give another --out, or --force\.$/,
    );
    assert.not.ok(existsSync(join(folder, 'mkulima_line.flow.json')));
    assert.is((await run([...args, '--force'])).code, 0);
  }));

test('broken files end with 1 and what is wrong, wrong arguments with 2 and the help', () =>
  withFiles({ 'broken.json': '{"flows": ' }, async (folder) => {
    const broken = await run(['convert', join(folder, 'broken.json')]);
    assert.is(broken.code, 1);
    assert.match(broken.err, /^Cannot convert .*broken\.json: line 1, column 11: /);
    for (const [args, words] of [
      [[], 'Give one file that RapidPro or TextIt exported.'],
      [[PRO, PRO], 'Give one file that RapidPro or TextIt exported.'],
      [[join(folder, 'none.json')], 'Cannot read '],
    ] as const) {
      const { code, err } = await run(['convert', ...args]);
      assert.is(code, 2, err);
      assert.match(err, words);
      assert.match(err, 'Usage: twinline convert');
    }
  }));

test.run();
