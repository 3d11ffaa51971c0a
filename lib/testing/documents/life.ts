// What every DocumentStore promises about declaring, being opened, shared and closed.

import type { Kind } from '../../store/store.ts';
import * as assert from '../assert.ts';
import { refuses } from '../calls.ts';
import { type DocumentPromises, findIds, insertAll, PERSON, PLAIN } from './bench.ts';

/** Sentence → what shows that it is kept. */
export const DOCUMENT_LIFE: DocumentPromises = {
  'an undeclared kind is refused': async ({ store }) => {
    const kind: Kind = { name: 'nobody', indexes: {} };
    await refuses('ERR_INPUT', () => store.insert(kind, 'a', {}));
    await refuses('ERR_INPUT', () => store.get(kind, 'a'));
    await refuses('ERR_INPUT', () => store.replace(kind, 'a', 1, {}));
    await refuses('ERR_INPUT', () => store.remove(kind, 'a'));
    await refuses('ERR_INPUT', () => store.find(kind));
    await refuses('ERR_INPUT', () => store.count(kind));
  },

  'a malformed declaration is refused, and nothing of it is declared': async ({ store }) => {
    const good: Kind = { name: 'good', indexes: {} };
    const indexes = (fields: string[], index = 'i'): Kind => ({ name: 'bad', indexes: { [index]: { fields } } });
    const bad: Kind[] = [
      ...['', 'a b', 'a_b', 'é', 'a;--', 'x'.repeat(65)].map((name) => ({ name, indexes: {} })),
      ...['', 'a.b', '$i', 'x'.repeat(65)].map((index) => indexes(['a'], index)),
      ...[
        [],
        ['a', 'a'],
        [''],
        ['$a'],
        ['a.'],
        ['a..b'],
        ["a'"],
        ['a"]'],
        ['é'],
        ['a[]', 'b[]'],
        ['a[].b'],
        ['a[0]'],
      ].map((fields) => indexes(fields)),
      indexes(['a.b.c.d.e.f.g.h.i']),
      indexes(Array.from({ length: 9 }, (_, at) => `f${at}`)),
    ];
    for (const kind of bad) await refuses('ERR_CONFIG', () => store.declare([good, kind]));
    await refuses('ERR_INPUT', () => store.insert(good, 'a', {}));
    await store.declare([good, indexes(['a.b.c.d.e.f.g.h', 'B-_9'], 'I-_9'), PERSON]);
    await store.insert(good, 'a', {});
  },

  'an index that is declared later holds the documents that were there': async ({ store }) => {
    const inserts = Array.from({ length: 600 }, (_, at) => store.insert(PLAIN, `k${at}`, { n: at % 7, u: at }));
    await Promise.all(inserts);
    const later: Kind = { name: 'person', indexes: { n: { fields: ['n'] }, u: { fields: ['u'], unique: true } } };
    await store.declare([later]);
    assert.is(await store.count(later, { index: 'n', where: { n: 3 } }), 86);
    assert.equal(await findIds(store, { index: 'u', where: { u: 599 } }, later), ['k599']);
    assert.equal(await store.insert(later, 'new', { u: 5 }), { kind: 'exists', index: 'u' });
    // The old declaration still works, and what it writes is in the new index.
    await store.declare([PLAIN]);
    await store.insert(PLAIN, 'new', { n: 3 });
    assert.is(await store.count(later, { index: 'n', where: { n: 3 } }), 87);
  },

  'an index that is declared anew, with other fields, is built anew': async ({ store }) => {
    await store.declare([{ name: 'shape', indexes: { i: { fields: ['a'], unique: true } } }]);
    const shape: Kind = { name: 'shape', indexes: { i: { fields: ['b'] } } };
    await insertAll(store, shape, { x: { a: 1, b: 2 }, y: { a: 2, b: 1 } });
    await store.declare([shape]);
    assert.equal(await findIds(store, { index: 'i', where: { b: 2 } }, shape), ['x']);
    assert.equal(await findIds(store, { index: 'i' }, shape), ['y', 'x']);
    await refuses('ERR_INPUT', () => store.find(shape, { index: 'i', where: { a: 1 } }));
    await store.insert(shape, 'z', { a: 1, b: 1 });
    await refuses('ERR_EXISTS', () =>
      store.declare([{ name: 'shape', indexes: { i: { fields: ['b'], unique: true } } }]),
    );
    await store.remove(shape, 'z');
    await store.declare([{ name: 'shape', indexes: { i: { fields: ['b'], unique: true } } }]);
    assert.equal(await store.insert(shape, 'z', { b: 1 }), { kind: 'exists', index: 'i' });
    await store.declare([shape]);
    await store.insert(shape, 'z', { b: 1 });
  },

  'a unique index over documents that clash is refused, and nothing is declared': async ({ store }) => {
    await insertAll(store, PLAIN, { a: { u: 1 }, b: { u: 2 }, c: { u: 1 } });
    const clash: Kind = { name: 'person', indexes: { n: { fields: ['u'] }, u: { fields: ['u'], unique: true } } };
    const fresh: Kind = { name: 'fresh', indexes: {} };
    const error = await refuses('ERR_EXISTS', () => store.declare([fresh, clash]));
    assert.match(error.message, '"u"');
    await refuses('ERR_INPUT', () => store.find(clash, { index: 'n' }));
    await refuses('ERR_INPUT', () => store.insert(fresh, 'a', {}));
    await store.insert(PLAIN, 'd', { u: 2 });
  },

  'another store on the same data sees every write at once, and shares its unique values': async ({ store, again }) => {
    if (store.durability === 'memory') return;
    const other = await again();
    for (let revision = 1; revision < 20; revision += 2) {
      if (revision === 1) await store.insert(PERSON, 'a', { phone: '1', any: 0 });
      else await store.replace(PERSON, 'a', revision - 1, { phone: '1', any: revision });
      assert.is((await other.get(PERSON, 'a'))?.revision, revision);
      assert.is(await other.lastChange(), (await store.changes(0, 100)).at(-1)?.seq);
      await other.replace(PERSON, 'a', revision, { phone: '1', any: -revision });
      assert.equal(await findIds(store, { index: 'any', where: { any: -revision } }), ['a']);
    }
    assert.equal(await other.insert(PERSON, 'b', { phone: '1' }), { kind: 'exists', index: 'phone' });
    const both = await Promise.all([store, other].map((one) => one.replace(PERSON, 'a', 20, { phone: '2' })));
    assert.is(both.filter(({ kind }) => kind === 'replaced').length, 1);
    const kind: Kind = { name: 'person', indexes: { n: { fields: ['n'] } } };
    await other.declare([kind]);
    await store.insert(PLAIN, 'late', { n: 1 });
    assert.equal(await findIds(other, { index: 'n', where: { n: 1 } }, kind), ['late']);
  },

  'what was written is there after the store is opened again': async ({ store, again }) => {
    if (store.durability === 'memory') return;
    await insertAll(store, PERSON, { a: { phone: '1', any: 'é' }, b: { phone: '2' } });
    await store.replace(PERSON, 'a', 1, { phone: '3', any: '😀' });
    await store.remove(PERSON, 'b');
    const changes = await store.changes(0, 10);
    await store.close();
    const reopened = await again();
    assert.equal(await reopened.get(PERSON, 'a'), { id: 'a', revision: 2, body: { phone: '3', any: '😀' } });
    assert.equal(await findIds(reopened, { index: 'any', where: { any: '😀' } }), ['a']);
    assert.equal(await reopened.changes(0, 10), changes);
    assert.is(await reopened.lastChange(), changes.at(-1)?.seq);
    assert.equal(await reopened.insert(PERSON, 'c', { phone: '3' }), { kind: 'exists', index: 'phone' });
    await reopened.insert(PERSON, 'c', { phone: '1' });
    assert.ok((await reopened.changes(changes.at(-1)!.seq, 10)).length === 1);
  },

  'close lets what was called before finish, and refuses what comes after': async ({ store }) => {
    const under = ['a', 'b', 'c'].map((id) => store.insert(PERSON, id, {}));
    await store.close();
    assert.equal(
      (await Promise.all(under)).map(({ kind }) => kind),
      ['inserted', 'inserted', 'inserted'],
    );
    await store.close();
    await refuses('ERR_STORE', () => store.declare([PERSON]));
    await refuses('ERR_STORE', () => store.insert(PERSON, 'd', {}));
    await refuses('ERR_STORE', () => store.get(PERSON, 'a'));
    await refuses('ERR_STORE', () => store.replace(PERSON, 'a', 1, {}));
    await refuses('ERR_STORE', () => store.remove(PERSON, 'a'));
    await refuses('ERR_STORE', () => store.find(PERSON));
    await refuses('ERR_STORE', () => store.count(PERSON));
    await refuses('ERR_STORE', () => store.changes(0, 1));
    await refuses('ERR_STORE', () => store.lastChange());
    await refuses('ERR_STORE', () => store.ping());
  },
};
