// Replies as JSON: each rule of the Cosmos form and of the proto3 form, odd bytes, and the limits.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { TwinlineError } from '../../lib/errors.ts';
import { createJsonWriters, type JsonForm, readDescriptorSet } from '../../lib/gateway/index.ts';
import { compileProtos } from '../support/protoc.ts';
import { cpuMs } from '../support/timed.ts';

const test = suite('gateway JSON');

const { registry } = readDescriptorSet(
  compileProtos({
    'chain.proto': `
      syntax = "proto3"; package chain;
      import "gogoproto/gogo.proto"; import "google/protobuf/any.proto"; import "google/protobuf/duration.proto";
      import "google/protobuf/empty.proto"; import "google/protobuf/field_mask.proto"; import "google/protobuf/struct.proto";
      import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
      enum Color { NONE = 0; RED = 1; ALSO_RED_BY_OTHER_NUMBER = 2; }
      message Coin { string denom = 1; string amount = 2 [(gogoproto.customtype) = "cosmossdk.io/math.Int", (gogoproto.nullable) = false]; }
      message Inner { string some_name = 1; Coin coin = 2 [(gogoproto.nullable) = false]; Coin maybe_coin = 3; }
      message All {
        string some_text = 1; int32 small = 2; int64 big = 3; uint64 huge = 4; bool flag = 5; bytes raw = 6 [json_name = "rawBytes"];
        Color color = 7; double real = 8; float single = 9; repeated string texts = 10; map<string, int64> counts = 11;
        Inner inner = 12; Inner full = 13 [(gogoproto.nullable) = false]; google.protobuf.Timestamp time = 14;
        google.protobuf.Timestamp go_time = 15 [(gogoproto.stdtime) = true, (gogoproto.nullable) = false];
        google.protobuf.Duration span = 16 [(gogoproto.nullable) = false]; google.protobuf.Any any = 17;
        string decimal = 18 [(gogoproto.customtype) = "cosmossdk.io/math.LegacyDec", (gogoproto.nullable) = false];
        string maybe_decimal = 19 [(gogoproto.customtype) = "github.com/cosmos/cosmos-sdk/types.Dec"];
        oneof choice { string left = 20; Inner right = 21; } optional int32 maybe = 22; repeated Color colors = 23;
        repeated Inner inners = 24; google.protobuf.FieldMask mask = 25; google.protobuf.Int64Value boxed = 26;
        google.protobuf.Struct json = 27; repeated int32 numbers = 28; map<int32, Inner> by_number = 29; map<bool, string> by_flag = 30;
        bytes contract = 31 [(gogoproto.casttype) = "RawContractMessage"]; fixed64 fixx = 32; string jsontag = 33 [(gogoproto.jsontag) = "@tag"];
        repeated string decimals = 34 [(gogoproto.customtype) = "cosmossdk.io/math.LegacyDec", (gogoproto.nullable) = false];
      }
      message Tree { Tree child = 1; string name = 2; }
      message Endless { Endless again = 1 [(gogoproto.nullable) = false]; }
      message Swelling { repeated All all = 1; }`,
    'old.proto': `syntax = "proto2"; package old; enum Closed { A = 0; B = 1; }
      message Old { optional int32 small = 1; optional Closed one = 2; repeated Closed many = 3; optional string text = 4; optional group G = 5 { optional int32 x = 1; } }
      message Plain { optional int32 small = 1; optional Closed one = 2; repeated Closed many = 3; optional string text = 4; }`,
  }),
);

const typeOf = (name: string) => registry.getMessage(name)!;
const all = typeOf('chain.All');

function json(form: JsonForm, bytes: Uint8Array, name = 'chain.All'): unknown {
  return JSON.parse(text(form, bytes, name));
}

function text(form: JsonForm, bytes: Uint8Array, name = 'chain.All'): string {
  return createJsonWriters({ registry, form }).findWriter(typeOf(name))(bytes).toString('utf8');
}

function refusal(work: () => unknown): TwinlineError {
  try {
    work();
  } catch (error) {
    assert.is((error as Error).name, 'TwinlineError', String(error));
    return error as TwinlineError;
  }
  throw new Error('nothing was thrown');
}

const write = (): BinaryWriter => new BinaryWriter();
const NOTHING = new Uint8Array();
const COIN = { denom: '', amount: '0' };

test('Cosmos: with nothing set every field is printed, but for the members of a oneof', () => {
  assert.equal(json('cosmos', NOTHING), {
    ...{ some_text: '', small: 0, big: '0', huge: '0', flag: false, raw: null, color: 'NONE', real: 0, single: 0 },
    ...{ texts: [], counts: {}, inner: null, full: { some_name: '', coin: COIN, maybe_coin: null }, time: null },
    ...{
      go_time: '0001-01-01T00:00:00Z',
      span: '0s',
      any: null,
      decimal: '0',
      maybe_decimal: null,
      maybe: null,
      colors: [],
    },
    ...{ inners: [], mask: null, boxed: null, json: null, numbers: [], by_number: {}, by_flag: {}, contract: null },
    ...{ fixx: '0', jsontag: '', decimals: [] },
  });
});

test('proto3: with nothing set nothing is printed', () => {
  assert.is(text('proto3', NOTHING), '{}');
});

const inner = write().tag(1, 2).string('n').finish();

type Case = readonly [rule: string, bytes: Uint8Array, cosmos: object, proto3: object];
const CASES: readonly Case[] = [
  ['names', write().tag(1, 2).string('x').finish(), { some_text: 'x' }, { someText: 'x' }],
  [
    'a JSON name of its own',
    write()
      .tag(6, 2)
      .bytes(Buffer.from([255]))
      .finish(),
    { raw: '/w==' },
    { rawBytes: '/w==' },
  ],
  ['the tag for Go does not count', write().tag(33, 2).string('x').finish(), { jsontag: 'x' }, { jsontag: 'x' }],
  [
    '64 bits are texts',
    write()
      .tag(3, 0)
      .int64(-(2n ** 63n))
      .tag(4, 0)
      .uint64(2n ** 64n - 1n)
      .finish(),
    { big: '-9223372036854775808', huge: '18446744073709551615' },
    { big: '-9223372036854775808', huge: '18446744073709551615' },
  ],
  ['32 bits are numbers', write().tag(2, 0).int32(-5).finish(), { small: -5 }, { small: -5 }],
  ['bytes that are set but empty', write().tag(6, 2).bytes(NOTHING).finish(), { raw: '' }, {}],
  ['an enum by name', write().tag(7, 0).int32(1).finish(), { color: 'RED' }, { color: 'RED' }],
  ['an unknown number of an enum', write().tag(7, 0).int32(9).finish(), { color: 9 }, { color: 9 }],
  ['a default that is on the wire', write().tag(2, 0).int32(0).tag(1, 2).string('').finish(), {}, {}],
  ['an optional field that is zero', write().tag(22, 0).int32(0).finish(), { maybe: 0 }, { maybe: 0 }],
  ['a member of a oneof that is empty', write().tag(20, 2).string('').finish(), { left: '' }, { left: '' }],
  [
    'NaN and infinity',
    write().tag(8, 1).double(Number.NaN).tag(9, 5).float(-Infinity).finish(),
    { real: 'NaN', single: '-Infinity' },
    { real: 'NaN', single: '-Infinity' },
  ],
  ['a 32-bit float by its shortest digits', write().tag(9, 5).float(0.1).finish(), { single: 0.1 }, { single: 0.1 }],
  [
    'the largest 32-bit float',
    write().tag(9, 5).float(3.4028234663852886e38).finish(),
    { single: 3.4028235e38 },
    { single: 3.4028235e38 },
  ],
  [
    'a message inside',
    write().tag(12, 2).bytes(inner).finish(),
    { inner: { some_name: 'n', coin: COIN, maybe_coin: null } },
    { inner: { someName: 'n' } },
  ],
  [
    'an empty message inside',
    write().tag(12, 2).bytes(NOTHING).finish(),
    { inner: { some_name: '', coin: COIN, maybe_coin: null } },
    { inner: {} },
  ],
  [
    'a time of 3, 6 or 9 digits',
    write().tag(14, 2).bytes(write().tag(1, 0).int64(1_700_000_000).tag(2, 0).int32(120_000).finish()).finish(),
    { time: '2023-11-14T22:13:20.000120Z' },
    { time: '2023-11-14T22:13:20.000120Z' },
  ],
  [
    'negative seconds',
    write().tag(14, 2).bytes(write().tag(1, 0).int64(-1).tag(2, 0).int32(5).finish()).finish(),
    { time: '1969-12-31T23:59:59.000000005Z' },
    { time: '1969-12-31T23:59:59.000000005Z' },
  ],
  [
    'a duration',
    write().tag(16, 2).bytes(write().tag(1, 0).int64(1).tag(2, 0).int32(500_000_000).finish()).finish(),
    { span: '1.500s' },
    { span: '1.500s' },
  ],
  [
    'a duration of less than nothing',
    write().tag(16, 2).bytes(write().tag(2, 0).int32(-5_000_000).finish()).finish(),
    { span: '-0.005s' },
    { span: '-0.005s' },
  ],
  [
    'decimals',
    write().tag(18, 2).string('1500000000000000000').tag(19, 2).string('-5').finish(),
    { decimal: '1.500000000000000000', maybe_decimal: '-0.000000000000000005' },
    { decimal: '1500000000000000000', maybeDecimal: '-5' },
  ],
  ['a decimal of zero', write().tag(18, 2).string('0').finish(), { decimal: '0.000000000000000000' }, { decimal: '0' }],
  [
    'a list of decimals',
    write()
      .tag(34, 2)
      .string('10')
      .tag(34, 2)
      .string(`1${'0'.repeat(20)}`)
      .finish(),
    { decimals: ['0.000000000000000010', '100.000000000000000000'] },
    { decimals: ['10', `1${'0'.repeat(20)}`] },
  ],
  [
    'JSON of a contract',
    write().tag(31, 2).string('{"a": [1.50]}').finish(),
    { contract: { a: [1.5] } },
    { contract: Buffer.from('{"a": [1.50]}').toString('base64') },
  ],
  [
    'packed numbers',
    write().tag(28, 2).fork().int32(1).int32(-1).join().finish(),
    { numbers: [1, -1] },
    { numbers: [1, -1] },
  ],
  [
    'numbers that are not packed',
    write().tag(28, 0).int32(1).tag(28, 0).int32(2).finish(),
    { numbers: [1, 2] },
    { numbers: [1, 2] },
  ],
  [
    'both kinds in one list',
    write().tag(28, 0).int32(1).tag(28, 2).fork().int32(2).join().tag(28, 0).int32(3).finish(),
    { numbers: [1, 2, 3] },
    { numbers: [1, 2, 3] },
  ],
  ['a packed list without numbers', write().tag(28, 2).bytes(NOTHING).finish(), { numbers: [] }, {}],
  [
    'a mask',
    write().tag(25, 2).bytes(write().tag(1, 2).string('a_b').tag(1, 2).string('c').finish()).finish(),
    { mask: { paths: ['a_b', 'c'] } },
    { mask: 'aB,c' },
  ],
  ['a wrapper', write().tag(26, 2).bytes(NOTHING).finish(), { boxed: '0' }, { boxed: '0' }],
  [
    'any JSON',
    write()
      .tag(27, 2)
      .bytes(
        write()
          .tag(1, 2)
          .fork()
          .tag(1, 2)
          .string('k')
          .tag(2, 2)
          .bytes(write().tag(1, 0).int32(0).finish())
          .join()
          .finish(),
      )
      .finish(),
    { json: { k: null } },
    { json: { k: null } },
  ],
  [
    'fields out of order',
    write().tag(2, 0).int32(7).tag(1, 2).string('x').finish(),
    { small: 7, some_text: 'x' },
    { small: 7, someText: 'x' },
  ],
  [
    'of a field that comes twice, the last',
    write().tag(2, 0).int32(7).tag(2, 0).int32(8).finish(),
    { small: 8 },
    { small: 8 },
  ],
  [
    'a message that comes twice is merged',
    write().tag(12, 2).bytes(inner).tag(12, 2).bytes(write().tag(3, 2).bytes(NOTHING).finish()).finish(),
    { inner: { some_name: 'n', coin: COIN, maybe_coin: COIN } },
    { inner: { someName: 'n', maybeCoin: {} } },
  ],
  [
    'of two members of a oneof, the last',
    write().tag(20, 2).string('x').tag(21, 2).bytes(NOTHING).finish(),
    { right: { some_name: '', coin: COIN, maybe_coin: null } },
    { right: {} },
  ],
  [
    'a list in two places',
    write().tag(10, 2).string('a').tag(2, 0).int32(1).tag(10, 2).string('b').finish(),
    { texts: ['a', 'b'], small: 1 },
    { texts: ['a', 'b'], small: 1 },
  ],
  [
    'unknown fields and groups are passed over',
    write()
      .tag(900, 3)
      .tag(1, 0)
      .int32(1)
      .tag(2, 3)
      .tag(2, 4)
      .tag(900, 4)
      .tag(901, 2)
      .string('x')
      .tag(902, 1)
      .fixed64(1n)
      .tag(903, 5)
      .fixed32(1)
      .tag(1, 2)
      .string('x')
      .finish(),
    { some_text: 'x' },
    { someText: 'x' },
  ],
  [
    'a known number with another wire type is an unknown field',
    write().tag(1, 0).int32(5).tag(2, 5).fixed32(5).finish(),
    {},
    {},
  ],
];

for (const [rule, bytes, cosmos, proto3] of CASES)
  test(`${rule}`, () => {
    assert.equal(json('cosmos', bytes), { ...(json('cosmos', NOTHING) as object), ...cosmos });
    assert.equal(json('proto3', bytes), proto3);
  });

test('maps: keys of every kind, the last of two, an entry without key or value, sorted as texts', () => {
  const entry = (bytes: BinaryWriter) => bytes.finish();
  const bytes = write()
    .tag(11, 2)
    .bytes(entry(write().tag(1, 2).string('b').tag(2, 0).int64(1)))
    .tag(11, 2)
    .bytes(entry(write().tag(2, 0).int64(2).tag(1, 2).string('a')))
    .tag(11, 2)
    .bytes(entry(write().tag(1, 2).string('b').tag(2, 0).int64(3)))
    .tag(11, 2)
    .bytes(NOTHING)
    .tag(29, 2)
    .bytes(entry(write().tag(1, 0).int32(10)))
    .tag(29, 2)
    .bytes(entry(write().tag(1, 0).int32(-9).tag(2, 2).bytes(inner)))
    .tag(30, 2)
    .bytes(entry(write().tag(1, 0).bool(true).tag(2, 2).string('yes')))
    .finish();
  assert.is(
    text('proto3', bytes),
    '{"counts":{"":"0","a":"2","b":"3"},"byNumber":{"-9":{"someName":"n"},"10":{}},"byFlag":{"true":"yes"}}',
  );
});

test('texts: quotes, backslashes and control characters are escaped, all else stands for itself', () => {
  const all = `${Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('')}\u2028😀<&>`;
  assert.equal(json('proto3', write().tag(1, 2).string(all).finish()), { someText: all });
});

const BAD_UTF8 = write()
  .tag(1, 2)
  .bytes(Buffer.from([0x41, 0x0a, 0xff, 0x22, 0x42, 0xe2, 0x82]))
  .finish();

test('text that is not UTF-8: refused in the proto3 form, repaired in the Cosmos form as Go does', () => {
  assert.is(refusal(() => text('proto3', BAD_UTF8)).reason, 'unreadable');
  assert.is((json('cosmos', BAD_UTF8) as { some_text: string }).some_text, 'A\n\ufffd"B\ufffd');
});

const anyOf = (url: string, value: Uint8Array) =>
  write().tag(17, 2).bytes(write().tag(1, 2).string(url).tag(2, 2).bytes(value).finish()).finish();

test('Any: the fields of what it holds beside its type; a well-known type as value', () => {
  const coin = write().tag(1, 2).string('uixo').finish();
  assert.equal(json('proto3', anyOf('/chain.Coin', coin)), { any: { '@type': '/chain.Coin', denom: 'uixo' } });
  assert.equal((json('cosmos', anyOf('/chain.Coin', coin)) as { any: object }).any, {
    '@type': '/chain.Coin',
    denom: 'uixo',
    amount: '0',
  });
  const url = 'type.googleapis.com/google.protobuf.Duration';
  assert.equal(json('proto3', anyOf(url, NOTHING)), { any: { '@type': url, value: '0s' } });
  assert.equal(json('proto3', anyOf('', NOTHING)), { any: {} });
});

test('Any: Empty is a well-known type for Go only', () => {
  const url = '/google.protobuf.Empty';
  assert.equal((json('cosmos', anyOf(url, NOTHING)) as { any: object }).any, { '@type': url, value: {} });
  assert.equal(json('proto3', anyOf(url, NOTHING)), { any: { '@type': url } });
});

test('Any: fields out of order inside it, and Any inside Any', () => {
  const coin = write().tag(2, 2).string('5').tag(1, 2).string('uixo').finish();
  const nested = write().tag(2, 2).bytes(coin).tag(1, 2).string('/chain.Coin').finish();
  assert.equal(json('proto3', anyOf('/google.protobuf.Any', nested)), {
    any: { '@type': '/google.protobuf.Any', value: { '@type': '/chain.Coin', denom: 'uixo', amount: '5' } },
  });
});

test('an Any that had to be put in order leaves the order of what follows under watch', () => {
  const coin = write().tag(2, 2).string('5').tag(1, 2).string('uixo').finish();
  const bytes = Buffer.concat([
    anyOf('/chain.Coin', coin),
    write().tag(20, 2).string('x').tag(21, 2).bytes(inner).finish(),
  ]);
  const any = { '@type': '/chain.Coin', denom: 'uixo', amount: '5' };
  assert.equal(json('proto3', bytes), { any, right: { someName: 'n' } });
});

test('Any: what is broken inside is refused, unless a later one takes its place', () => {
  const broken = anyOf('/chain.Coin', Buffer.from('0a05', 'hex'));
  assert.is(refusal(() => text('proto3', broken)).reason, 'no-json');
  assert.equal(json('proto3', Buffer.concat([broken, anyOf('/chain.Coin', inner)])), {
    any: { '@type': '/chain.Coin', denom: 'n' },
  });
});

test('100 messages by way of Any are as deep as others', () => {
  let bytes: Uint8Array = NOTHING;
  for (let left = 300; left > 0; left--)
    bytes = write().tag(1, 2).string('/google.protobuf.Any').tag(2, 2).bytes(bytes).finish();
  assert.is(refusal(() => text('proto3', anyOf('/google.protobuf.Any', bytes))).code, 'ERR_SERVICE');
});

test('fields out of order in messages inside each other by way of Any cost no more than a bound', () => {
  let bytes: Uint8Array = inner;
  for (let left = 80; left > 0; left--)
    bytes = Buffer.concat([anyOf('/chain.All', bytes), write().tag(1, 2).string('late').finish()]);
  const ms = cpuMs(() => assert.is(refusal(() => text('cosmos', bytes)).reason, 'unreadable'));
  assert.ok(ms < 2_000, `${ms} ms`);
});

test('no name stands twice in an object, in whatever order the fields come', () => {
  const bytes = write().tag(28, 0).int32(1).tag(2, 0).int32(7).tag(1, 2).string('t').finish();
  for (const form of ['cosmos', 'proto3'] as const) {
    const names = text(form, bytes)
      .match(/"\w+":/g)!
      .filter((name) => !/denom|amount|some_name|coin/.test(name));
    assert.equal(names, [...new Set(names)]);
  }
});

test('in the proto3 form fields may come in any order without being put in order', () => {
  const bytes = write().tag(28, 0).int32(1).tag(20, 2).string('x').tag(2, 0).int32(7).tag(1, 2).string('t').finish();
  assert.is(text('proto3', bytes), '{"numbers":[1],"left":"x","small":7,"someText":"t"}');
});

test('Any of a type that nobody declares is told by its bytes, in both forms, wherever it stands', () => {
  const unknown = { '@type': '/chain.Nobody', value: 'AP8=' };
  const bytes = anyOf('/chain.Nobody', Buffer.from([0, 255]));
  const inside = (any: Uint8Array, url: string) =>
    anyOf(url, write().tag(1, 2).string('/chain.Nobody').tag(2, 2).bytes(any).finish());
  for (const form of ['cosmos', 'proto3'] as const) {
    assert.equal((json(form, bytes) as { any: object }).any, unknown);
    assert.equal((json(form, anyOf('/chain.Nobody', NOTHING)) as { any: object }).any, { ...unknown, value: '' });
    for (const url of ['type.googleapis.com/chain.Nobody', 'a/b/chain.Nobody', 'chain.Nobody', '/', '/é"\\'])
      assert.equal((json(form, anyOf(url, Buffer.from([0, 255]))) as { any: object }).any, {
        ...unknown,
        '@type': url,
      });
    const nested = inside(Buffer.from([0, 255]), '/google.protobuf.Any');
    const around = { '@type': '/google.protobuf.Any', value: unknown };
    assert.equal((json(form, nested) as { any: object }).any, around);
  }
});

test('the names of types that nobody declares are told, each time one is met', () => {
  const met: string[] = [];
  const add = (name: string) => met.push(name);
  const writer = createJsonWriters({ registry, form: 'cosmos' }).findWriter(all);
  for (const url of ['type.googleapis.com/chain.Nobody', '/chain.Coin'])
    writer(anyOf(url, NOTHING), { unknown: { add } });
  assert.equal(met, ['chain.Nobody']);
});

test('Any of a type that cannot be written is told by its bytes, and the rest of the message is there', () => {
  const group = compileProtos({
    'g.proto': 'syntax = "proto2"; package g; message M { optional group Old = 1 { optional string x = 1; } }',
    'a.proto': `syntax = "proto3"; package a; import "g.proto"; import "google/protobuf/any.proto";
      message A { google.protobuf.Any any = 1; string after = 2; }`,
  });
  const { registry } = readDescriptorSet(group);
  const bytes = write()
    .tag(1, 2)
    .bytes(
      write()
        .tag(1, 2)
        .string('/g.M')
        .tag(2, 2)
        .bytes(Buffer.from([11, 12]))
        .finish(),
    );
  const whole = bytes.tag(2, 2).string('x').finish();
  for (const form of ['cosmos', 'proto3'] as const) {
    const { findWriter } = createJsonWriters({ registry, form });
    for (const _ of [1, 2])
      assert.equal(JSON.parse(findWriter(registry.getMessage('a.A')!)(whole).toString()), {
        any: { '@type': '/g.M', value: 'Cww=' },
        after: 'x',
      });
  }
});

const UNREADABLE: readonly (readonly [string, Uint8Array])[] = [
  ['a text that goes on after the end', Buffer.from('0a05', 'hex')],
  ['a length beyond the message around it', Buffer.from('62030a0541', 'hex')],
  ['a number cut short', Buffer.from('1080', 'hex')],
  ['a number of eleven bytes', Buffer.from('10ffffffffffffffffffff01', 'hex')],
  ['a fixed number cut short', Buffer.from('41000000', 'hex')],
  ['field 0', Buffer.from('0001', 'hex')],
  ['wire type 7', Buffer.from('0f', 'hex')],
  ['a group that does not end', Buffer.from('a338', 'hex')],
  ['a group that ends as another', Buffer.from('a338ac38', 'hex')],
  ['the end of a group that has not begun', Buffer.from('a438', 'hex')],
  ['a packed list cut within a number', Buffer.from('e201020180', 'hex')],
  ['a packed list whose last number goes on after it', Buffer.from('e20102018001', 'hex')],
];

for (const [what, bytes] of UNREADABLE)
  test(`unreadable: ${what}`, () => {
    for (const form of ['cosmos', 'proto3'] as const) {
      const error = refusal(() => text(form, bytes));
      assert.is(error.code, 'ERR_SERVICE');
      assert.is(error.reason, 'unreadable');
    }
  });

const NO_JSON: readonly (readonly [string, Uint8Array])[] = [
  ['a time after the year 9999', write().tag(14, 2).bytes(write().tag(1, 0).int64(253_402_300_800).finish()).finish()],
  ['negative nanoseconds', write().tag(14, 2).bytes(write().tag(2, 0).int32(-1).finish()).finish()],
  [
    'a duration whose parts differ in sign',
    write().tag(16, 2).bytes(write().tag(1, 0).int64(1).tag(2, 0).int32(-1).finish()).finish(),
  ],
];

for (const [what, bytes] of NO_JSON)
  test(`no JSON: ${what}`, () => {
    assert.is(refusal(() => text('proto3', bytes)).reason, 'no-json');
  });

test('no JSON in the Cosmos form: a decimal that is none, a contract that is none', () => {
  assert.is(refusal(() => text('cosmos', write().tag(18, 2).string('1.5').finish())).reason, 'no-json');
  assert.is(refusal(() => text('cosmos', write().tag(31, 2).string('{').finish())).reason, 'no-json');
});

test('100 messages inside each other are read, 101 are not', () => {
  const tree = (levels: number): Uint8Array => {
    let bytes = write().tag(2, 2).string('leaf').finish();
    for (let left = levels; left > 1; left--) bytes = write().tag(1, 2).bytes(bytes).finish();
    return bytes;
  };
  assert.match(text('proto3', tree(100), 'chain.Tree'), /"leaf"/);
  assert.match(refusal(() => text('proto3', tree(101), 'chain.Tree')).message, /deeper than 100/);
  assert.match(refusal(() => text('proto3', tree(5_000), 'chain.Tree')).message, /deeper than 100/);
});

test('JSON beyond the limit is refused while it is written, however few bytes it comes from', () => {
  const bytes = Buffer.concat(Array.from({ length: 100_000 }, () => Buffer.from([0x0a, 0x00])));
  const writer = createJsonWriters({ registry, form: 'cosmos', maxBytes: 1_000_000 }).findWriter(
    typeOf('chain.Swelling'),
  );
  const error = refusal(() => writer(bytes));
  assert.is(error.reason, 'too-large');
  assert.is(JSON.parse(writer(bytes.subarray(0, 200)).toString('utf8')).all.length, 100);
});

test('a reply that takes more than it may is given up, and written the same when it may take more', () => {
  const writer = createJsonWriters({ registry, form: 'cosmos' }).findWriter(typeOf('chain.Swelling'));
  const bytes = Buffer.concat(Array.from({ length: 20_000 }, () => Buffer.from([0x0a, 0x00])));
  const json = writer(bytes);
  const most = (jsonBytes: number, orderBytes = 100) => ({ most: { jsonBytes, orderBytes } });
  assert.ok(writer(bytes, most(json.length)).equals(json));
  assert.is(refusal(() => writer(bytes, most(json.length - 1))).reason, 'too-large');
  assert.is(refusal(() => writer(bytes, most(100))).reason, 'too-large');
  assert.ok(writer(bytes).equals(json));
  const tree = createJsonWriters({ registry, form: 'cosmos' }).findWriter(typeOf('chain.Tree'));
  const odd = write().tag(2, 2).string('a'.repeat(100)).tag(1, 2).bytes(NOTHING).tag(2, 2).string('b').finish();
  assert.is(refusal(() => tree(odd, most(1_000))).reason, 'too-large');
  assert.ok(tree(odd, most(1_000, 1_000)).equals(tree(odd)));
});

test('a default without end is refused when the writer is made', () => {
  assert.is(refusal(() => text('cosmos', NOTHING, 'chain.Endless')).code, 'ERR_CONFIG');
  assert.is(text('proto3', NOTHING, 'chain.Endless'), '{}');
});

test('response_body: the field alone, also when it is not set', () => {
  const only = (form: JsonForm, field: string, bytes: Uint8Array) =>
    createJsonWriters({ registry, form }).findWriter(all, field)(bytes).toString('utf8');
  const bytes = write().tag(10, 2).string('a').tag(2, 0).int32(7).tag(10, 2).string('b').finish();
  assert.is(only('proto3', 'texts', bytes), '["a","b"]');
  assert.is(only('proto3', 'small', bytes), '7');
  assert.is(only('proto3', 'inner', bytes), 'null');
  assert.is(only('proto3', 'counts', bytes), '{}');
  assert.is(only('cosmos', 'full', bytes), '{"some_name":"","coin":{"denom":"","amount":"0"},"maybe_coin":null}');
  assert.is(refusal(() => only('cosmos', 'nope', bytes)).code, 'ERR_CONFIG');
});

test('groups are refused by name, and the other types of the file are not', () => {
  assert.match(refusal(() => text('proto3', NOTHING, 'old.Old')).message, /old\.Old.* is a group/);
  assert.is(text('proto3', NOTHING, 'old.Plain'), '{}');
});

test('proto2: presence of every field, closed enums drop what they do not know, in lists too', () => {
  const bytes = write()
    .tag(1, 0)
    .int32(0)
    .tag(2, 0)
    .int32(9)
    .tag(3, 0)
    .int32(1)
    .tag(3, 0)
    .int32(9)
    .tag(3, 2)
    .fork()
    .int32(0)
    .int32(7)
    .join()
    .finish();
  assert.equal(json('proto3', bytes, 'old.Plain'), { small: 0, many: ['B', 'A'] });
});

test('one writer may be used again after it refused, and its replies do not share bytes', () => {
  const writer = createJsonWriters({ registry, form: 'proto3' }).findWriter(all);
  const first = writer(write().tag(1, 2).string('first').finish());
  refusal(() => writer(Buffer.from('0a05', 'hex')));
  writer(write().tag(1, 2).string('other').finish());
  assert.is(first.toString('utf8'), '{"someText":"first"}');
});

test('what the library encodes is read', () => {
  const message = create(all, { someText: 'x', numbers: [1, 2], maybe: 0 } as never);
  assert.equal(json('proto3', toBinary(all, message)), { someText: 'x', numbers: [1, 2], maybe: 0 });
  assert.equal(fromBinary(all, toBinary(all, message)), message);
});

test.run();
