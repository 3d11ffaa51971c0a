// Several processes on one SQLite store: no update is lost, no unique value is held twice, a killed one takes nothing.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'libsql';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { PERSON } from '../../lib/testing/documents/bench.ts';
import { builtFile } from '../support/build.ts';
import { killed } from '../support/process.ts';

const NAMES = ['one', 'two'];

const test = suite('SQLite between processes');
const children: ChildProcess[] = [];
let folder = '';

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinline-store-'));
});

test.after.each(async () => {
  for (const child of children.splice(0)) await killed(child);
  rmSync(folder, { recursive: true, force: true });
});

test('a process that begins a file while another one holds it waits for it', async () => {
  const path = join(folder, 'documents.db');
  const other = new Database(path);
  other.exec('BEGIN IMMEDIATE');
  const child = fork(await builtFile('test/store/sqlite-child.ts'), [path, 'one'], { execArgv: [] });
  children.push(child);
  const told = once(child, 'message');
  const failed = once(child, 'exit').then(() => [{ claimed: 'it ended' }]);
  await pause(1_000);
  other.exec('COMMIT');
  other.close();
  assert.is((await Promise.race([told, failed]))[0].claimed, 200);
});

test('two processes that begin at once lose no count, share the unique values, and may be killed', async () => {
  const path = join(folder, 'documents.db');
  const program = await builtFile('test/store/sqlite-child.ts');
  const both = NAMES.map((name) => fork(program, [path, name], { execArgv: [] }));
  children.push(...both);
  const told = await Promise.all(both.map(async (child) => (await once(child, 'message'))[0]));
  assert.is(told[0].claimed + told[1].claimed, 200);

  const acknowledged = new Map<string, number>();
  for (const [at, child] of both.entries())
    child.on('message', (revision: number) => acknowledged.set(NAMES[at]!, revision));
  await pause(150);
  await Promise.all(both.map(killed));

  const store = sqliteDocuments({ path });
  const counters = await Promise.all([0, 1, 2].map((at) => store.get<{ n: number }>(PERSON, `counter${at}`)));
  assert.is(
    counters.reduce((sum, counter) => sum + counter!.body.n, 0),
    400,
  );
  for (const counter of counters) assert.is(counter!.revision, counter!.body.n);
  for (const [name, revision] of acknowledged) {
    const found = (await store.get(PERSON, name))!;
    assert.ok(found.revision >= revision, `${found.revision} stored, ${revision} acknowledged`);
    const { items } = await store.find(PERSON, { index: 'any', where: { any: found.revision } });
    assert.ok(items.some(({ id }) => id === name));
  }
  assert.is(acknowledged.size, 2);
  await store.close();
});

test.run();
