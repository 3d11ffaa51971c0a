// Strict reading of DAG-CBOR, compared with the library: it reads what the library would write again as it was, and no more.

import { readFileSync } from 'node:fs';
import { CBOR } from '@ucanto/core';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readCanonical } from '../../lib/delegation/cbor.ts';
import { chooseSize } from '../support/size.ts';

// Without a byte-order mark, which the library loses.
const text = (maxLength: number) => fc.string({ unit: 'binary', maxLength }).filter((one) => !one.startsWith('\ufeff'));
const key = text(12).filter((one) => one !== '/' && one !== '__proto__');
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Number.isInteger(number)),
      text(20),
      fc.uint8Array({ maxLength: 300 }),
    ),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(key, tie('value'), { maxKeys: 6, noNullPrototype: true }),
  ),
}));

const test = suite('canonical DAG-CBOR');

test('it reads whatever the library writes, as the library does', () => {
  fc.assert(
    fc.property(value, (one) => {
      const bytes = CBOR.encode(one as never);
      assert.equal(plain(readCanonical(bytes)), CBOR.decode(bytes));
    }),
    { numRuns: chooseSize({ short: 500, day: 2_000, whole: 2_000 }) },
  );
});

test('whatever it reads from changed bytes, the library writes again as these bytes', () => {
  let read = 0;
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(value, changes, (one, places) => {
      const bytes = Uint8Array.from(CBOR.encode(one as never));
      for (const [at, byte] of places) bytes[at % bytes.length] = byte;
      const found = readCanonical(bytes);
      if (found === undefined) return;
      read++;
      assert.equal(Buffer.from(CBOR.encode(CBOR.decode(bytes) as never)), Buffer.from(bytes));
    }),
    { numRuns: chooseSize({ short: 1_500, day: 5_000, whole: 5_000 }) },
  );
  assert.ok(read > 50, `${read} were readable`);
});

const LINK = `d82a5825${'0001711220'}${'11'.repeat(32)}`;
const REFUSED = JSON.parse(
  readFileSync(new URL('../fixtures/delegation/refused-cbor.json', import.meta.url), 'utf8'),
) as readonly (readonly [name: string, hex: string])[];
for (const [name, hex] of REFUSED)
  test(`it refuses ${name}`, () => assert.is(readCanonical(Buffer.from(hex, 'hex')), undefined));

test('it reads as many levels and values as it says', () => {
  assert.is.not(readCanonical(Buffer.from(`${'81'.repeat(16)}00`, 'hex')), undefined);
  assert.is.not(readCanonical(Buffer.from(`${'a16161'.repeat(16)}00`, 'hex')), undefined);
  assert.is.not(readCanonical(Buffer.from(`82${'81'.repeat(15)}00${'81'.repeat(15)}00`, 'hex')), undefined);
  assert.is.not(readCanonical(Buffer.from(`82${'a16161'.repeat(15)}00${'a16161'.repeat(15)}00`, 'hex')), undefined);
  assert.is.not(readCanonical(Buffer.from(`9901ff${'00'.repeat(511)}`, 'hex')), undefined);
});

test('it reads numbers up to the greatest safe ones, and links to blocks and to raw bytes', () => {
  assert.is(readCanonical(Buffer.from('1b001fffffffffffff', 'hex')), Number.MAX_SAFE_INTEGER);
  assert.is(readCanonical(Buffer.from('3b001ffffffffffffe', 'hex')), Number.MIN_SAFE_INTEGER);
  for (const codec of ['71', '55']) {
    const bytes = Buffer.from(LINK.replace('0171', `01${codec}`), 'hex');
    const link = readCanonical(bytes) as { cid: Uint8Array };
    assert.is(Buffer.from(link.cid).toString('hex'), bytes.subarray(5).toString('hex'));
  }
});

test.run();

function plain(one: unknown): unknown {
  if (one instanceof Map) return Object.fromEntries([...one].map(([name, inner]) => [name, plain(inner)]));
  if (one instanceof Uint8Array) return Uint8Array.from(one);
  return Array.isArray(one) ? one.map(plain) : one;
}
