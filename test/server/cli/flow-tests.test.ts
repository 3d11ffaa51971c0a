// `twinline test`: what it prints, expectations that follow the flow, names, coverage that is asked for.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
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

test('what it prints: 0 when all pass, 1 when one fails, is broken, or there is none', () =>
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
    const wrong = { flow: 'shop', tests: [{ name: 'one looks', steps: [{ in: '', has: 'There' }] }] };
    writeFileSync(join(folder, 'shop.test.json'), JSON.stringify(wrong));
    const failed = await run(['test', folder]);
    assert.is(failed.code, 1);
    assert.match(failed.out, /✘ one looks\n.*does not have "There"/);
    writeFileSync(join(folder, 'shop.test.json'), '{');
    assert.is((await run(['test', folder])).code, 1);
    rmSync(join(folder, 'shop.test.json'));
    assert.is((await run(['test', folder])).code, 1);
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

test.run();
