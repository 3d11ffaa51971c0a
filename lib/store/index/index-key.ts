// Index keys as bytes whose plain byte order is the order of the values, so that every backend sorts alike.

import type { IndexValue } from '../store.ts';

// The order of the types is MongoDB's; a boolean is its tag and one byte, as a number is its tag and eight.
const TAGS = { null: 1, number: 2, string: 3, boolean: 4 } as const;

/** Above every byte that can follow a complete value: the next tag, an id in UTF-8, or the end. */
const ABOVE = Buffer.from([0xff]);

/** Keys from `from` on and below `to`. */
export interface Interval {
  readonly from: Buffer;
  readonly to: Buffer;
}

/** The value, closed: no key of one value begins with the key of another one of its type. */
export function valueKey(value: IndexValue): Buffer {
  if (value === null) return Buffer.from([TAGS.null]);
  if (typeof value === 'boolean') return Buffer.from([TAGS.boolean, value ? 1 : 0]);
  if (typeof value === 'number') return numberKey(value);
  return Buffer.concat([stringStart(value), Buffer.from([0])]);
}

/** The index entry of one document: its values in the index's order, then its id. */
export function entryKey(values: readonly IndexValue[], id: string): Buffer {
  return Buffer.concat([...values.map(valueKey), Buffer.from(id)]);
}

/** Where the first `count` values of an entry's key end. */
export function valuesEnd(key: Buffer, count: number): number {
  let at = 0;
  for (let left = count; left > 0; left--) at = valueEnd(key, at);
  return at;
}

/** All keys that begin with `prefix`, made of complete values. */
export function startingWith(prefix: Buffer): Interval {
  return { from: prefix, to: above(prefix) };
}

/** All keys after `prefix` and strings that begin with `text`. */
export function stringsFrom(prefix: Buffer, text: string): Interval {
  return startingWith(Buffer.concat([prefix, stringStart(text)]));
}

/** All keys after `prefix` and values of the same type as `sample`. */
export function sameType(prefix: Buffer, sample: IndexValue): Interval {
  const tag = TAGS[sample === null ? 'null' : (typeof sample as 'number' | 'string' | 'boolean')];
  return { from: Buffer.concat([prefix, Buffer.from([tag])]), to: Buffer.concat([prefix, Buffer.from([tag + 1])]) };
}

/** Above every key that begins with the complete value `key`, below every greater one. */
export function above(key: Buffer): Buffer {
  return Buffer.concat([key, ABOVE]);
}

/** The least key above exactly `key`. */
export function next(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.from([0])]);
}

function valueEnd(key: Buffer, start: number): number {
  if (key[start] === TAGS.null) return start + 1;
  if (key[start] === TAGS.boolean) return start + 2;
  if (key[start] === TAGS.number) return start + 9;
  let end = key.indexOf(0, start);
  while (key[end + 1] === ABOVE[0]) end = key.indexOf(0, end + 1);
  return end + 1;
}

// A closing 0 makes "a" come before "ab"; a 0 inside is told from it by the 0xff behind.
function stringStart(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (!bytes.includes(0)) return Buffer.concat([Buffer.from([TAGS.string]), bytes]);
  const safe = bytes.toString('latin1').replaceAll('\0', '\0\xff');
  return Buffer.concat([Buffer.from([TAGS.string]), Buffer.from(safe, 'latin1')]);
}

// IEEE 754 sorts as bytes once negative numbers are turned over and the sign bit is flipped.
function numberKey(value: number): Buffer {
  const key = Buffer.alloc(9);
  key[0] = TAGS.number;
  key.writeDoubleBE(value === 0 ? 0 : value, 1);
  if (value < 0) for (let at = 1; at < 9; at++) key[at] = ~key[at]!;
  else key[1] = key[1]! ^ 0x80;
  return key;
}
