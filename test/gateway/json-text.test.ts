// Texts in replies, whatever their bytes and wherever they stand: copied four bytes at a time, they come out as if alone.

import { BinaryWriter } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createJsonWriters, readDescriptorSet } from '../../lib/gateway/index.ts';
import { compileProtos } from '../support/protoc.ts';

const test = suite('gateway JSON texts');

const PROTO = 'syntax = "proto3"; package words; message Words { string a_name_of_ten = 1; string b = 2; bool c = 3; }';
const { registry } = readDescriptorSet(compileProtos({ 'words.proto': PROTO }));
const type = registry.getMessage('words.Words')!;
const writer = (form: 'cosmos' | 'proto3', maxBytes?: number) =>
  createJsonWriters({ registry, form, ...(maxBytes !== undefined && { maxBytes }) }).findWriter(type);
const cosmos = writer('cosmos');
const strict = writer('proto3');

const message = (first: Uint8Array, second = new Uint8Array()) =>
  new BinaryWriter().tag(1, 2).bytes(first).tag(2, 2).bytes(second).finish();
const whole = (a: string, b: string) => `{"a_name_of_ten":${JSON.stringify(a)},"b":${JSON.stringify(b)},"c":false}`;

test('every ASCII character at every place of a text', () => {
  for (let code = 0; code < 0x80; code++)
    for (let at = 0; at < 13; at++) {
      const text = `${'~'.repeat(at)}${String.fromCharCode(code)}${' '.repeat(12 - at)}`;
      assert.is(
        cosmos(message(Buffer.from(text), Buffer.from(text))).toString(),
        whole(text, text),
        `${code} at ${at}`,
      );
    }
});

test('every lone byte beyond ASCII at every place is refused, or replaced as Go does', () => {
  for (let code = 0x80; code < 0x100; code++)
    for (let at = 0; at < 13; at++) {
      const bytes = Buffer.alloc(13, 'x');
      bytes[at] = code;
      assert.throws(() => strict(message(bytes)), /not UTF-8/);
      assert.is(cosmos(message(bytes)).toString(), whole(bytes.toString('utf8'), ''), `${code} at ${at}`);
    }
});

test('any texts, of any length', () => {
  const unit = fc.oneof(fc.string({ unit: 'grapheme-ascii' }), fc.string({ unit: 'binary', maxLength: 90 }));
  const long = unit.map((text) => text.repeat(1 + (text.length % 7)));
  const check = (a: string, b: string) =>
    assert.is(cosmos(message(Buffer.from(a), Buffer.from(b))).toString(), whole(a, b));
  fc.assert(fc.property(long, long, check), { numRuns: 2_000 });
});

test('JSON of exactly as many bytes as are allowed is given, and one byte more is refused', () => {
  for (let length = 0; length < 40; length++) {
    const text = 'x'.repeat(length);
    const expected = whole(text, text);
    const bytes = message(Buffer.from(text), Buffer.from(text));
    assert.is(writer('cosmos', expected.length)(bytes).toString(), expected);
    assert.throws(() => writer('cosmos', expected.length - 1)(bytes), /is longer than/);
  }
});

test.run();
