// Which files a run takes: the name of a file says its suite, a line of it how it runs, and a name that no run would take is a mistake.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { filesOf, listTests, SUITES, usualFiles } from '../support/choose.ts';
import { withFolder } from '../support/process.ts';

const test = suite('choice of test files');

const FILES: Readonly<Record<string, string>> = {
  'a.test.ts': '',
  'b.short.long.test.ts': '',
  'room/c.kills.test.ts': '',
  'room/d.test.ts': "export const runs = 'fresh';\n",
  'room/e.f.test.ts': '',
  'room/g.short.test.ts': '',
  'room/h.tests.ts': '',
  'room/i.ts': '',
  'fixtures/j.test.ts': '',
  'l.stores.test.ts': "export const runs = 'waits';\n",
  'k.test.ts': "// A comment.\nexport const runs = 'alone';\n",
};

test('each file is in one suite; npm test takes those without one, and those with a short size', () =>
  withFolder(async (root) => {
    for (const name of ['room', 'fixtures']) mkdirSync(join(root, name));
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(root, name), text);
    const mistakes: string[] = [];
    const files = listTests(root, (name) => mistakes.push(name));
    assert.equal(mistakes, ['room/e.f.test.ts', 'room/g.short.test.ts', 'room/h.tests.ts']);
    const names = (chosen: typeof files) => chosen.map(({ name }) => name);
    assert.equal(names(usualFiles(files)), ['a.test.ts', 'b.short.long.test.ts', 'k.test.ts', 'room/d.test.ts']);
    const bySuite = SUITES.map((one) => names(filesOf(one, files)));
    assert.equal(bySuite, [
      ['a.test.ts', 'k.test.ts', 'room/d.test.ts'],
      ['l.stores.test.ts'],
      [],
      [],
      ['room/c.kills.test.ts'],
      ['b.short.long.test.ts'],
    ]);
    assert.equal(
      files.filter(({ runs }) => runs !== 'shared').map(({ name, runs }) => [name, runs]),
      [
        ['k.test.ts', 'alone'],
        ['l.stores.test.ts', 'waits'],
        ['room/d.test.ts', 'fresh'],
      ],
    );
  }));

test.run();
