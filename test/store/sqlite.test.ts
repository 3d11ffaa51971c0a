// The SQLite store keeps the contract of all document stores, in a file and in memory, and shares its file politely.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'libsql';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { sqliteTransfer } from '../../lib/store/sqlite/transfer.ts';
import { PERSON } from '../../lib/testing/documents/bench.ts';
import { refuses } from '../../lib/testing/sessions/bench.ts';
import { documentStoreContract } from '../contract/stores.ts';
import { documentTransferContract } from '../contract/transfers.ts';

documentStoreContract('sqlite', ({ folder, clock }) => sqliteDocuments({ path: join(folder, 'documents.db'), clock }));
documentTransferContract('sqlite', ({ folder, clock }) => {
  const path = join(folder, 'documents.db');
  return { store: sqliteDocuments({ path, clock }), transfer: sqliteTransfer({ path }) };
});
documentStoreContract('sqlite in memory', ({ clock }) => sqliteDocuments({ path: ':memory:', clock }), 6);

const test = suite('SQLite');
let folder = '';

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinline-store-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

test('a write waits for another process that is writing, and the event loop does not', async () => {
  const path = join(folder, 'documents.db');
  const store = sqliteDocuments({ path });
  await store.declare([PERSON]);
  const other = new Database(path);
  other.exec('BEGIN IMMEDIATE');
  const insert = store.insert(PERSON, 'a', {});
  // Ten turns of the event loop with timers, while the write waits.
  for (let turn = 0; turn < 10; turn++) await pause(5);
  assert.is(await store.get(PERSON, 'a'), undefined);
  other.exec('COMMIT');
  await insert;
  assert.is((await store.get(PERSON, 'a'))?.revision, 1);
  other.close();
  await store.close();
});

test('a kind whose declaration was rolled back is not declared, and is not taken for the one that comes after it', async () => {
  const path = join(folder, 'documents.db');
  const [store, other] = [sqliteDocuments({ path }), sqliteDocuments({ path })];
  const [LOST, LATER] = [
    { name: 'lost', indexes: {} },
    { name: 'later', indexes: {} },
  ];
  await store.declare([PERSON]);
  const file = new Database(path);
  file.exec("CREATE TRIGGER full BEFORE INSERT ON document BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
  const group = [store.declare([LOST]), store.insert(LOST, 'a', {})];
  for (const { status } of await Promise.allSettled(group)) assert.is(status, 'rejected');
  file.exec('DROP TRIGGER full');
  file.close();
  await other.declare([LATER]);
  await other.insert(LATER, 'a', { whose: 'of another kind' });
  await refuses('ERR_INPUT', () => store.get(LOST, 'a'));
  assert.equal((await store.get(LATER, 'a'))?.body, { whose: 'of another kind' });
  await Promise.all([store.close(), other.close()]);
});

test('a failure of the file refuses every write of its group, and the next one is tried anew', async () => {
  const path = join(folder, 'documents.db');
  const store = sqliteDocuments({ path });
  await store.declare([PERSON]);
  const other = new Database(path);
  other.exec("CREATE TRIGGER broken BEFORE INSERT ON change BEGIN SELECT RAISE(ABORT, 'no change today'); END");
  const group = ['a', 'b'].map((id) => refuses('ERR_STORE', () => store.insert(PERSON, id, { phone: id })));
  for (const error of await Promise.all(group)) {
    assert.match(error.message, path);
    assert.match(error.message, 'no change today');
  }
  other.exec('DROP TRIGGER broken');
  await store.insert(PERSON, 'b', { phone: 'a' });
  assert.equal((await store.find(PERSON, { index: 'phone' })).items, [{ id: 'b', revision: 1, body: { phone: 'a' } }]);
  assert.is((await store.changes(0, 10)).length, 1);
  other.close();
  await store.close();
});

test('no table keeps anything of documents that are gone, nor of an index that was declared anew', async () => {
  const path = join(folder, 'documents.db');
  const store = sqliteDocuments({ path });
  const kind = (field: string) => ({ name: 'k', indexes: { i: { fields: [field], unique: true } } });
  await store.declare([kind('a')]);
  for (const a of ['1', '2', '3']) await store.insert(kind('a'), a, { a, b: a });
  await store.replace(kind('a'), '1', 1, { a: '4', b: '4' });
  await store.declare([kind('b')]);
  for (const id of ['1', '2', '3']) await store.remove(kind('b'), id);
  await store.close();
  const raw = new Database(path);
  for (const table of ['document', 'entry', 'claim'])
    assert.equal(raw.prepare(`SELECT count(*) FROM ${table}`).raw(true).get([]), [0], table);
  raw.close();
});

test('a file that cannot be used is refused with its path', async () => {
  const junk = join(folder, 'junk.db');
  writeFileSync(junk, 'x'.repeat(10_000));
  const foreign = join(folder, 'foreign.db');
  const other = new Database(foreign);
  other.exec('CREATE TABLE t (a)');
  other.close();
  const later = join(folder, 'later.db');
  const version = new Database(later);
  version.exec('PRAGMA application_id = 7');
  version.close();
  for (const path of [junk, foreign, later, folder, join(folder, 'no', 'such', 'folder.db')]) {
    const error = await refuses('ERR_STORE', () => sqliteDocuments({ path }).ping());
    assert.match(error.message, path);
  }
});

test.run();
