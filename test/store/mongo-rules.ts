// What the MongoDB stores promise besides the contracts: no operators, no secrets, nothing left behind, rolling changes.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectMongo, mongoDocuments, mongoSnapshots } from '../../lib/store/mongo/index.ts';
import type { DocumentStore, Kind, Query } from '../../lib/store/store.ts';
import { findIds } from '../../lib/testing/documents/bench.ts';
import { refuses, session } from '../../lib/testing/sessions/bench.ts';
import type { MongoBench } from './mongo-bench.ts';

const PLAIN: Kind = { name: 'plain', indexes: { n: { fields: ['n'] }, u: { fields: ['u'], unique: true } } };
const OPERATORS = [{ $gt: '' }, { $ne: null }, { $exists: true }, ['a'], { $eq: 'a' }, null, 1] as unknown as string[];

export function mongoRules({ url, db }: MongoBench): void {
  const test = suite('MongoDB');
  const opened: DocumentStore[] = [];
  let made = 0;
  let prefix = '';

  const open = async (...kinds: Kind[]): Promise<DocumentStore> => {
    const store = mongoDocuments({ url, prefix });
    opened.push(store);
    await store.declare(kinds);
    return store;
  };
  const rows = (name = 'plain') => db.collection<{ _id: unknown; out: unknown[] }>(`${prefix}.documents.${name}`);

  test.before.each(() => {
    prefix = `rules${made++}`;
  });
  test.after.each(async () => {
    for (const store of opened.splice(0)) await store.close();
  });

  test('an id, a revision or a value that looks like an operator finds, changes and removes nothing', async () => {
    const store = await open(PLAIN);
    await store.insert(PLAIN, 'a', { n: 1, u: 'a' });
    for (const bad of OPERATORS) {
      await refuses('ERR_INPUT', () => store.get(PLAIN, bad));
      await refuses('ERR_INPUT', () => store.insert(PLAIN, bad, {}));
      await refuses('ERR_INPUT', () => store.replace(PLAIN, bad, 1, {}));
      await refuses('ERR_INPUT', () => store.remove(PLAIN, bad));
      if (bad === null || (bad as unknown) === 1) continue;
      const revision = bad as unknown as number;
      assert.equal(await store.replace(PLAIN, 'a', revision, { n: 9 }), { kind: 'conflict', revision: 1 });
      assert.is(await store.remove(PLAIN, 'a', revision), false);
      await refuses('ERR_INPUT', () => store.find(PLAIN, { index: 'n', where: { n: bad } }));
      await refuses('ERR_INPUT', () => store.find(PLAIN, { index: bad }));
      await refuses('ERR_INPUT', () => store.get({ name: bad, indexes: {} }, 'a'));
    }
    const odd = { $set: { v: 9 }, $where: 'sleep(1)', 'a.b': 1, '': 2, $gt: '' };
    await store.insert(
      PLAIN,
      '$where',
      JSON.parse(`{"__proto__":{"x":1},"n":"$n","u":"$u",${JSON.stringify(odd).slice(1)}`),
    );
    const found = (await store.find(PLAIN, { index: 'n', where: { n: '$n' } })).items[0]!;
    assert.is(JSON.stringify(found.body), `{"__proto__":{"x":1},"n":"$n","u":"$u",${JSON.stringify(odd).slice(1)}`);
    assert.equal(await store.insert(PLAIN, 'b', { u: '$u' }), { kind: 'exists', index: 'u' });
    assert.equal(await store.get(PLAIN, 'a'), { id: 'a', revision: 1, body: { n: 1, u: 'a' } });
    assert.is(await store.count(PLAIN), 2);
  });

  test('a session key or revision that looks like an operator finds, changes and removes nothing', async () => {
    const store = mongoSnapshots({ url, prefix });
    await store.commit('a', 0, session({ now: Date.now }));
    for (const bad of OPERATORS) {
      await refuses('ERR_INPUT', () => store.load(bad));
      await refuses('ERR_INPUT', () => store.commit(bad, 0, session({ now: Date.now })));
      await refuses('ERR_INPUT', () => store.remove(bad));
      if (bad !== null) await refuses('ERR_INPUT', () => store.list({ cursor: bad }));
      if ((bad as unknown) === 1) continue;
      const commit = store.commit('a', bad as unknown as number, session({ now: Date.now }));
      assert.equal(await commit, { kind: 'conflict', revision: 1 });
    }
    assert.is(((await store.load('a')) as { revision: number }).revision, 1);
    await store.close();
  });

  test('no error tells the password, the user or what was to be written', async () => {
    const secret = 's3cr3t-pass';
    const login = `mongodb://anna:${secret}@127.0.0.1:1/app`;
    const connection = connectMongo({ url: login, connectMs: 50 });
    const store = mongoDocuments({ connection });
    const errors = [
      await refuses('ERR_STORE', () => connection.ping()),
      await refuses('ERR_STORE', () => store.insert(PLAIN, 'a', { n: 'v4lue' })),
      await refuses('ERR_CONFIG', () => connectMongo({ url: `mongodb://anna:${secret}@/app?nonsense=${secret}` })),
      await refuses('ERR_CONFIG', () => connectMongo({ url: `mongo://anna:${secret}@host` })),
      await refuses('ERR_CONFIG', () => mongoDocuments({ url: login, prefix: '$x' })),
    ];
    assert.match(errors[0]!.message, 'mongodb://127.0.0.1:1/app');
    for (const error of errors)
      for (const hidden of [secret, 'anna', 'v4lue']) assert.not.match(`${error.stack} ${String(error.cause)}`, hidden);
    assert.is(connection.name, 'mongodb://127.0.0.1:1/app');
    await store.close();
    await connection.close();
  });

  test('no row keeps changes that have their numbers, and nothing is left of removed documents', async () => {
    const store = await open(PLAIN);
    for (const id of ['a', 'b', 'c']) await store.insert(PLAIN, id, { n: 1, u: id });
    await store.remove(PLAIN, 'a');
    await store.insert(PLAIN, 'a', { u: 'b2' });
    for (const id of ['a', 'b']) await store.remove(PLAIN, id);
    assert.is((await store.changes(0, 100)).length, 7);
    await store.close();
    const kept = await rows().find({}).toArray();
    assert.equal(
      kept.map(({ _id, out }) => [_id, out]),
      [['c', []]],
    );
  });

  test('what a killed writer has left is in the feed of whoever reads it', async () => {
    const store = await open(PLAIN);
    const left = { x: 'left', revision: 1, at: 1 };
    await rows().insertOne({ _id: 'a', v: 1, body: '{}', f: {}, out: [left] } as object as {
      _id: unknown;
      out: unknown[];
    });
    assert.equal(await store.changes(0, 10), [{ seq: 1, kind: 'plain', id: 'a', revision: 1, at: 1 }]);
    assert.is(await store.lastChange(), 1);
  });

  test('an instance that does not know a new index yet cannot write past it', async () => {
    const old = await open({ name: 'plain', indexes: {} });
    for (const id of ['a', 'b']) await old.insert(PLAIN, id, { n: 1, u: id });
    const now = await open(PLAIN);
    // All of this with the kinds as `old` read them before.
    await old.insert(PLAIN, 'c', { n: 1, u: 'c' });
    await old.replace(PLAIN, 'a', 1, { n: 2, u: 'a2' });
    await old.remove(PLAIN, 'b');
    assert.equal(await findIds(now, { index: 'n' }, PLAIN), ['c', 'a']);
    assert.equal(await findIds(now, { index: 'u', where: { u: 'a2' } }, PLAIN), ['a']);
    const later = await open({ name: 'plain', indexes: { m: { fields: ['m'], unique: true } } });
    await now.insert(PLAIN, 'd', { m: 'x' });
    assert.equal(await old.insert(PLAIN, 'e', { m: 'x' }), { kind: 'exists', index: 'm' });
    const found: Query = { index: 'm', where: { m: 'x' } };
    assert.equal(await findIds(later, found, PLAIN), ['d']);
  });

  test('an instance that knows an index as it was before finds in it what others write', async () => {
    const old = await open(PLAIN);
    await old.insert(PLAIN, 'a', { n: 1, other: 2 });
    const shape: Kind = { name: 'plain', indexes: { n: { fields: ['other'] } } };
    const now = await open(shape);
    await now.insert(shape, 'b', { n: 0, other: 3 });
    await now.replace(shape, 'a', 1, { n: 5, other: 4 });
    assert.equal(await findIds(old, { index: 'n', where: { n: { gte: 0 } } }, PLAIN), ['b', 'a']);
    assert.equal(await findIds(now, { index: 'n', where: { other: { gte: 0 } } }, shape), ['b', 'a']);
  });

  test('while indexes are built, four writers go on, and none of their documents is missing', async () => {
    const writers = await Promise.all(Array.from({ length: 4 }, () => open({ name: 'plain', indexes: {} })));
    let written = 0;
    let ends = false;
    const write = async (store: DocumentStore, name: number) => {
      for (let at = 0; !ends; at++, written++) await store.insert(PLAIN, `${name}.${at}`, { n: 1, u: `${name}.${at}` });
    };
    const all = writers.map(write);
    while (written < 40) await new Promise(setImmediate);
    const declared = await Promise.all(
      writers.map((_, at) => open(at % 2 ? PLAIN : { name: 'plain', indexes: { n: PLAIN.indexes.n! } })),
    );
    const before = written;
    while (written < before + 20) await new Promise(setImmediate);
    ends = true;
    await Promise.all(all);
    assert.is(await declared[0]!.count(PLAIN, { index: 'n', where: { n: 1 } }), written);
    assert.is(await declared[0]!.count(PLAIN, { index: 'u' }), written);
    assert.is((await declared[0]!.changes(0, 10_000)).length, written);
  });

  test('a declaration that was killed half-way is completed by the next, and its unique index is named meanwhile', async () => {
    const store = await open({ name: 'plain', indexes: {} });
    await store.insert(PLAIN, 'a', { n: 1, u: 'a' });
    // As far as MongoDB has it, before it is registered.
    const complete = { 'f.u': { $exists: true } };
    await rows().createIndex({ 'f.u': 1 }, { name: 'unique u', unique: true, partialFilterExpression: complete });
    assert.equal(await store.insert(PLAIN, 'b', { u: 'a' }), { kind: 'exists', index: 'u' });
    await refuses('ERR_INPUT', () => store.find(PLAIN, { index: 'u' }));
    const again = await open(PLAIN);
    await store.insert(PLAIN, 'b', { n: 1, u: 'b' });
    assert.equal(await findIds(again, { index: 'u' }, PLAIN), ['a', 'b']);
    assert.equal(await store.insert(PLAIN, 'c', { n: 2, u: 'b' }), { kind: 'exists', index: 'u' });
  });

  test('what was read has its number before anything that is written after it', async () => {
    const [one, other] = [await open(PLAIN), await open(PLAIN)];
    await one.insert(PLAIN, 'a', {});
    // As a writer leaves it that is killed before its change has a number.
    const left = { x: 'left', revision: 2, at: 1 };
    await rows().updateOne(
      { _id: 'a' } as object,
      {
        $set: { v: 2, body: '{"n":1}', f: { n: 1 } },
        $push: { out: left },
      } as object,
    );
    assert.is((await other.get(PLAIN, 'a'))?.revision, 2);
    await other.insert(PLAIN, 'b', {});
    const changes = (await one.changes(0, 10)).map(({ id, revision }) => [id, revision]);
    assert.equal(changes, [
      ['a', 1],
      ['a', 2],
      ['b', 1],
    ]);
  });

  test.run();
}
