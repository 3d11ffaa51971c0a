// Replies of a node in the shapes that cost most, at any size.

import { compileKept } from '../support/protoc.ts';

export const SHAPES_SET = compileKept('shapes/shapes.proto');

/** Of the values that one byte holds: millions of them are put together. */
const ONE_BYTE = Array.from({ length: 128 }, (_, value) => Buffer.from([value]));

export function varint(value: number): Buffer {
  const short = ONE_BYTE[value];
  if (short) return short;
  const bytes: number[] = [];
  let left = value;
  while (left > 127) {
    bytes.push((left % 128) | 128);
    left = Math.floor(left / 128);
  }
  return Buffer.from([...bytes, left]);
}

/** A field with bytes. */
export function field(number: number, bytes: string | Buffer): Buffer {
  const value = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  return Buffer.concat([varint(number * 8 + 2), varint(value.length), value]);
}

/** The same bytes until `size` is reached. */
function fill(size: number, unit: string | Buffer): Buffer {
  const bytes = Buffer.from(unit as string);
  return Buffer.alloc(size - (size % bytes.length), bytes);
}

function gather(size: number, make: (nth: number) => Buffer): Buffer {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (let nth = 0; bytes < size; nth++) {
    const part = make(nth);
    parts.push(part);
    bytes += part.length;
  }
  return Buffer.concat(parts.slice(0, -1));
}

// Not in their order.
const key = (nth: number) => ((nth * 2_654_435_761) % 2 ** 32).toString(36);
const inAny = (inside: Buffer) => Buffer.concat([field(1, 'x/shapes.Shape'), field(2, inside)]);

function wrapped(core: Buffer, { levels, wrap }: { levels: number; wrap: (inside: Buffer) => Buffer }): Buffer {
  let bytes = core;
  for (let level = 0; level < levels; level++) bytes = wrap(bytes);
  return bytes;
}

/** Name → the bytes of a Shape of about `size` bytes. */
export const SHAPES: { readonly [name: string]: (size: number) => Buffer } = {
  'a text of quotes': (size) => field(1, fill(size, '"')),
  'a text of emoji': (size) => field(1, fill(size, '🌳')),
  'a text of control characters': (size) => field(1, fill(size, '\u0001')),
  'a text that is not UTF-8': (size) => field(1, fill(size, Buffer.from([0xc3, 0x28]))),
  bytes: (size) => field(2, fill(size, Buffer.from([0xfb, 0xff]))),
  'a map of many': (size) => gather(size, (nth) => field(3, Buffer.concat([field(1, key(nth)), Buffer.from([16, 1])]))),
  'a map of one, again and again': (size) => fill(size, field(3, field(1, 'a'))),
  'a map of messages': (size) => gather(size, (nth) => field(8, Buffer.concat([field(1, key(nth)), field(2, '')]))),
  'empty messages': (size) => fill(size, field(4, '')),
  'messages in messages': (size) =>
    fill(size, field(4, wrapped(Buffer.alloc(0), { levels: 90, wrap: (inside) => field(10, inside) }))),
  'nested too deep': (size) =>
    field(10, fill(size, field(10, wrapped(field(1, 'x'), { levels: 110, wrap: (inside) => field(10, inside) })))),
  'packed numbers': (size) => field(5, fill(size, Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]))),
  'packed reals': (size) =>
    field(
      6,
      gather(size, (nth) => Buffer.from(new Float64Array([Math.PI / (nth + 1)]).buffer)),
    ),
  'unknown fields': (size) => fill(size, Buffer.from([0xa0, 0x06, 0x01])),
  'unknown groups': (size) => fill(size, Buffer.from([0xa3, 0x06, 0xa4, 0x06])),
  'an Any in an Any in an Any': (size) =>
    wrapped(field(1, fill(size - 3_000, 'x')), { levels: 45, wrap: (inside) => field(7, inAny(inside)) }),
  'an Any in an Any, all out of order': (size) =>
    wrapped(field(1, fill(size - 3_000, 'x')), {
      levels: 45,
      wrap: (inside) => Buffer.concat([field(11, 'b'), field(7, inAny(inside)), field(1, 'a'), field(1, 'c')]),
    }),
  'empty messages out of order': (size) => Buffer.concat([field(1, 'a'), fill(size, field(4, '')), field(1, 'b')]),
  'a Struct of many': (size) =>
    field(
      9,
      gather(size, (nth) => field(1, Buffer.concat([field(1, key(nth)), field(2, field(3, '"'))]))),
    ),
};
