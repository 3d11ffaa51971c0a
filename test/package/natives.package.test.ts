// The package where npm has left out parts for the platform, as `--omit=optional` and lock files of another platform do.

import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withFolder } from '../support/process.ts';
import { buildPackage, copyPacked, linkDependencies } from './packed.ts';

const test = suite('native parts');

// Links are kept as they are, so that packages see what is beside them and nothing else.
const NODE = ['--preserve-symlinks', '--preserve-symlinks-main'];

/** A project with the package, without the packages of these scopes. */
function withoutParts(scopes: readonly string[], use: (folder: string) => void): Promise<void> {
  return withFolder(async (folder) => {
    const modules = join(folder, 'node_modules');
    await buildPackage(join(folder, 'source'));
    copyPacked(join(folder, 'source'), join(modules, 'twinline'));
    linkDependencies(modules);
    for (const scope of scopes) rmSync(join(modules, scope), { recursive: true });
    use(folder);
  });
}

const PROGRAM = `
import { lmdbLogs, lmdbSnapshots } from 'twinline/store/lmdb';
import { sqliteDocuments } from 'twinline/store/sqlite';
import 'twinline/server';
const places = { lmdbSnapshots: 'sessions', lmdbLogs: 'logs', sqliteDocuments: 'documents.db' };
for (const open of [lmdbSnapshots, lmdbLogs, sqliteDocuments]) {
  const store = open({ path: places[open.name] });
  const words = await store.ping().then(() => 'open', ({ name, code, message }) => name + ' ' + code + ': ' + message);
  console.log(open.name, words);
  await store.close();
}`;

/** What opening each store comes to, by its function. */
function openStores(folder: string): Readonly<Record<string, string>> {
  writeFileSync(join(folder, 'program.mjs'), PROGRAM);
  const { stdout, stderr } = spawnSync(process.execPath, [...NODE, 'program.mjs'], { cwd: folder, encoding: 'utf8' });
  assert.is(stderr, '');
  return Object.fromEntries(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => [line.split(' ')[0]!, line]),
  );
}

const platform = `${process.platform}-${process.arch}`;

test('without them a store says whose part is missing when it is opened, and what to do; the rest runs', () =>
  withoutParts(['@libsql', '@lmdb'], (folder) => {
    const missing = (part: string) =>
      new RegExp(
        `TwinlineError ERR_CONFIG: ${part}'s part for ${platform} is not installed\\. Install twinline on the machine`,
      );
    const { lmdbSnapshots, lmdbLogs, sqliteDocuments } = openStores(folder);
    assert.match(lmdbSnapshots!, missing('LMDB'));
    assert.match(lmdbLogs!, missing('LMDB'));
    assert.match(sqliteDocuments!, missing('SQLite'));
    const start = spawnSync(process.execPath, [...NODE, 'node_modules/twinline/dist/server/cli/main.js', 'start'], {
      cwd: folder,
      env: { PATH: process.env.PATH, PORT: '0' },
      encoding: 'utf8',
    });
    assert.match(start.stderr, `'s part for ${platform} is not installed`);
    assert.is(start.status, 78);
  }));

test('LMDB names SQLite, whose locks it needs', () =>
  withoutParts(['@libsql'], (folder) => {
    const { lmdbSnapshots } = openStores(folder);
    assert.match(lmdbSnapshots!, `LMDB needs SQLite beside it: SQLite's part for ${platform} is not installed`);
  }));

test('a flow that reads phone numbers says that libphonenumber-js is missing; others compile', () =>
  withoutParts(['libphonenumber-js'], (folder) => {
    const screen = { type: 'input', text: 'Number', save: 'number', to: 'ask' };
    const flow = { flow: 'a', version: 1, start: 'ask', vars: { number: { type: 'string' } } };
    const compile = (accept: object) => {
      const whole = { ...flow, screens: { ask: { ...screen, accept } } };
      const program = `import { compileFlow } from 'twinline/flow'; compileFlow(${JSON.stringify(whole)});`;
      writeFileSync(join(folder, 'flow.mjs'), program);
      return spawnSync(process.execPath, [...NODE, 'flow.mjs'], { cwd: folder, encoding: 'utf8' }).stderr;
    };
    assert.is(compile({ digits: 4 }), '');
    assert.match(compile({ msisdn: { country: '263' } }), 'libphonenumber-js is not installed here. Install it');
  }));

test('with them all stores open', () =>
  withoutParts([], (folder) => {
    for (const words of Object.values(openStores(folder))) assert.match(words, / open$/);
  }));

test.run();
