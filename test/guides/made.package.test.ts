// What is made from the source is as the source is now: the guide to the command line, the page on guarantees, the README's picture,
// the operators' tables, the dashboard.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readApi, writeReport } from '../../server/docs/generate/api.ts';
import { BENCHES } from '../bench/benches.ts';
import { benchWords } from '../bench/performance-page.ts';
import { GROUPS } from '../mutation/groups.ts';
import { ROOT } from '../package/manifest.ts';
import { guaranteesPage, PAGE } from '../promises/page.ts';
import { PROMISES } from '../promises/promises.ts';
import { builtPackage } from '../support/build.ts';
import { withFolder } from '../support/process.ts';
import { commandLineGuide } from './command-line.ts';
import { madeTables, operatorsGuide } from './metrics.ts';
import { API_REPORT, OPERATORS, PICTURE, writePicture } from './write.ts';

const test = suite('made guides');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test('the guide to the command line is what its verbs say; npm run guides writes it again', async () => {
  assert.is(read('server/docs/guides/cli.md'), await commandLineGuide());
});

test('every public name has a docstring; the report for reviews is as the types are now', async () => {
  const api = readApi(join(await builtPackage(), 'dist'));
  const silent = [...api].flatMap(([subpath, names]) =>
    names.filter(({ says }) => says === '').map(({ name }) => `${subpath} ${name}`),
  );
  assert.equal(silent, []);
  assert.ok([...api.values()].flat().length > 400);
  assert.is(read(API_REPORT), writeReport(api));
});

test('the page on guarantees is what the table of promises says; each of its proofs is a test file, and so is what `npm run mutate` names', () => {
  assert.is(read(PAGE), guaranteesPage());
  const proofs = Object.values(PROMISES).flatMap((rows) => rows.flatMap((row) => row.proofs));
  assert.equal(
    proofs.filter((proof) => !existsSync(join(ROOT, 'test', `${proof}.test.ts`))),
    [],
  );
  const groups = Object.values(GROUPS);
  const named = groups.flatMap(({ files, tests }) => [...files, ...tests.map((name) => `test/${name}.test.ts`)]);
  assert.equal(
    named.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const { longer } of Object.values(PROMISES).flat())
    assert.ok(longer === undefined || longer.split(' ')[2]! in scripts, longer);
});

test('the tables of metrics and of alerts are what the code declares and what is shipped, and so is the dashboard', () => {
  const page = read(OPERATORS);
  assert.equal(madeTables(page), ['metrics', 'alerts', 'signs']);
  assert.is(page, operatorsGuide(page));
});

test('the picture in the README is the main flow of today; npm run guides draws it again', () =>
  withFolder(async (folder) => {
    const file = join(folder, 'main.svg');
    assert.is(await writePicture(file), 0);
    assert.is(read(PICTURE), readFileSync(file, 'utf8'));
    assert.ok(read('README.md').includes(`](${PICTURE})`));
  }));

test('every benchmark has its table in the page on performance', () => {
  const page = benchWords(read('server/docs/guides/performance.md'));
  assert.equal([...page.flat()].sort(), Object.keys(BENCHES).sort());
});

test.run();
