// What every DocumentStore promises about writing: bodies, revisions, unique values, the feed of changes.

import type { JsonObject } from '../../json/json.ts';
import * as assert from '../assert.ts';
import { refuses } from '../calls.ts';
import { type DocumentPromises, findIds, insertAll, PERSON, PLAIN } from './bench.ts';

const ODD_IDS = [
  'a',
  'A',
  ' ',
  '\0',
  'a\0',
  'é',
  'e\u0301',
  '\uffff',
  '😀',
  '$gt',
  '__proto__',
  'x.y',
  'a'.repeat(256),
];

/** Sentence → what shows that it is kept. */
export const DOCUMENT_WRITES: DocumentPromises = {
  'a document comes back as it was inserted, whatever it holds': async ({ store }) => {
    const { default: fc } = await import('fast-check');
    let at = 0;
    const key = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('$gt', '__proto__', 'a.b', '', '_id', 'toJSON'),
    );
    const value = fc.jsonValue({ noUnicodeString: false, maxDepth: 3 });
    await fc.assert(
      fc.asyncProperty(fc.dictionary(key, value, { maxKeys: 5 }), async (made) => {
        const body = JSON.parse(JSON.stringify(made)) as JsonObject;
        const id = `d${at++}`;
        assert.equal(await store.insert(PERSON, id, body), { kind: 'inserted', id, revision: 1, body });
        const found = await store.get(PERSON, id);
        assert.is(JSON.stringify(found?.body), JSON.stringify(body));
      }),
      { numRuns: 40 },
    );
  },

  'what the caller does to a body later changes nothing stored': async ({ store }) => {
    const body = { list: [1], phone: '1' };
    const inserting = store.insert(PERSON, 'a', body);
    body.list.push(2);
    const inserted = await inserting;
    assert.ok(inserted.kind === 'inserted');
    const got = await store.get(PERSON, 'a');
    const found = await store.find(PERSON);
    for (const document of [inserted, got, found.items[0]]) (document!.body.list as number[]).push(3);
    assert.equal((await store.get(PERSON, 'a'))?.body, { list: [1], phone: '1' });
    const next = { list: [1], phone: '2' };
    const replacing = store.replace(PERSON, 'a', 1, next);
    next.phone = '3';
    await replacing;
    assert.equal(await findIds(store, { index: 'phone', where: { phone: '2' } }), ['a']);
  },

  'ids of any text are kept apart, and so are kinds': async ({ store }) => {
    for (const id of ODD_IDS) {
      await store.insert(PERSON, id, { is: id });
      await store.insert(PLAIN, id, { plain: id });
    }
    for (const id of ODD_IDS) {
      assert.equal(await store.get(PERSON, id), { id, revision: 1, body: { is: id } });
      assert.equal((await store.get(PLAIN, id))?.body, { plain: id });
    }
    const sorted = [...ODD_IDS].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    assert.equal(await findIds(store), sorted);
    assert.equal(await findIds(store, { descending: true }, PLAIN), sorted.reverse());
    assert.equal(
      (await store.changes(0, 2)).map(({ kind, id }) => [kind, id]),
      [
        ['Person', 'a'],
        ['person', 'a'],
      ],
    );
  },

  'of 20 replacements at one revision exactly one is written, and of 10 removals one is made': async ({ store }) => {
    await store.insert(PERSON, 'a', { n: 1 });
    const replaces = Array.from({ length: 20 }, (_, n) => store.replace(PERSON, 'a', 1, { n }));
    const results = await Promise.all(replaces);
    const winner = results.findIndex(({ kind }) => kind === 'replaced');
    assert.is(results.filter(({ kind }) => kind === 'replaced').length, 1);
    assert.equal((await store.get(PERSON, 'a'))?.body, { n: winner });
    const removals = await Promise.all(Array.from({ length: 10 }, () => store.remove(PERSON, 'a')));
    assert.is(removals.filter(Boolean).length, 1);
  },

  'of 20 inserts of one unique value exactly one is written': async ({ store }) => {
    const inserts = Array.from({ length: 20 }, (_, at) => store.insert(PERSON, `p${at}`, { phone: 'same' }));
    const results = await Promise.all(inserts);
    assert.is(results.filter(({ kind }) => kind === 'inserted').length, 1);
    for (const one of results) if (one.kind !== 'inserted') assert.equal(one, { kind: 'exists', index: 'phone' });
    assert.is(await store.count(PERSON), 1);
    assert.is(await store.count(PERSON, { index: 'phone', where: { phone: 'same' } }), 1);
  },

  'unique is by type and by all values, and null or missing values never clash': async ({ store }) => {
    await insertAll(store, PERSON, {
      a: { phone: 1 },
      b: { phone: '1' },
      c: { phone: true },
      d: { phone: null },
      e: { phone: null },
      f: {},
      g: { phone: { $gt: '' } },
      h: { phone: { $gt: '' } },
      i: { home: { city: 'N', street: '1' } },
      j: { home: { city: 'N', street: '2' } },
      k: { home: { city: 'N' } },
      l: { home: { city: 'N' } },
      m: { home: { city: 'N\0', street: '1' } },
    });
    for (const [index, body] of [
      ['phone', { phone: true }],
      ['place', { home: { street: '1', city: 'N' } }],
    ] as const)
      assert.equal(await store.insert(PERSON, 'x', body), { kind: 'exists', index });
  },

  'every write that happened is one numbered change, in order, and no other is': async ({ store, clock }) => {
    await store.insert(PERSON, 'a', { n: 1 });
    await clock.advance(5);
    await store.replace(PERSON, 'a', 1, { n: 2 });
    await store.replace(PERSON, 'a', 1, { n: 3 });
    await store.insert(PERSON, 'a', {});
    await store.remove(PERSON, 'b');
    await store.insert(PLAIN, 'b', {});
    await store.remove(PERSON, 'a');
    await store.insert(PERSON, 'a', {});
    const changes = await store.changes(0, 100);
    const at = clock.now();
    assert.equal(
      changes.map(({ seq: _, ...rest }) => rest),
      [
        { kind: 'Person', id: 'a', revision: 1, at: at - 5 },
        { kind: 'Person', id: 'a', revision: 2, at },
        { kind: 'person', id: 'b', revision: 1, at },
        { kind: 'Person', id: 'a', revision: 0, at },
        { kind: 'Person', id: 'a', revision: 1, at },
      ],
    );
    const numbers = changes.map(({ seq }) => seq);
    assert.ok(numbers.every((seq, place) => Number.isInteger(seq) && seq > (numbers[place - 1] ?? 0)));
    assert.equal(await store.changes(numbers[1]!, 2), changes.slice(2, 4));
    assert.equal(await store.changes(numbers.at(-1)!, 2), []);
  },

  'lastChange is the number of the newest change, of every write that resolved before': async ({ store }) => {
    assert.equal([await store.lastChange(), await store.changes(0, 10)], [0, []]);
    await store.ping();
    for (let at = 0; at < 5; at++) {
      const before = await store.lastChange();
      await Promise.all(Array.from({ length: 7 }, (_, n) => store.insert(PERSON, `a${at}-${n}`, {})));
      const newest = await store.lastChange();
      assert.is((await store.changes(before, 100)).length, 7);
      assert.equal(await store.changes(newest, 100), []);
      assert.is((await store.changes(before, 100)).at(-1)?.seq, newest);
      await store.insert(PERSON, `a${at}-0`, {});
      assert.is(await store.lastChange(), newest, 'an insert that answers exists is no change');
    }
    await store.remove(PERSON, 'a0-0');
    assert.is(await store.lastChange(), (await store.changes(0, 100)).at(-1)?.seq);
  },

  'a document that is too large, a lone surrogate and a malformed id are refused': async ({ store }) => {
    await refuses('ERR_INPUT', () => store.insert(PERSON, 'a', { text: 'x'.repeat(1_048_576) }));
    await store.insert(PERSON, 'large', { text: 'x'.repeat(1_000_000) });
    await refuses('ERR_INPUT', () => store.replace(PERSON, 'large', 1, { text: 'é'.repeat(524_289) }));
    await refuses('ERR_INPUT', () => store.insert(PERSON, 'a', { deep: [{ '\ud800': 1 }] }));
    await refuses('ERR_INPUT', () => store.insert(PERSON, 'a', { deep: ['x\udc00'] }));
    await store.insert(PERSON, 'text', { text: '\\ud800' });
    for (const id of ['', 'a'.repeat(257), '\ud800']) {
      await refuses('ERR_INPUT', () => store.insert(PERSON, id, {}));
      await refuses('ERR_INPUT', () => store.get(PERSON, id));
      await refuses('ERR_INPUT', () => store.replace(PERSON, id, 1, {}));
      await refuses('ERR_INPUT', () => store.remove(PERSON, id));
    }
    for (const limit of [0, -1, 1.5]) await refuses('ERR_INPUT', () => store.changes(0, limit));
    assert.equal(await findIds(store), ['large', 'text']);
  },
};
