// Replies as JSON: the rules of the Cosmos form that descriptors carry as options, types that nobody declares, odd bytes, limits.
// What both forms make of ordinary messages is held against an oracle: `json-differential`, `json-text` and `conformance`.

import { fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createJsonWriters, type JsonForm, readDescriptorSet } from '../../lib/gateway/index.ts';
import cases from '../fixtures/gateway/json.json' with { type: 'json' };
import { compileKept } from '../support/protoc.ts';
import { refusal } from './refusal.ts';

const test = suite('gateway JSON');

const { registry } = readDescriptorSet(compileKept('chain/chain.proto', 'chain/old.proto'));

const typeOf = (name: string) => registry.getMessage(name)!;
const all = typeOf('chain.All');

function text(form: JsonForm, bytes: Uint8Array, name = 'chain.All'): string {
  return createJsonWriters({ registry, form }).findWriter(typeOf(name))(bytes).toString('utf8');
}

const json = (form: JsonForm, bytes: Uint8Array, name?: string) =>
  JSON.parse(text(form, bytes, name)) as Record<string, JsonValue>;

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

// A message as JSON or as bytes in hex → what it is in the Cosmos form, beside what is always there, and in that of proto3.
for (const [rule, message, cosmos, proto3] of cases.rules as [string, JsonValue, object, object][])
  test(rule, () => {
    const bytes = typeof message === 'string' ? Buffer.from(message, 'hex') : encode(message);
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
  const bytes = Buffer.concat([anyOf('/old.Old', Buffer.from([11, 12])), write().tag(1, 2).string('x').finish()]);
  for (const form of ['cosmos', 'proto3'] as const)
    for (const _ of [1, 2]) {
      const { any, ...rest } = json(form, bytes);
      assert.equal(any, { '@type': '/old.Old', value: 'Cww=' });
      assert.is(form === 'cosmos' ? rest.some_text : rest.someText, 'x');
    }
});

for (const [what, hex] of cases.unreadable as [string, string][])
  test(`unreadable: ${what}`, () => {
    for (const form of ['cosmos', 'proto3'] as const) {
      const error = refusal(() => text(form, Buffer.from(hex, 'hex')));
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
  const bytes = Buffer.from('08001009180118091a020007', 'hex');
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
