// Replies as JSON: the rules of the Cosmos form that descriptors carry as options, types that nobody declares, odd bytes, limits.
// What both forms make of ordinary messages is held against an oracle: `json-differential`, `json-text` and `conformance`.

import { fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { TwinlineError } from '../../lib/errors.ts';
import { createJsonWriters, type JsonForm, readDescriptorSet } from '../../lib/gateway/index.ts';
import { compileProtos } from '../support/protoc.ts';

const test = suite('gateway JSON');

const { registry } = readDescriptorSet(
  compileProtos({
    'chain.proto': `
      syntax = "proto3"; package chain;
      import "gogoproto/gogo.proto"; import "google/protobuf/any.proto"; import "google/protobuf/duration.proto";
      import "google/protobuf/timestamp.proto";
      message Coin { string denom = 1; string amount = 2 [(gogoproto.customtype) = "cosmossdk.io/math.Int", (gogoproto.nullable) = false]; }
      message Inner { string some_name = 1; Coin coin = 2 [(gogoproto.nullable) = false]; Coin maybe_coin = 3; }
      message All {
        string some_text = 1; int32 small = 2; bytes raw = 6 [json_name = "rawBytes"];
        repeated string texts = 10; map<string, int64> counts = 11; Inner inner = 12; Inner full = 13 [(gogoproto.nullable) = false];
        google.protobuf.Timestamp go_time = 15 [(gogoproto.stdtime) = true, (gogoproto.nullable) = false];
        google.protobuf.Duration span = 16 [(gogoproto.nullable) = false]; google.protobuf.Any any = 17;
        string decimal = 18 [(gogoproto.customtype) = "cosmossdk.io/math.LegacyDec", (gogoproto.nullable) = false];
        string maybe_decimal = 19 [(gogoproto.customtype) = "github.com/cosmos/cosmos-sdk/types.Dec"];
        oneof choice { string left = 20; Inner right = 21; }
        repeated int32 numbers = 28; map<int32, Inner> by_number = 29; map<bool, string> by_flag = 30;
        bytes contract = 31 [(gogoproto.casttype) = "RawContractMessage"]; string jsontag = 33 [(gogoproto.jsontag) = "@tag"];
        repeated string decimals = 34 [(gogoproto.customtype) = "cosmossdk.io/math.LegacyDec", (gogoproto.nullable) = false];
      }
      message Tree { Tree child = 1; string name = 2; }
      message Endless { Endless again = 1 [(gogoproto.nullable) = false]; }
      message Swelling { repeated All all = 1; }`,
    'old.proto': `syntax = "proto2"; package old; enum Closed { A = 0; B = 1; }
      message Old { optional group G = 5 { optional int32 x = 1; } }
      message Plain { optional int32 small = 1; optional Closed one = 2; repeated Closed many = 3; }`,
  }),
);

const typeOf = (name: string) => registry.getMessage(name)!;
const all = typeOf('chain.All');

function text(form: JsonForm, bytes: Uint8Array, name = 'chain.All'): string {
  return createJsonWriters({ registry, form }).findWriter(typeOf(name))(bytes).toString('utf8');
}

const json = (form: JsonForm, bytes: Uint8Array, name?: string) =>
  JSON.parse(text(form, bytes, name)) as Record<string, JsonValue>;

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
/** The bytes of an All, from its JSON. */
const encode = (message: JsonValue): Uint8Array => toBinary(all, fromJson(all, message, { registry }));
const NOTHING = new Uint8Array();
const COIN = { denom: '', amount: '0' };
/** A Cosmos reply with nothing set. */
const EMPTY = {
  ...{ some_text: '', small: 0, raw: null, texts: [], counts: {}, inner: null, any: null },
  full: { some_name: '', coin: COIN, maybe_coin: null },
  ...{ go_time: '0001-01-01T00:00:00Z', span: '0s', decimal: '0', maybe_decimal: null, decimals: [] },
  ...{ numbers: [], by_number: {}, by_flag: {}, contract: null, jsontag: '' },
};

const CASES: readonly (readonly [rule: string, bytes: Uint8Array, cosmos: object, proto3: object])[] = [
  ['nothing set: zeros of Go, but for the members of a oneof', NOTHING, {}, {}],
  ['a JSON name of its own is for proto3 only', encode({ rawBytes: '/w==' }), { raw: '/w==' }, { rawBytes: '/w==' }],
  ['the tag for Go does not count', encode({ jsontag: 'x' }), { jsontag: 'x' }, { jsontag: 'x' }],
  ['bytes that are set but empty', write().tag(6, 2).bytes(NOTHING).finish(), { raw: '' }, {}],
  [
    'a message inside, of which a part may not be null',
    encode({ inner: { someName: 'n' } }),
    { inner: { some_name: 'n', coin: COIN, maybe_coin: null } },
    { inner: { someName: 'n' } },
  ],
  [
    'decimals have 18 places',
    encode({ decimal: '1500000000000000000', maybeDecimal: '-5' }),
    { decimal: '1.500000000000000000', maybe_decimal: '-0.000000000000000005' },
    { decimal: '1500000000000000000', maybeDecimal: '-5' },
  ],
  ['a decimal of zero', encode({ decimal: '0' }), { decimal: '0.000000000000000000' }, { decimal: '0' }],
  [
    'a list of decimals',
    encode({ decimals: ['10', `1${'0'.repeat(20)}`] }),
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
    'a known number with another wire type is an unknown field',
    write().tag(1, 0).int32(5).tag(2, 5).fixed32(5).finish(),
    {},
    {},
  ],
];

for (const [rule, bytes, cosmos, proto3] of CASES)
  test(rule, () => {
    assert.equal(json('cosmos', bytes), { ...EMPTY, ...cosmos });
    assert.equal(json('proto3', bytes), proto3);
  });

test('entries of maps are sorted as texts', () => {
  const counts = { b: '3', a: '2', '': '0' };
  const bytes = encode({ counts, byNumber: { 10: {}, '-9': { someName: 'n' } }, byFlag: { true: 'yes' } });
  assert.is(
    text('proto3', bytes),
    '{"counts":{"":"0","a":"2","b":"3"},"byNumber":{"-9":{"someName":"n"},"10":{}},"byFlag":{"true":"yes"}}',
  );
});

const anyOf = (url: string, value: Uint8Array) =>
  write().tag(17, 2).bytes(write().tag(1, 2).string(url).tag(2, 2).bytes(value).finish()).finish();

test('Any: what is broken inside is refused, unless a later one takes its place', () => {
  const broken = anyOf('/chain.Coin', Buffer.from('0a05', 'hex'));
  assert.is(refusal(() => text('proto3', broken)).reason, 'no-json');
  const later = anyOf('/chain.Coin', write().tag(1, 2).string('n').finish());
  assert.equal(json('proto3', Buffer.concat([broken, later])), { any: { '@type': '/chain.Coin', denom: 'n' } });
});

test('100 messages by way of Any are as deep as others', () => {
  let bytes: Uint8Array = NOTHING;
  for (let left = 300; left > 0; left--)
    bytes = write().tag(1, 2).string('/google.protobuf.Any').tag(2, 2).bytes(bytes).finish();
  assert.is(refusal(() => text('proto3', anyOf('/google.protobuf.Any', bytes))).code, 'ERR_SERVICE');
});

test('fields out of order in messages inside each other by way of Any are given up before they cost much', () => {
  let bytes: Uint8Array = write().tag(1, 2).string('n').finish();
  for (let left = 80; left > 0; left--)
    bytes = Buffer.concat([anyOf('/chain.All', bytes), write().tag(1, 2).string('late').finish()]);
  assert.is(refusal(() => text('cosmos', bytes)).reason, 'unreadable');
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

test('Any of a type that nobody declares is told by its bytes, in both forms, wherever it stands', () => {
  const value = Buffer.from([0, 255]);
  const nested = write().tag(1, 2).string('/chain.Nobody').tag(2, 2).bytes(value).finish();
  for (const form of ['cosmos', 'proto3'] as const) {
    assert.equal(json(form, anyOf('/chain.Nobody', NOTHING)).any, { '@type': '/chain.Nobody', value: '' });
    for (const url of ['/chain.Nobody', 'type.googleapis.com/chain.Nobody', 'chain.Nobody', '/', '/é"\\'])
      assert.equal(json(form, anyOf(url, value)).any, { '@type': url, value: 'AP8=' });
    const around = { '@type': '/google.protobuf.Any', value: { '@type': '/chain.Nobody', value: 'AP8=' } };
    assert.equal(json(form, anyOf('/google.protobuf.Any', nested)).any, around);
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

test.run();
