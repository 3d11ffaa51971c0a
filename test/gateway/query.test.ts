// What a request message becomes of a path, a query and a body: each type, each rule, and what is refused.

import { fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createRouteTable, readDescriptorSet } from '../../lib/gateway/index.ts';
import { compileBinding } from '../../lib/gateway/request/bind.ts';
import cases from '../fixtures/gateway/query.json' with { type: 'json' };
import { compileKept } from '../support/protoc.ts';
import { refusal as refusalWith } from './refusal.ts';

const test = suite('gateway query');
const refusal = (work: () => unknown) => refusalWith(work, 'ERR_INPUT');

const descriptors = readDescriptorSet(compileKept('demo/library.proto'));
const table = createRouteTable(descriptors);
const { registry } = descriptors;

function bind(target: string, body?: string, method = 'GET'): unknown {
  const [path = '', query = ''] = target.split('?');
  const match = table.match(method, path);
  if (match.kind !== 'found') throw new Error(`no route for ${target}`);
  const bytes = match.route.bind({
    values: match.values,
    query,
    body: body === undefined ? undefined : Buffer.from(body),
  });
  const message = fromBinary(match.route.input, bytes);
  // A body and what is bound besides follow each other; Protobuf merges them.
  if (body === undefined)
    assert.equal(Buffer.from(toBinary(match.route.input, message)), bytes, 'the bytes are not those of an encoder');
  return toJson(match.route.input, message, { registry, useProtoFieldName: true });
}

const query = (text: string) => bind(`/v1/query/t?${text}`);
const only = (value: object) => ({ text: 't', ...value });

for (const [rule, text, message] of cases.taken as [rule: string, query: string, message: object][])
  test(`taken: ${rule} (${text})`, () => {
    assert.equal(query(text), only(message));
  });

const refused = cases.refused as [rule: string, query: string, why: string][];
for (const [rule, text, why] of [
  ...refused,
  ['more parameters than are read', 'x=1&'.repeat(1_001), 'more than 1000 parameters'] as const,
])
  test(`refused: ${rule} (${text.slice(0, 40)})`, () => {
    assert.match(refusal(() => query(text)).message, new RegExp(why));
  });

test('a refusal names the parameter, and shows no more than 100 characters of its value', () => {
  const error = refusal(() => query(`number=${'9'.repeat(5_000)}`));
  assert.is(error.details[0]?.field, 'number');
  assert.ok(error.message.length < 400);
});

test('a variable of the path takes enums, numbers and times, and says which one is wrong', () => {
  assert.equal(bind('/v1/typed/BLUE/7/1970-01-01T00:00:01Z'), {
    color: 'BLUE',
    number: 7,
    time: '1970-01-01T00:00:01Z',
  });
  assert.equal(bind('/v1/typed/5/7/1970-01-01T00:00:01Z'), { color: 'BLUE', number: 7, time: '1970-01-01T00:00:01Z' });
  const { message } = refusal(() => bind('/v1/typed/X/7/1970-01-01T00:00:01Z'));
  assert.match(message, /type mismatch, parameter: color, error: "X" is not a valid value/);
});

test('a variable inside a message leaves the rest of that message to the query', () => {
  assert.equal(bind('/v1/owners/me?owner.parent.id=up&owner.id=other&id=1'), {
    id: '1',
    owner: { id: 'me', parent: { id: 'up' } },
  });
});

test('a body that is one field: the others come from the query, the field itself does not', () => {
  const saved = bind(
    '/v1/shelves/s%2F1/books?draft=true&book.title=no&shelf=no',
    '{"title":"T","pages":"7","nope":1}',
    'PUT',
  );
  assert.equal(saved, { shelf: 's/1', book: { title: 'T', pages: '7' }, draft: true });
});

test('a body that is the whole message: nothing comes from the query, and the path wins', () => {
  const saved = bind('/v1/shelves/s/books?draft=true', '{"shelf":"other","book":{"title":"T"}}', 'PATCH');
  assert.equal(saved, { shelf: 's', book: { title: 'T' } });
});

test('a body that is missing leaves the message to the path', () => {
  assert.equal(bind('/v1/shelves/s/books', '', 'PATCH'), { shelf: 's' });
  assert.equal(bind('/v1/shelves/s/books', undefined, 'PATCH'), { shelf: 's' });
});

for (const [what, body] of [
  ['no JSON', '{'],
  ['another type', '{"title":1}'],
  ['a number beyond 64 bits', '{"pages":"18446744073709551616"}'],
  ['a list', '[]'],
  ['messages in messages without end', `{"owner":${'{"parent":'.repeat(200)}{}${'}'.repeat(201)}`],
] as const)
  test(`a body is refused: ${what}`, () => {
    refusal(() => bind('/v1/shelves/s/books', body, 'PUT'));
  });

test('a name that an enum does not have is refused in a body, wherever it stands, as it is in a query', () => {
  const everything = registry.getMessage('demo.Everything')!;
  const save = compileBinding({
    input: everything,
    variables: [],
    body: '*',
    method: 'POST',
    registry,
  });
  const bindBody = (body: object) => save({ values: [], query: '', body: Buffer.from(JSON.stringify(body)) });
  bindBody({
    color: 'BLUE',
    colors: ['RED', 5],
    palette: { x: 'RED' },
    json: { color: 'GREEN', fields: { x: { null_value: 'no' } } },
    nope: 'GREEN',
  });
  for (const body of [{ color: 'GREEN' }, { color: '5' }, { colors: ['RED', 'GREEN'] }, { palette: { x: 'GREEN' } }])
    assert.match(refusal(() => bindBody(body)).message, /is not a valid value/);
});

test('a body that is not UTF-8 is refused', () => {
  const match = table.match('PATCH', '/v1/shelves/s/books');
  assert.ok(match.kind === 'found');
  if (match.kind === 'found')
    refusal(() => match.route.bind({ values: ['s'], query: '', body: Buffer.from([0x22, 0xff, 0x22]) }));
});

const encode = (name: string, value: unknown) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`;

test('any texts and numbers come through a query unchanged', () => {
  const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 8 }), { maxLength: 4 });
  const longs = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  fc.assert(
    fc.property(texts, longs, fc.uint8Array({ maxLength: 9 }), fc.double(), (list, big, raw, precise) => {
      const base64 = Buffer.from(raw).toString('base64url');
      const pairs = [
        ...list.map((one) => encode('list', one)),
        encode('big', big),
        encode('raw', base64),
        encode('precise', Object.is(precise, -0) ? '-0' : precise),
      ];
      const match = table.match('GET', '/v1/query/t');
      assert.ok(match.kind === 'found');
      if (match.kind !== 'found') return;
      const message = fromBinary(
        match.route.input,
        match.route.bind({ values: ['t'], query: pairs.join('&') }),
      ) as unknown as {
        list: string[];
        big: bigint;
        raw: Uint8Array;
        precise: number;
      };
      assert.equal(message.list, list);
      assert.is(message.big, big);
      assert.equal(Buffer.from(message.raw), Buffer.from(raw));
      assert.ok(Object.is(message.precise, precise));
    }),
    { numRuns: 300 },
  );
});

test.run();
