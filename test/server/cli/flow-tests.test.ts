// `twinline test` beyond running: expectations that follow the flow, names, coverage that is asked for, edits that are watched.

import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ROOT } from '../../package/manifest.ts';
import { builtFile } from '../../support/build.ts';
import { killed } from '../../support/process.ts';
import { run, withFiles } from '../support/command.ts';

const test = suite('test verb');

const FLOW = `{
  "flow": "shop", "version": 1, "start": "door", "keys": { "exit": "*" },
  "screens": {
    "door": { "type": "menu", "text": "Shop", "options": [
      { "id": "in", "text": "Enter", "to": "bread", "track": "came" },
      { "id": "out", "text": "Leave", "to": "bye" } ] },
    "bread": { "type": "menu", "text": "Bread: 20", "options": [{ "id": "buy", "text": "Buy", "to": "bye" }] },
    "bye": { "type": "end", "text": "Bye" }
  }
}`;

// Written as nobody's tool would write it: what is not new must stay so.
const TESTS = `{ "flow": "shop",
   "tests": [
  { "name": "bread is bought",   "note": "Ümlaut \\u00fc",
    "steps": [ { "in": "", "screen": "door",   "text": "Shop\\n1. Enter\\n2. Leave\\n*. Exit" },
               { "in": "1", "track": [ "came" ], "has": "Bread" },
      { "in": "1", "text": "Bye", "end": true } ] },
  { "name": "one leaves", "steps": [ { "in": "" }, { "in": "2", "screen": "bye", "end": true } ] }
]}
`;

const FILES = { 'shop.flow.json': FLOW, 'shop.test.json': TESTS };

test('golden: what it prints', () =>
  withFiles(FILES, async (folder) => {
    const { code, out } = await run(['test', folder]);
    assert.is(code, 0);
    assert.is(
      out,
      [
        'shop',
        '  ✓ bread is bought',
        '  ✓ one leaves',
        '  screens 3/3 (100 %) · options 3/3 (100 %)',
        '2 passed, 0 failed',
      ].join('\n'),
    );
  }));

test('tests of a flow that does not compile are told to be not run', () =>
  withFiles({ ...FILES, 'shop.flow.json': FLOW.replace('"Bye"', '"{{bags * 2}}"') }, async (folder) => {
    const { code, out } = await run(['test', folder]);
    assert.is(code, 1);
    assert.match(out, /Fix: Compute it into a variable before/);
    assert.match(out, /\n0 passed, 0 failed, 2 not run: their flow has errors$/);
  }));

test('--update changes the expectations that differ, and no other character', () =>
  withFiles(FILES, async (folder) => {
    const edited = FLOW.replace('"text": "Shop"', '"text": "Corner \\"shop\\""').replace('"came"', '"entered"');
    writeFileSync(join(folder, 'shop.flow.json'), edited.replace('"text": "Bye"', '"text": "Bye!"'));
    assert.is((await run(['test', folder])).code, 1);
    const { code, out } = await run(['test', folder, '--update']);
    assert.is(code, 0, out);
    assert.match(out, /^3 expectations written$/m);
    const expected = TESTS.replace('"Shop\\n1. Enter', '"Corner \\"shop\\"\\n1. Enter')
      .replace('[ "came" ]', '["entered"]')
      .replace('"text": "Bye"', '"text": "Bye!"');
    assert.is(readFileSync(join(folder, 'shop.test.json'), 'utf8'), expected);
    const again = await run(['test', folder, '--update']);
    assert.match(again.out, /^0 expectations written$/m);
    assert.is(readFileSync(join(folder, 'shop.test.json'), 'utf8'), expected);
  }));

test('--update leaves to a person what a person decides: "has", steps behind an end, missing answers', () =>
  withFiles(FILES, async (folder) => {
    const edited = FLOW.replace('Bread: 20', 'Cake: 20').replace('"to": "bread"', '"to": "bye"');
    writeFileSync(join(folder, 'shop.flow.json'), edited);
    const { code, out } = await run(['test', folder, '--update']);
    assert.is(code, 1);
    assert.match(out, /does not have "Bread"/);
    const rest = readFileSync(join(folder, 'shop.test.json'), 'utf8');
    assert.is(rest, TESTS);
  }));

test('--filter runs the tests with these words, and only they are updated', () =>
  withFiles(FILES, async (folder) => {
    const { code, out } = await run(['test', folder, '--filter', 'LEAVES']);
    assert.is(code, 0);
    assert.is(out, ['shop', '  ✓ one leaves', '1 passed, 0 failed'].join('\n'));
    assert.is((await run(['test', folder, '--filter', 'nothing like it'])).code, 1, 'none is no success');
    assert.is((await run(['test', folder, '--filter', 'x', '--coverage'])).code, 2);
    writeFileSync(join(folder, 'shop.flow.json'), FLOW.replace('"text": "Shop"', '"text": "Store"'));
    await run(['test', folder, '--filter', 'leaves', '--update']);
    assert.is(readFileSync(join(folder, 'shop.test.json'), 'utf8'), TESTS);
  }));

test('--coverage is a table, --threshold fails below it', () =>
  withFiles(FILES, async (folder) => {
    const one = JSON.parse(TESTS) as { tests: unknown[] };
    writeFileSync(join(folder, 'shop.test.json'), JSON.stringify({ ...one, tests: one.tests.slice(1) }));
    const { code, out } = await run(['test', folder, '--coverage']);
    assert.is(code, 0);
    assert.is(
      out,
      [
        'shop',
        '  ✓ one leaves',
        '',
        'flow  screens     options     ways',
        'shop  2/3 (66 %)  1/3 (33 %)  -',
        'shop: no test reaches screens bread',
        'shop: no test reaches options door.in, bread.buy',
        '',
        '1 passed, 0 failed',
      ].join('\n'),
    );
    const below = await run(['test', folder, '--threshold', '50']);
    assert.is(below.code, 1);
    assert.match(below.out, /^shop: 1\/3 \(33 %\) of options, and 50 % is asked for$/m);
    assert.is((await run(['test', folder, '--threshold', '33'])).code, 0);
    for (const bad of ['101', '-1', 'much'])
      assert.is((await run(['test', folder, `--threshold=${bad}`])).code, 2, bad);
  }));

test('--watch runs them again after an edit', () =>
  withFiles(FILES, async (folder) => {
    const args = [await builtFile('server/cli/main.ts'), 'test', folder, '--watch'];
    const env = { PATH: process.env.PATH, HOME: process.env.HOME };
    const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    const until = async (pattern: RegExp, work: () => void) => {
      // Events of a file system may come late, or be taken for those of before.
      for (let tries = 0; !pattern.test(printed); tries++) {
        assert.ok(tries < 300, printed);
        if (tries % 20 === 0) work();
        await pause(100);
      }
    };
    try {
      await until(/2 passed, 0 failed/, () => {});
      let edits = 0;
      await until(/0 passed, 2 failed|1 passed, 1 failed/, () => {
        const store = FLOW.replace('"text": "Shop"', `"text": "Store ${edits++}"`);
        writeFileSync(join(folder, 'shop.flow.json'), store);
      });
    } finally {
      await killed(child);
    }
  }));

test.run();
