// Strict reading of DAG-CBOR, compared with the library: it reads what the library would write again as it was, and no more.

import { CBOR } from '@ucanto/core';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readCanonical } from '../../lib/delegation/token/cbor.ts';
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
const changedLink = (at: number): string => {
  const bytes = Buffer.from(LINK, 'hex');
  bytes[4 + at]! ^= 0x10;
  return bytes.toString('hex');
};

const REFUSED: readonly (readonly [name: string, hex: string])[] = [
  ['nothing', ''],
  ['two values', '0000'],
  ['a number in two bytes that fits into one', '1817'],
  ['a number in three bytes that fits into two', '1900ff'],
  ['a number in five bytes that fits into three', '1a0000ffff'],
  ['a number in nine bytes that fits into five', '1b00000000ffffffff'],
  ['a number above 2^53 - 1', '1b0020000000000000'],
  ['a length longer than needed', '580161'],
  ['a list without length', '9f00ff'],
  ['a text without length', '7f6161ff'],
  ['a map without length', 'bf616100ff'],
  ['a break', 'ff'],
  ['a length of reserved kind', '1c'],
  ['keys in the wrong order', 'a2616200616100'],
  ['a longer key before a shorter', 'a262616100616200'],
  ['a key twice', 'a2616100616101'],
  ['a number as key', 'a10000'],
  ['text that is not UTF-8', '61ff'],
  ['text that begins with a byte-order mark', '64efbbbf61'],
  ['a key that begins with a byte-order mark', 'a164efbbbf6100'],
  ['text with half a surrogate', '63eda080'],
  ['the key /', 'a1612f00'],
  ['the key __proto__', `a169${Buffer.from('__proto__').toString('hex')}00`],
  ['undefined', 'f7'],
  ['a simple value', 'f820'],
  ['half a float', 'f93c01'],
  ['a float of four bytes', 'fa3fc00000'],
  ['a float that is a whole number', 'fb3ff0000000000000'],
  ['minus zero', 'fb8000000000000000'],
  ['infinity', 'fb7ff0000000000000'],
  ['not a number', 'fb7ff8000000000000'],
  ['a date', 'c11a514b67b0'],
  ['a link that is no bytes', 'd82a00'],
  ['a link without its zero', `d82a5824${'01711220'}${'00'.repeat(32)}`],
  ['a link by identity', 'd82a5825000171002000'],
  ['a link under another tag', `d82b${LINK.slice(4)}`],
  ['a link that is a text', `d82a7825${'61'.repeat(37)}`],
  ['a link to a link', `d82a${LINK}`],
  ['a link that is too short', `d82a5824${LINK.slice(8, -2)}`],
  ['a link that is too long', `d82a5826${LINK.slice(8)}00`],
  ...[0, 1, 2, 3, 4].map((at) => [`a link of another kind, in byte ${at}`, changedLink(at)] as const),
  ['a list that ends early', '8200'],
  ['a list that ends early in a list', '82818200'],
  ['a map that ends early', 'a2616100'],
  ['a map that ends behind a key', 'a16161'],
  ['a text that ends early', '6261'],
  ['a text without its bytes', '62'],
  ['a key that ends early', 'a16261'],
  ['a length that ends early', '19'],
  ...['1c', '1d', '1e', '1f'].map(
    (kind, at) =>
      [`a length of reserved kind ${kind}, long enough`, kind + '0000000100000000'.repeat(2 << at)] as const,
  ),
  ['a float that ends early', 'fb3ff8'],
  ['a number below -(2^53 - 1)', '3b001fffffffffffff'],
  ['more levels than 16', `${'81'.repeat(17)}00`],
  ['more maps in each other than 16', `${'a16161'.repeat(17)}00`],
  ['more values than 512', `990200${'00'.repeat(512)}`],
];
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
