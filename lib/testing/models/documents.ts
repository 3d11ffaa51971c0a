// Random calls on a DocumentStore, compared with a plain map that is filtered and sorted anew for every query.

import fc from 'fast-check';
import type { JsonObject } from '../../json/json.ts';
import type { Condition, DocumentStore, IndexValue, Query } from '../../store/store.ts';
import * as assert from '../assert.ts';
import { PERSON, walk } from '../documents/bench.ts';
import { type RandomOptions, replay } from '../random.ts';

interface Calls {
  insert: { readonly id: string; readonly body: JsonObject };
  replace: { readonly id: string; readonly off: number; readonly body: JsonObject };
  remove: { readonly id: string; readonly off: number | null };
  get: { readonly id: string };
  find: { readonly query: Query & { readonly index: string; readonly limit: number } };
}

type Call = { [Name in keyof Calls]: { readonly name: Name; readonly input: Calls[Name] } }[keyof Calls];

interface Pair {
  readonly store: DocumentStore;
  readonly held: Map<string, { revision: number; body: JsonObject }>;
}

const id = fc.constantFrom('a', 'b', 'c', 'd', 'é', '😀', '\uffff');
const scalar = fc.constantFrom<IndexValue[]>(
  null,
  false,
  true,
  -1,
  0,
  1,
  1.5,
  '',
  '1',
  'a',
  'a\0',
  'b',
  '\uffff',
  '😀',
);
const body = fc.record(
  { a: scalar, b: scalar, c: scalar, any: scalar, phone: scalar },
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<JsonObject>;
const condition: fc.Arbitrary<Condition> = fc.oneof(
  { weight: 3, arbitrary: scalar },
  scalar.map((gt) => ({ gt })),
  scalar.map((gte) => ({ gte })),
  scalar.map((lt) => ({ lt })),
  fc.tuple(fc.integer({ min: -2, max: 2 }), fc.integer({ min: -2, max: 2 })).map(([gte, lt]) => ({ gte, lt })),
  fc.array(scalar, { maxLength: 4 }).map((values) => ({ in: values })),
  fc.constantFrom('', 'a', '\uffff', '😀').map((prefix) => ({ prefix })),
);
/** Fields of the indexes that are asked. */
const INDEXES: { readonly [index: string]: readonly string[] } = { any: ['any'], three: ['a', 'b', 'c'] };
// Equality on the first fields, anything on the last.
const conditions = fc.tuple(fc.array(scalar, { maxLength: 2 }), fc.option(condition)).map(([equal, last]) => {
  const values: Condition[] = last === null ? equal : [...equal, last];
  return Object.fromEntries(values.map((value, at) => [INDEXES.three![at]!, value]));
});
const asked = fc.oneof(
  conditions.map((where) => ({ index: 'three', where })),
  condition.map((any) => ({ index: 'any', where: { any } as { [field: string]: Condition } })),
);
const query = fc
  .tuple(asked, fc.record({ descending: fc.boolean(), limit: fc.integer({ min: 1, max: 3 }) }))
  .map(([one, more]) => ({ ...one, ...more }));
// Mostly the right revision: conflicts are the rare case.
const off = fc.constantFrom(0, 0, 0, -1, 1);
const arbitraries: { [Name in keyof Calls]: [weight: number, input: fc.Arbitrary<Calls[Name]>] } = {
  insert: [6, fc.record({ id, body })],
  replace: [4, fc.record({ id, off, body })],
  remove: [2, fc.record({ id, off: fc.option(off) })],
  get: [1, fc.record({ id })],
  find: [4, fc.record({ query })],
};
const call = fc.oneof(
  ...Object.entries(arbitraries).map(([name, [weight, input]]) => {
    return { weight, arbitrary: (input as fc.Arbitrary<unknown>).map((made) => ({ name, input: made }) as Call) };
  }),
);

/** Runs random sequences of calls, each on a new store that `run` opens. */
export function documentModel(
  run: (keep: (store: DocumentStore) => Promise<void>) => Promise<void>,
  options: RandomOptions,
): Promise<void> {
  const sequences = fc.asyncProperty(fc.array(call, { minLength: 10, maxLength: 80 }), (calls) =>
    run(async (store) => {
      const pair: Pair = { store, held: new Map() };
      for (const { name, input } of calls) await checks[name](input as never, pair);
    }),
  );
  return fc.assert(sequences, { numRuns: 20, ...replay(options) });
}

const checks: { [Name in keyof Calls]: (input: Calls[Name], pair: Pair) => Promise<void> } = {
  async insert({ id, body }, { store, held }) {
    const free = !held.has(id) && isFree(held, id, body);
    const taken = held.has(id) ? { kind: 'exists' } : { kind: 'exists', index: 'phone' };
    assert.equal(await store.insert(PERSON, id, body), free ? { kind: 'inserted', id, revision: 1, body } : taken);
    if (free) held.set(id, { revision: 1, body });
    await checks.get({ id }, { store, held });
  },
  async replace({ id, off, body }, { store, held }) {
    const revision = held.get(id)?.revision ?? 0;
    const expected = Math.max(0, revision + off);
    const result = await store.replace(PERSON, id, expected, body);
    if (revision === 0 || expected !== revision) assert.equal(result, { kind: 'conflict', revision });
    else if (!isFree(held, id, body)) assert.equal(result, { kind: 'exists', index: 'phone' });
    else {
      assert.equal(result, { kind: 'replaced', revision: revision + 1 });
      held.set(id, { revision: revision + 1, body });
    }
    await checks.get({ id }, { store, held });
  },
  async remove({ id, off }, { store, held }) {
    const revision = held.get(id)?.revision;
    const expected = off === null ? undefined : (revision ?? 0) + off;
    const removed = revision !== undefined && (off === null || off === 0);
    assert.is(await store.remove(PERSON, id, expected), removed);
    if (removed) held.delete(id);
  },
  async get({ id }, { store, held }) {
    const found = held.get(id);
    assert.equal(await store.get(PERSON, id), found && { id, ...found });
  },
  async find({ query }, { store, held }) {
    const where = Object.entries(query.where ?? {});
    const matching = [...held].filter(([, { body }]) =>
      where.every(([field, one]) => matches(valueIn(body, field), one)),
    );
    const sorted = matching.sort(([one, { body: a }], [other, { body: b }]) => {
      const first = INDEXES[query.index]!.map((field) => compare(valueIn(a, field), valueIn(b, field))).find(Boolean);
      return first ?? Buffer.compare(Buffer.from(one), Buffer.from(other));
    });
    const ids = sorted.map(([id]) => id);
    assert.equal(await walk(store, query), query.descending ? ids.reverse() : ids, JSON.stringify(query));
    assert.is(await store.count(PERSON, { index: query.index, where: query.where ?? {} }), ids.length);
  },
};

function isFree(held: Pair['held'], id: string, body: JsonObject): boolean {
  const phone = valueIn(body, 'phone');
  return phone === null || ![...held].some(([other, { body }]) => other !== id && valueIn(body, 'phone') === phone);
}

function matches(value: IndexValue, condition: Condition): boolean {
  if (typeof condition !== 'object' || condition === null) return value === condition;
  if ('in' in condition) return condition.in.includes(value);
  if ('prefix' in condition) return typeof value === 'string' && value.startsWith(condition.prefix);
  const holds = {
    gt: (n: number) => n > 0,
    gte: (n: number) => n >= 0,
    lt: (n: number) => n < 0,
    lte: (n: number) => n <= 0,
  };
  return Object.entries(condition).every(([name, bound]: [string, IndexValue]) => {
    return rank(value) === rank(bound) && holds[name as keyof typeof holds](compare(value, bound));
  });
}

function compare(a: IndexValue, b: IndexValue): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string));
  return Number(a) - Number(b);
}

function rank(value: IndexValue): number {
  return value === null ? 0 : ['number', 'string', 'boolean'].indexOf(typeof value) + 1;
}

function valueIn(body: JsonObject, field: string): IndexValue {
  return (body[field] ?? null) as IndexValue;
}
