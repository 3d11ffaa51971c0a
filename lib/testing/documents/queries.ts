// What every DocumentStore promises about finding: order, conditions, pages, and what it refuses.

import { COMMON_LIMITS } from '../../common-limits.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { IndexValue, Kind, Query } from '../../store/store.ts';
import * as assert from '../assert.ts';
import { refuses } from '../calls.ts';
import { type DocumentPromises, findIds, insertAll, PERSON, PLAIN, walk } from './bench.ts';

// In the order that every index has.
const ORDERED = [null, -1e300, -2.5, -1, 0, 5e-324, 0.1, 1, 2, 10, 1e21, '', '\0', '\0a', '1', 'A', 'a', 'a\0', 'aa'];
const ORDERED_TOO = ['é', '\ud7ff', '\ue000', '\uffff', '\ud800\udc00', '😀', '\udbff\udfff', false, true];
const VALUES = [...ORDERED, ...ORDERED_TOO];

/** Sentence → what shows that it is kept. */
export const DOCUMENT_QUERIES: DocumentPromises = {
  'an index sorts null, numbers, strings by their UTF-8 bytes, false, true; then by id': async ({ store }) => {
    const shuffled = VALUES.map((any, at) => ({ any, id: `v${String(at).padStart(2, '0')}` }));
    const sorted = shuffled.map(({ id }) => id);
    for (const { any, id } of shuffled.sort((a, b) => a.id.charCodeAt(2) - b.id.charCodeAt(2)))
      await store.insert(PERSON, id, { any });
    assert.equal(await findIds(store, { index: 'any' }), sorted);
    assert.equal(await findIds(store, { index: 'any', descending: true }), sorted.reverse());
    await store.insert(PERSON, 'v00\0', { any: null });
    await store.insert(PERSON, 'a', {});
    assert.equal(await findIds(store, { index: 'any', where: { any: null } }), ['a', 'v00', 'v00\0']);
    assert.equal(await findIds(store, { index: 'any', where: { any: null }, descending: true }), ['v00\0', 'v00', 'a']);
  },

  'a range finds what lies between its bounds and has their type': async ({ store }) => {
    for (const [at, any] of VALUES.entries()) await store.insert(PERSON, `v${at}`, { any });
    const readType = (value: unknown) => (value === null ? 'null' : typeof value);
    for (const [low, bound] of VALUES.entries()) {
      const same = (at: number) => readType(VALUES[at]) === readType(bound);
      const expected = (holds: (at: number) => boolean) =>
        VALUES.flatMap((_, at) => (same(at) && holds(at) ? [`v${at}`] : []));
      const found = (any: NonNullable<Query['where']>[string]) => findIds(store, { index: 'any', where: { any } });
      const ids = await Promise.all([
        found({ gt: bound }),
        found({ gte: bound }),
        found({ lt: bound }),
        found({ lte: bound }),
      ]);
      assert.equal(ids, [
        expected((at) => at > low),
        expected((at) => at >= low),
        expected((at) => at < low),
        expected((at) => at <= low),
      ]);
    }
    const between = async (any: object) => findIds(store, { index: 'any', where: { any: any as { gt: number } } });
    assert.equal(await between({ gt: -1, lte: 1 }), ['v4', 'v5', 'v6', 'v7']);
    assert.equal(await between({ gte: 'a', lt: 'aa' }), ['v16', 'v17']);
    assert.equal(await between({ gt: 1, lt: 1 }), []);
    assert.equal(await between({ gt: 2, lt: 1 }), []);
  },

  'a path leads through objects, and what is no plain value counts as null': async ({ store }) => {
    await insertAll(store, PERSON, {
      a: { home: { city: 'N', street: 's' } },
      b: { 'home.city': 'N' },
      c: { home: [{ city: 'N' }] },
      d: { home: 'N' },
      e: { home: { city: ['N'] } },
      f: { home: { city: { $gt: '' } } },
      g: { home: null },
      h: JSON.parse('{"home":{"__proto__":{"city":"N"}}}'),
    });
    assert.equal(await findIds(store, { index: 'place', where: { 'home.city': 'N' } }), ['a']);
    const rest = ['b', 'c', 'd', 'e', 'f', 'g', 'h'];
    assert.equal(await findIds(store, { index: 'place', where: { 'home.city': null } }), rest);
    const inherited: Kind = {
      name: 'person',
      indexes: { method: { fields: ['toString'] }, length: { fields: ['list.length'] }, item: { fields: ['list.0'] } },
    };
    await store.declare([inherited]);
    await store.insert(inherited, 'x', { list: [1] });
    for (const [index, field] of Object.entries({ method: 'toString', length: 'list.length', item: 'list.0' }))
      assert.equal(await findIds(store, { index, where: { [field]: null } }, inherited), ['x']);
  },

  'an index of a list finds a document once by each of its elements, in the order of the next field': async ({
    store,
  }) => {
    const N = (tags: Json, age: number): JsonObject => ({ city: 'N', tags, age });
    await insertAll(store, PERSON, {
      a: N(['x', 'y', 'x'], 3),
      b: N(['x', 1, null, { x: 1 }, ['x']], 1),
      c: N('x', 2),
      g: N(['x'], 2),
      d: N([], 4),
      e: { city: 'N' },
      f: { city: 'M', tags: ['x'] },
    });
    const tagged = (element: IndexValue) => ({ index: 'tags', where: { city: 'N', 'tags[]': element } });
    // What is no list has no elements.
    assert.equal(await findIds(store, tagged('x')), ['b', 'g', 'a']);
    assert.equal(await findIds(store, { ...tagged('x'), descending: true }), ['a', 'g', 'b']);
    assert.equal(await findIds(store, tagged('y')), ['a']);
    assert.equal(await findIds(store, tagged(1)), ['b']);
    assert.equal(await findIds(store, tagged(null)), []);
    assert.equal(await findIds(store, { index: 'tags', where: { ...tagged('x').where, age: { gte: 2 } } }), ['g', 'a']);
    assert.is(await store.count(PERSON, tagged('x')), 3);
    assert.equal((await walk(store, { ...tagged('x'), limit: 1 })).flat(), ['b', 'g', 'a']);
    await store.replace(PERSON, 'a', 1, N(['y', 'z'], 3));
    await store.remove(PERSON, 'b');
    assert.equal(await findIds(store, tagged('x')), ['g']);
    assert.equal(await findIds(store, tagged('z')), ['a']);
    for (const where of [{}, { city: 'N' }, { city: 'N', 'tags[]': { in: ['x'] } }, { city: 'N', tags: 'x' }])
      await refuses('ERR_INPUT', () => store.find(PERSON, { index: 'tags', where }));
    const tags = Array.from({ length: COMMON_LIMITS.elementsPerIndex + 1 }, (_, at) => at);
    await refuses('ERR_INPUT', () => store.insert(PERSON, 'many', { tags }));
    assert.is(await store.get(PERSON, 'many'), undefined);
    await store.insert(PERSON, 'enough', { tags: tags.slice(1) });
  },

  'an element of a unique list belongs to one document': async ({ store }) => {
    await store.insert(PERSON, 'a', { names: ['x', 'y', 'x'] });
    assert.equal(await store.insert(PERSON, 'b', { names: ['z', 'y'] }), { kind: 'exists', index: 'names' });
    await store.insert(PERSON, 'b', { names: ['z'] });
    assert.equal(await store.replace(PERSON, 'b', 1, { names: ['z', 'x'] }), { kind: 'exists', index: 'names' });
    assert.equal(await findIds(store, { index: 'names', where: { 'names[]': 'x' } }), ['a']);
    await store.replace(PERSON, 'a', 1, { names: ['y'] });
    await store.replace(PERSON, 'b', 1, { names: ['x', 'z'] });
    assert.equal(await findIds(store, { index: 'names', where: { 'names[]': 'x' } }), ['b']);
    await store.insert(PERSON, 'c', { names: [] });
    await store.insert(PERSON, 'd', {});
  },

  'operators are data': async ({ store }) => {
    await insertAll(store, PERSON, { a: { any: '{"$gt":""}' }, b: { any: { $gt: '' } }, $where: { any: '$ne' } });
    assert.equal(await findIds(store, { index: 'any', where: { any: '{"$gt":""}' } }), ['a']);
    assert.equal(await findIds(store, { index: 'any', where: { any: '$ne' } }), ['$where']);
    assert.equal((await store.get(PERSON, 'b'))?.body, { any: { $gt: '' } });
    for (const any of [{ $gt: '' }, { $ne: null }, { $regex: '.*' }, ['a'], { gt: { $gt: 1 } }, { in: [{ $gt: '' }] }])
      await refuses('ERR_INPUT', () => store.find(PERSON, { index: 'any', where: { any: any as unknown as string } }));
  },

  'a query that its index cannot serve is refused': async ({ store }) => {
    const bad: Record<string, unknown>[] = [
      { index: 'nothing' },
      { index: '__proto__' },
      { where: { any: 1 } },
      { where: { id: 'a' } },
      { index: 'any', where: { phone: '1' } },
      { index: 'any', where: { any: undefined } },
      { index: 'age', where: { age: 1 } },
      { index: 'three', where: { a: 1, c: 1 } },
      { index: 'three', where: { a: { gt: 1 }, b: 1 } },
      { index: 'three', where: { a: { in: [1] }, b: 1 } },
      { index: 'any', where: { any: {} } },
      { index: 'any', where: { any: { gt: 1, lt: '2' } } },
      { index: 'any', where: { any: { gt: 1, gte: 1 } } },
      { index: 'any', where: { any: { gt: 1, prefix: '1' } } },
      { index: 'any', where: { any: { gt: undefined } } },
      { index: 'any', where: { any: Number.NaN } },
      { index: 'any', where: { any: '\ud800' } },
      { index: 'any', where: { any: { prefix: 1 } } },
      { index: 'any', where: { any: { in: 'abc' } } },
      { index: 'any', where: { any: { in: Array.from({ length: 101 }, (_, at) => at) } } },
    ];
    for (const query of bad) {
      const error = await refuses('ERR_INPUT', () => store.find(PERSON, query));
      assert.match(error.message, 'Person');
      await refuses('ERR_INPUT', () => store.count(PERSON, query));
    }
    for (const limit of [0, -1, 1.5, 1001, Number.NaN]) await refuses('ERR_INPUT', () => store.find(PERSON, { limit }));
    for (const cursor of ['', 'x', '%%%', 'AAAA', 'AAAAAAAAAAAAAAAA']) {
      await refuses('ERR_INPUT', () => store.find(PERSON, { cursor }));
      await refuses('ERR_INPUT', () => store.find(PERSON, { index: 'any', cursor }));
    }
  },

  'a cursor serves the query that gave it, and no other': async ({ store }) => {
    await insertAll(store, PERSON, { a: { any: 1 }, b: { any: 1 }, c: { any: 2 } });
    const query = { index: 'any', where: { any: 1 }, limit: 1 };
    const { next } = await store.find(PERSON, query);
    assert.equal(await findIds(store, { ...query, cursor: next! }), ['b']);
    assert.equal(await findIds(store, { ...query, limit: 5, cursor: next! }), ['b']);
    const others: Query[] = [{}, { index: 'any' }, { ...query, where: { any: 2 } }, { ...query, descending: true }];
    for (const other of others) await refuses('ERR_INPUT', () => store.find(PERSON, { ...other, cursor: next! }));
    const byId = (await store.find(PERSON, { limit: 1 })).next!;
    assert.equal(await findIds(store, { cursor: byId }), ['b', 'c']);
    await refuses('ERR_INPUT', () => store.find(PLAIN, { cursor: byId }));
    await refuses('ERR_INPUT', () => store.find(PERSON, { ...query, cursor: `${next}=` }));
  },

  'pages hold every document once, whoever comes and goes': async ({ store }) => {
    const ids = Array.from({ length: 40 }, (_, at) => `k${String(at).padStart(2, '0')}`);
    for (const [at, id] of ids.entries()) await store.insert(PERSON, id, { city: 'N', age: at >> 3 });
    for (const descending of [false, true]) {
      const queries: Query[] = [{ index: 'age', where: { city: 'N' } }, { index: 'age' }, {}];
      for (const query of queries) {
        const extra: string[] = [];
        const seen = await walk(store, { ...query, descending, limit: 7 }, async (page) => {
          assert.ok(page.length <= 7);
          // The last one seen goes away for a moment, and one comes on the side that has been walked.
          const last = (await store.get(PERSON, page.at(-1)!))!;
          await store.remove(PERSON, last.id);
          const id = descending ? `z${extra.length}` : `a${extra.length}`;
          await store.insert(PERSON, id, { city: descending ? 'Z' : 'A', age: descending ? 99 : -99 });
          extra.push(id);
          await store.insert(PERSON, last.id, last.body);
        });
        assert.equal(seen, descending ? [...ids].reverse() : ids);
        for (const id of extra) await store.remove(PERSON, id);
      }
    }
    const all = await store.find(PERSON, { limit: 40 });
    assert.is(all.items.length, 40);
    assert.is(all.next, undefined);
    assert.is((await store.find(PERSON)).items.length, 40);
  },
};
