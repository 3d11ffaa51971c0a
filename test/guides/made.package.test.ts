// What is made from the source is as the source is now: the guide to the command line, the page on guarantees, the README's picture,
// the operators' tables, the dashboard, bench tables.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { grafanaDashboard } from '../../server/packaging/dashboard.ts';
import { BENCHES } from '../bench/benches.ts';
import { writtenCharts } from '../bench/chart.ts';
import { benchWords, writtenTables } from '../bench/performance-page.ts';
import { ROOT } from '../package/manifest.ts';
import { guaranteesPage, PAGE } from '../promises/page.ts';
import { PROMISES } from '../promises/promises.ts';
import { withFolder } from '../support/process.ts';
import { readApi, writeApiGuide, writeReport } from './api.ts';
import { commandLineGuide } from './command-line.ts';
import { madeTables, operatorsGuide } from './metrics.ts';
import { API_GUIDE, API_REPORT, DASHBOARD, OPERATORS, PICTURE, writePicture } from './write.ts';

const test = suite('made guides');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test('the guide to the command line is what its verbs say; npm run guides writes it again', async () => {
  assert.is(read('server/docs/guides/cli.md'), await commandLineGuide());
});

test('every public name has a docstring; the guide to them and the report for reviews are as the types are now', async () => {
  const api = await readApi();
  const silent = [...api].flatMap(([subpath, names]) =>
    names.filter(({ says }) => says === '').map(({ name }) => `${subpath} ${name}`),
  );
  assert.equal(silent, []);
  assert.ok([...api.values()].flat().length > 400);
  assert.is(read(API_REPORT), writeReport(api));
  assert.is(read(API_GUIDE), writeApiGuide(api));
});

test('the page on guarantees is what the table of promises says; each of its proofs is a test file', () => {
  assert.is(read(PAGE), guaranteesPage());
  const proofs = Object.values(PROMISES).flatMap((rows) => rows.flatMap((row) => row.proofs));
  assert.equal(
    proofs.filter((proof) => !existsSync(join(ROOT, 'test', `${proof}.test.ts`))),
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
  assert.is(read(DASHBOARD), grafanaDashboard());
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

test('tables of a page are written where all of their benchmarks were measured, and nothing else changes', () => {
  const old = '| old |\n| --- |\n';
  const page = `# A\n\n<!-- npm run bench -- a b -->\n\n${old}\nWords.\n\n<!-- npm run bench -- c -->\n\n| c |\n`;
  const head = ['what', 'ratio'];
  const rows = (...names: string[]) => new Map(names.map((name) => [name, [[`row ${name}`, '1 | 2']]]));
  const table = (...lines: string[]) => ['| what  | ratio  |', '| ----- | ------ |', ...lines, ''].join('\n');
  assert.is(writtenTables(page, { head, rows: rows('a') }), page, 'b was not measured');
  const made = writtenTables(page, { head, rows: rows('a', 'c') });
  assert.is(made, page.replace('| c |\n', table('| row c | 1 \\| 2 |')));
  const both = writtenTables(made, { head, rows: rows('a', 'b') });
  assert.is(both, made.replace(old, table('| row a | 1 \\| 2 |', '| row b | 1 \\| 2 |')));
});

test('a chart of a page has a bar for each server; the longest is the slowest', () => {
  const page = '# A\n\n<!-- chart: npm run bench -- a -->\n\n\nWords.\n';
  assert.is(writtenCharts(page, new Map()), page);
  const bars = [
    { name: 'ours', us: 40, isOurs: true },
    { name: 'floor', us: 10 },
  ];
  const drawn = writtenCharts(page, new Map([['a', bars]]));
  assert.equal(
    [...drawn.matchAll(/<rect [^>]*width="(\d+)"/g)].map(([, width]) => Number(width)),
    [360, 90],
  );
  assert.ok(drawn.endsWith('</svg>\n\nWords.\n'));
  assert.is(writtenCharts(drawn, new Map([['a', bars]])), drawn, 'written again');
});

test.run();
