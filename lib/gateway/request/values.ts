// Values of requests: the text of a path or a query as a value of a Protobuf type, and that value on the wire.

import { create, type DescEnum, fromJsonString, ScalarType, toBinary } from '@bufbuild/protobuf';
import { type BinaryWriter, FLOAT32_MAX, type WireType } from '@bufbuild/protobuf/wire';
import { DurationSchema, FieldMaskSchema, StructSchema, TimestampSchema, ValueSchema } from '@bufbuild/protobuf/wkt';
import { wireOf } from '../json/scalars.ts';
import { shown } from './shown.ts';
import { parseGoDuration, parseTimestamp } from './times.ts';

/** A parsed value: messages are their bytes already. */
export type Value = string | number | bigint | boolean | Uint8Array;

/** Parses text; throws an Error that says what is wrong with it. */
export type Parse = (text: string) => Value;

const INTEGER = /^[+-]?[0-9]+$/;
const FLOAT = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/;
const SPECIAL: { readonly [word: string]: number } = { inf: Infinity, infinity: Infinity, nan: Number.NaN };
const TRUE: readonly string[] = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSE: readonly string[] = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

const int32 = integer(-(2n ** 31n), 2n ** 31n - 1n, Number);
const uint32 = integer(0n, 2n ** 32n - 1n, Number);
const int64 = integer(-(2n ** 63n), 2n ** 63n - 1n, BigInt);
const uint64 = integer(0n, 2n ** 64n - 1n, BigInt);

const PARSERS: { readonly [Type in ScalarType]: Parse } = {
  [ScalarType.INT32]: int32,
  [ScalarType.SINT32]: int32,
  [ScalarType.SFIXED32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.FIXED32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.SINT64]: int64,
  [ScalarType.SFIXED64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.FIXED64]: uint64,
  [ScalarType.FLOAT]: float(FLOAT32_MAX),
  [ScalarType.DOUBLE]: float(Number.MAX_VALUE),
  [ScalarType.STRING]: (text) => text,
  [ScalarType.BYTES]: base64,
  [ScalarType.BOOL]: (text) => {
    if (!TRUE.includes(text) && !FALSE.includes(text)) throw new Error(`${shown(text)} is not true or false`);
    return TRUE.includes(text);
  },
};

export function scalarParser(type: ScalarType): Parse {
  return PARSERS[type];
}

/** By name, or by the number of a value that the enum has. */
export function enumParser({ values }: DescEnum): Parse {
  const byName = new Map(values.map(({ name, number }) => [name, number]));
  const numbers = new Set(values.map(({ number }) => number));
  return (text) => {
    const number = byName.get(text) ?? (INTEGER.test(text) ? Number(text) : Number.NaN);
    if (!numbers.has(number)) throw new Error(`${shown(text)} is not a valid value`);
    return number;
  };
}

const WRAPPED: readonly (readonly [string, ScalarType])[] = [
  ['Double', ScalarType.DOUBLE],
  ['Float', ScalarType.FLOAT],
  ['Int64', ScalarType.INT64],
  ['UInt64', ScalarType.UINT64],
  ['Int32', ScalarType.INT32],
  ['UInt32', ScalarType.UINT32],
  ['Bool', ScalarType.BOOL],
  ['String', ScalarType.STRING],
  ['Bytes', ScalarType.BYTES],
];

/** The scalar inside a wrapper such as google.protobuf.Int64Value. */
export const WRAPPERS: ReadonlyMap<string, ScalarType> = new Map(
  WRAPPED.map(([name, type]) => [`google.protobuf.${name}Value`, type]),
);

/** Messages that one text can stand for, but for the wrappers. */
export const MESSAGE_PARSERS: { readonly [name: string]: (text: string) => Uint8Array } = {
  'google.protobuf.Timestamp': (text) => toBinary(TimestampSchema, create(TimestampSchema, parseTimestamp(text))),
  'google.protobuf.Duration': (text) => toBinary(DurationSchema, create(DurationSchema, parseGoDuration(text))),
  'google.protobuf.FieldMask': (text) => toBinary(FieldMaskSchema, create(FieldMaskSchema, { paths: text.split(',') })),
  'google.protobuf.Struct': (text) =>
    toBinary(
      StructSchema,
      json(() => fromJsonString(StructSchema, text), text),
    ),
  'google.protobuf.Value': (text) =>
    toBinary(
      ValueSchema,
      json(() => fromJsonString(ValueSchema, text), text),
    ),
};

function json<Message>(read: () => Message, text: string): Message {
  try {
    return read();
  } catch {
    throw new Error(`${shown(text)} is not JSON of this type`);
  }
}

type Write = (writer: BinaryWriter, value: never) => unknown;

const WRITES: { readonly [Type in ScalarType]: Write } = {
  [ScalarType.INT32]: (writer, value: number) => writer.int32(value),
  [ScalarType.SINT32]: (writer, value: number) => writer.sint32(value),
  [ScalarType.SFIXED32]: (writer, value: number) => writer.sfixed32(value),
  [ScalarType.UINT32]: (writer, value: number) => writer.uint32(value),
  [ScalarType.FIXED32]: (writer, value: number) => writer.fixed32(value),
  [ScalarType.INT64]: (writer, value: bigint) => writer.int64(value),
  [ScalarType.SINT64]: (writer, value: bigint) => writer.sint64(value),
  [ScalarType.SFIXED64]: (writer, value: bigint) => writer.sfixed64(value),
  [ScalarType.UINT64]: (writer, value: bigint) => writer.uint64(value),
  [ScalarType.FIXED64]: (writer, value: bigint) => writer.fixed64(value),
  [ScalarType.FLOAT]: (writer, value: number) => writer.float(value),
  [ScalarType.DOUBLE]: (writer, value: number) => writer.double(value),
  [ScalarType.STRING]: (writer, value: string) => writer.string(value),
  [ScalarType.BYTES]: (writer, value: Uint8Array) => writer.bytes(value),
  [ScalarType.BOOL]: (writer, value: boolean) => writer.bool(value),
};

/** Writes one value without its tag. */
export function writeScalar(writer: BinaryWriter, type: ScalarType, value: Value): void {
  WRITES[type](writer, value as never);
}

export function wireTypeOf(type: ScalarType): WireType {
  return wireOf(type) as WireType;
}

/** Whether Protobuf leaves this value away where presence is not told apart. */
export function isZero(value: Value): boolean {
  return typeof value === 'object' ? value.length === 0 : !value && !Object.is(value, -0) && !Number.isNaN(value);
}

function integer(least: bigint, most: bigint, as: (text: string) => Value): Parse {
  const small = Number(least);
  const large = Number(most);
  return (text) => {
    if (INTEGER.test(text)) {
      const near = Number(text);
      // Numbers up to 2^53 are exact.
      const exact = Number.isSafeInteger(near) ? near >= small && near <= large : isWithin(text, least, most);
      if (exact) return as(text.startsWith('+') ? text.slice(1) : text);
    }
    throw new Error(`${shown(text)} is not a whole number from ${least} to ${most}`);
  };
}

function isWithin(text: string, least: bigint, most: bigint): boolean {
  if (text.length > 32) return false;
  const value = BigInt(text.replace('+', ''));
  return value >= least && value <= most;
}

function float(most: number): Parse {
  return (text) => {
    const word = text.replace(/^[+-]/, '').toLowerCase();
    if (Object.hasOwn(SPECIAL, word)) return text.startsWith('-') ? -SPECIAL[word]! : SPECIAL[word]!;
    const value = FLOAT.test(text) ? Number(text) : Number.NaN;
    if (Number.isNaN(value) || Math.abs(value) > most) throw new Error(`${shown(text)} is not a number in range`);
    return value;
  };
}

// Standard or URL-safe, with padding or without, but not mixed.
function base64(text: string): Uint8Array {
  const digits = text.replace(/={0,2}$/, '');
  const bad = /^[A-Za-z0-9+/]*$/.test(digits) ? -1 : digits.search(/[^A-Za-z0-9_-]/);
  const padding = text.length - digits.length;
  if (bad >= 0) throw new Error(`illegal base64 data at input byte ${bad}`);
  if (digits.length % 4 === 1 || (padding > 0 && text.length % 4 !== 0))
    throw new Error(`illegal base64 data at input byte ${text.length}`);
  return Buffer.from(digits, 'base64');
}
