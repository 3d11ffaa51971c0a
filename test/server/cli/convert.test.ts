// `twinline convert`: files that are written, what is printed and what is not, exit codes.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { run, withFiles } from '../support/command.ts';

const test = suite('convert on the command line');

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/convert/${name}`, import.meta.url));
const menu = fileURLToPath(new URL('../../../menus/wallet.flow.json', import.meta.url));
const PRO = fixture('mkulima.rapidpro.json');
const FLOIP = fixture('clinic.floip.json');

test('flows of both formats are written, and lint and the report say the same as the library', () =>
  withFiles({}, async (folder) => {
    for (const [from, file, names, things] of [
      ['rapidpro', PRO, ['mkulima_line', 'short_survey'], 8],
      ['floip', FLOIP, ['village_clinic', 'rating'], 5],
    ] as const) {
      const out = join(folder, from);
      const report = join(folder, `${from}.json`);
      const ran = await run(['convert', '--from', from, file, '--out', out, '--report', report]);
      assert.equal([ran.code, ran.out], [0, names.map((name) => join(out, `${name}.flow.json`)).join('\n')]);
      assert.is(ran.err.split('\n').at(-1), `${things} things have no counterpart.`);
      assert.is(JSON.parse(readFileSync(report, 'utf8')).length, things);
      const lint = await run(['lint', out]);
      assert.is(lint.code, 0);
      assert.match(lint.out, '2 flows, 0 errors');
    }
  }));

test('a flow becomes a container, on standard output or in a file', () =>
  withFiles({}, async (folder) => {
    const { code, out, err } = await run(['convert', '--to', 'floip', menu]);
    assert.is(code, 0);
    assert.is(JSON.parse(out).specification_version, '1.0.0-rc3');
    assert.match(err, 'wallet: vars.pin.secret. FLOIP has no secrets');
    const file = join(folder, 'wallet.floip.json');
    assert.is((await run(['convert', '--to', 'floip', menu, '--out', file])).out, file);
    assert.equal(JSON.parse(readFileSync(file, 'utf8')), JSON.parse(out));
  }));

test('nothing is written over without --force', () =>
  withFiles({ 'rating.flow.json': '{}' }, async (folder) => {
    const args = ['convert', '--from', 'floip', FLOIP, '--out', folder];
    const refused = await run(args);
    assert.is(refused.code, 1);
    assert.match(
      refused.err,
      /^Nothing was written: .*rating\.flow\.json is there already\. Give another --out, or --force\.$/,
    );
    assert.not.ok(existsSync(join(folder, 'village_clinic.flow.json')));
    assert.is((await run([...args, '--force'])).code, 0);
  }));

test('broken files end with 1 and what is wrong, wrong arguments with 2 and the help', () =>
  withFiles({ 'broken.json': '{"flows": ', 'bad.flow.json': '{"flow": "bad"}' }, async (folder) => {
    const broken = await run(['convert', '--from', 'rapidpro', join(folder, 'broken.json')]);
    assert.is(broken.code, 1);
    assert.match(broken.err, /^Cannot convert .*broken\.json: line 1, column 11: /);
    const bad = await run(['convert', '--to', 'floip', join(folder, 'bad.flow.json')]);
    assert.is(bad.code, 1);
    assert.match(bad.err, 'bad.flow.json:1:1 error missing-key');
    for (const [args, words] of [
      [[], 'Give one file.'],
      [[PRO], 'Give either --from or --to.'],
      [['--from', 'floip', '--to', 'floip', PRO], 'Give either --from or --to.'],
      [['--from', 'rapdpro', PRO], 'There is no format "rapdpro". Did you mean "rapidpro"?'],
      [['--to', 'rapidpro', menu], 'There is no format "rapidpro" to write. There is: floip.'],
      [['--to', 'floip', PRO], 'Give a flow: a file whose name ends in .flow.json.'],
      [['--to', 'floip', join(folder, 'none.flow.json')], 'There is no '],
      [['--from', 'floip', join(folder, 'none.json')], 'Cannot read '],
    ] as const) {
      const { code, err } = await run(['convert', ...args]);
      assert.is(code, 2, err);
      assert.match(err, words);
      assert.match(err, 'Usage: twinline convert');
    }
  }));

test.run();
