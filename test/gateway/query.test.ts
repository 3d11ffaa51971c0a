// What a request message becomes of a path, a query and a body: each type, each rule, and what is refused.

import { fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { TwinlineError } from '../../lib/errors.ts';
import { createRouteTable, readDescriptorSet } from '../../lib/gateway/index.ts';
import { compileKept } from '../support/protoc.ts';

const test = suite('gateway query');

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

const TAKEN: readonly (readonly [rule: string, query: string, message: object])[] = [
  [
    'nested, by the name in the .proto file',
    'inner.count_total=true&inner.limit=5',
    { inner: { count_total: true, limit: '5' } },
  ],
  [
    'nested, by the name in JSON',
    'inner.countTotal=1&inner.inner.inner.name=x',
    { inner: { count_total: true, inner: { inner: { name: 'x' } } } },
  ],
  ['unknown parameters are ignored', 'nope=1&inner.nope=2&inner.limit=3', { inner: { limit: '3' } }],
  ['a repeated field takes each', 'list=a&list=b', { list: ['a', 'b'] }],
  ['a comma does not part values', 'list=a,b', { list: ['a,b'] }],
  ['empty values of a list stay', 'list=&list=', { list: ['', ''] }],
  ['repeated numbers', 'numbers=1&numbers=-2', { numbers: [1, -2] }],
  ['an enum by name', 'color=BLUE', { color: 'BLUE' }],
  ['an enum by number', 'color=5&colors=1&colors=BLUE', { color: 'BLUE', colors: ['RED', 'BLUE'] }],
  ['numbers are read with base 10', 'number=010', { number: 10 }],
  ['an encoded plus is a sign', 'number=%2B5', { number: 5 }],
  [
    '64 bits in full range',
    'big=-9223372036854775808&huge=18446744073709551615',
    { big: '-9223372036854775808', huge: '18446744073709551615' },
  ],
  [
    '32 bits in full range',
    'number=-2147483648&small=4294967295&fix=4294967295',
    { number: -2147483648, small: 4294967295, fix: 4294967295 },
  ],
  [
    'zigzag and fixed numbers',
    'zig=-7&zag=-8&fixx=9&sfix=-10&sfixx=-11',
    { zig: -7, zag: '-8', fixx: '9', sfix: -10, sfixx: '-11' },
  ],
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((one) => [`true is ${one}`, `flag=${one}`, { flag: true }] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((one) => [`false is ${one}`, `flag=${one}`, {}] as const),
  ['floats', 'real=1.5&precise=-2.5e-3', { real: 1.5, precise: -0.0025 }],
  ['floats that are no numbers', 'real=NaN&precise=-Inf', { real: 'NaN', precise: '-Infinity' }],
  ['floats without digits before the point', 'precise=.5', { precise: 0.5 }],
  ['bytes in standard base64', 'raw=%2B/8%3D', { raw: '+/8=' }],
  ['bytes in URL-safe base64', 'raw=-_8%3D', { raw: '+/8=' }],
  ['bytes without padding', 'raw=-_8', { raw: '+/8=' }],
  ['an equals sign after the first belongs to the value', 'raw=-_8=', { raw: '+/8=' }],
  ['a time with an offset', 'time=2026-01-02T03:04:05.5%2B02:00', { time: '2026-01-02T01:04:05.500Z' }],
  ['a time before 1970', 'time=0001-01-01T00:00:00Z', { time: '0001-01-01T00:00:00Z' }],
  [
    'repeated times',
    'times=1970-01-01T00:00:00Z&times=2000-02-29T00:00:00Z',
    { times: ['1970-01-01T00:00:00Z', '2000-02-29T00:00:00Z'] },
  ],
  ['a duration as Go writes it', 'span=1h2m3.5s', { span: '3723.500s' }],
  ['a negative duration', 'span=-1.5h', { span: '-5400s' }],
  ['a small duration', 'span=1us', { span: '0.000001s' }],
  ['no duration', 'span=0', { span: '0s' }],
  ['a mask of fields', 'mask=a_b,c', { mask: 'aB,c' }],
  [
    'wrappers by their value',
    'boxed=7&boxed_text=x&boxed_flag=true&boxed_raw=AQI%3D',
    { boxed: '7', boxed_text: 'x', boxed_flag: true, boxed_raw: 'AQI=' },
  ],
  ['a wrapper of zero is set', 'boxed=0&boxed_text=', { boxed: '0', boxed_text: '' }],
  [
    'JSON for a Struct and a Value',
    'json={"a":[1]}&any_json=[true,null]',
    { json: { a: [1] }, any_json: [true, null] },
  ],
  [
    'entries of a map',
    'counts[a]=1&counts[b%5D]=2&palette[x]=RED&names[-7]=n',
    { counts: { a: 1, 'b]': 2 }, palette: { x: 'RED' }, names: { '-7': 'n' } },
  ],
  ['an unset member of a oneof', 'left=', { left: '' }],
  ['a message inside a oneof', 'middle.name=x&middle.limit=2', { middle: { name: 'x', limit: '2' } }],
  ['an optional field keeps its zero', 'maybe=0', { maybe: 0 }],
  ['what the path gives, the query cannot change', 'text=other', {}],
  ['plus is a space, %2B a plus', 'list=a+b%2Bc', { list: ['a b+c'] }],
  ['a name may be encoded', 'inner%2Elimit=4', { inner: { limit: '4' } }],
  ['a name without value is empty', 'list', { list: [''] }],
  ['empty pairs count for nothing', '&&number=1&', { number: 1 }],
];

for (const [rule, text, message] of TAKEN)
  test(`taken: ${rule} (${text})`, () => {
    assert.equal(query(text), only(message));
  });

const REFUSED: readonly (readonly [rule: string, query: string, why: RegExp])[] = [
  ['a single field twice', 'number=1&number=2', /too many values for field "number": 1, 2/],
  ['a single field by both names', 'boxed_text=a&boxedText=b', /too many values for field "boxed_text"/],
  ['an enum value that is not there', 'color=7', /parsing field "color": "7" is not a valid value/],
  ['an enum in other capitals', 'color=red', /"red" is not a valid value/],
  ['base 16', 'number=0x10', /parsing field "number"/],
  ['a decimal point', 'number=1.0', /parsing field "number"/],
  ['a raw plus, which is a space', 'number=+5', /" 5"/],
  ['a number without digits', 'number=', /parsing field "number"/],
  ['underscores', 'number=1_000', /parsing field "number"/],
  ['32 bits exceeded', 'number=2147483648', /from -2147483648 to 2147483647/],
  ['a negative unsigned number', 'small=-1', /from 0 to 4294967295/],
  ['64 bits exceeded', 'huge=18446744073709551616', /from 0 to 18446744073709551615/],
  ['an element of a list', 'numbers=1&numbers=x', /parsing list "numbers"/],
  ['yes', 'flag=yes', /not true or false/],
  ['an empty bool', 'flag=', /not true or false/],
  ['a float beyond 32 bits', 'real=1e39', /not a number in range/],
  ['a double beyond its range', 'precise=1e999', /not a number in range/],
  ['hexadecimal floats', 'precise=0x1p-2', /not a number in range/],
  ['bytes that are no base64', 'raw=a*b', /illegal base64 data at input byte 1/],
  ['a raw plus in base64, which is a space', 'raw=+/8=', /illegal base64/],
  ['both alphabets in one', 'raw=%2B_8%3D', /illegal base64/],
  ['base64 of an impossible length', 'raw=abcde', /illegal base64/],
  ['wrong padding', 'raw=ab%3D', /illegal base64/],
  ['a date without time', 'time=2026-01-02', /parsing field "time"/],
  ['a time without offset', 'time=2026-01-02T03:04:05', /parsing field "time"/],
  ['a day that is not there', 'time=2026-02-29T00:00:00Z', /not a time that exists/],
  ['a leap second', 'time=2016-12-31T23:59:60Z', /not a time that exists/],
  ['null for a time', 'time=null', /parsing field "time"/],
  ['a duration without unit', 'span=5', /parsing field "span"/],
  ['a duration that is too long', 'span=9999999h', /292 years/],
  ['a message as one value', 'inner=1', /unsupported message type: "demo.Inner"/],
  ['a list of messages', 'inners=1', /unsupported message type: "demo.Inner"/],
  ['a path through a list', 'inners.name=x', /invalid path: "inners" is not a message/],
  ['a path through a scalar', 'number.x=1', /invalid path: "number" is not a message/],
  ['a second member of a oneof', 'left=a&right=1', /field already set for oneof "choice"/],
  ['a message beside a member of its oneof', 'left=a&middle.name=x', /field already set for oneof "choice"/],
  ['a map without key', 'counts=1', /is a map: write counts\[key\]=value/],
  ['a map key twice', 'counts[a]=1&counts[a]=2', /more than one value provided for key "a"/],
  ['a map key of another type', 'names[x]=1', /parsing map key "names"/],
  ['a map value of another type', 'counts[a]=x', /parsing map value "counts"/],
  ['a map of messages', 'nested[a]=x', /unsupported message type/],
  ['a key on what is no map', 'number[a]=1', /field "number" is not a map/],
  ['a time and a part of it', 'time=1970-01-01T00:00:00Z&time.seconds=5', /too many values for field "time"/],
  ['a broken escape', 'list=%zz', /invalid URL escape "%zz"/],
  ['a cut escape', 'list=%2', /invalid URL escape "%2"/],
  ['text that is not UTF-8', 'list=%ff', /not UTF-8/],
  ['a semicolon', 'list=1;number=2', /invalid semicolon separator in query/],
  ['JSON that is none', 'json={', /not JSON of this type/],
  ['more parameters than are read', 'x=1&'.repeat(1_001), /more than 1000 parameters/],
];

function refusal(work: () => unknown): TwinlineError {
  try {
    work();
  } catch (error) {
    assert.is((error as TwinlineError).code, 'ERR_INPUT', String(error));
    return error as TwinlineError;
  }
  throw new Error('nothing was thrown');
}

for (const [rule, text, why] of REFUSED)
  test(`refused: ${rule} (${text.slice(0, 40)})`, () => {
    assert.match(refusal(() => query(text)).message, why);
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
