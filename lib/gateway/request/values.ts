// Parses path and query values into Protobuf types.

import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJsonString,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { FLOAT32_MAX } from '@bufbuild/protobuf/wire';
import {
  DurationSchema,
  FieldMaskSchema,
  isWrapperDesc,
  StructSchema,
  TimestampSchema,
  ValueSchema,
} from '@bufbuild/protobuf/wkt';
import { parseBase64 } from '../channel/metadata.ts';

type Value = string | number | bigint | boolean | Uint8Array | ReflectMessage;

/** Parses text; throws an Error that describes the problem. */
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

export const SCALAR_PARSERS: { readonly [Type in ScalarType]: Parse } = {
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
  // Base64 has no spaces: a `+` that was not encoded.
  [ScalarType.BYTES]: (text) => parseBase64(text.replaceAll(' ', '+')),
  [ScalarType.BOOL]: (text) => {
    if (!TRUE.includes(text) && !FALSE.includes(text)) throw new Error(`${quoteShort(text)} is not true or false`);
    return TRUE.includes(text);
  },
};

/** Accepts the name or the number of an enum value. */
function enumParser({ values }: DescEnum): Parse {
  const byName = new Map(values.map(({ name, number }) => [name, number]));
  const numbers = new Set(values.map(({ number }) => number));
  return (text) => {
    const number = byName.get(text) ?? (INTEGER.test(text) ? Number(text) : Number.NaN);
    if (!numbers.has(number)) throw new Error(`${quoteShort(text)} is not a valid value`);
    return number;
  };
}

type MessageParser = (text: string) => Message;

/** Messages other than wrappers that have a text form. */
const MESSAGES: { readonly [name: string]: MessageParser } = {
  'google.protobuf.Timestamp': (text) => create(TimestampSchema, parseTimestamp(text)),
  'google.protobuf.Duration': (text) => create(DurationSchema, parseGoDuration(text)),
  'google.protobuf.FieldMask': (text) => create(FieldMaskSchema, { paths: text.split(',') }),
  'google.protobuf.Struct': jsonParser(StructSchema),
  'google.protobuf.Value': jsonParser(ValueSchema),
};

function jsonParser(schema: DescMessage): MessageParser {
  return (text) => {
    try {
      return fromJsonString(schema, text);
    } catch {
      throw new Error(`${quoteShort(text)} is not JSON of this type`);
    }
  };
}

const parsers = new WeakMap<DescField, Parse>();

/** The parser for a field's value, element or map value. Throws an Error for messages without a text form. */
export function fieldParser(field: DescField): Parse {
  const parse = parsers.get(field) ?? compileParser(field);
  parsers.set(field, parse);
  return parse;
}

function compileParser({ enum: enumType, message, scalar }: DescField): Parse {
  if (enumType) return enumParser(enumType);
  if (!message) return SCALAR_PARSERS[scalar!];
  const { typeName } = message;
  if (isWrapperDesc(message)) {
    const [field] = message.fields;
    return (text) => {
      const wrapper = reflect(message, create(message), false);
      wrapper.set(field, SCALAR_PARSERS[field.scalar](text) as never);
      return wrapper;
    };
  }
  const parse = Object.hasOwn(MESSAGES, typeName) ? MESSAGES[typeName] : undefined;
  if (!parse) throw new Error(`unsupported message type: ${JSON.stringify(typeName)}`);
  return (text) => reflect(message, parse(text), false);
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
    throw new Error(`${quoteShort(text)} is not a whole number from ${least} to ${most}`);
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
    if (Number.isNaN(value) || Math.abs(value) > most) throw new Error(`${quoteShort(text)} is not a number in range`);
    return value;
  };
}

interface Moment {
  readonly seconds: bigint;
  readonly nanos: number;
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|([+-])(\d\d):(\d\d))$/;
const FIRST_SECOND = -62_135_596_800;

/** Parses an RFC 3339 time, such as `2026-11-21T10:00:00.5+02:00`. Throws an Error. */
function parseTimestamp(text: string): Moment {
  const match = RFC3339.exec(text);
  if (!match) throw new Error(`${quoteShort(text)} is not a time such as 2026-11-21T10:00:00Z`);
  const [, year, month, day, hour, minute, second, fraction = '', , sign, offsetHour = '0', offsetMinute = '0'] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const exists = date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
  const inRange = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
  if (!exists || !inRange || Number(offsetHour) > 23 || Number(offsetMinute) > 59)
    throw new Error(`${quoteShort(text)} is not a time that exists`);
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -60 : 60);
  const seconds = date.getTime() / 1_000 + Number(hour) * 3_600 + Number(minute) * 60 + Number(second) - offset;
  if (seconds < FIRST_SECOND || seconds > 253_402_300_799)
    throw new Error(`${quoteShort(text)} is outside the years 1 to 9999`);
  return { seconds: BigInt(seconds), nanos: Number(fraction.slice(0, 9).padEnd(9, '0')) };
}

const UNITS: { readonly [unit: string]: bigint } = {
  ns: 1n,
  us: 1_000n,
  // Micro sign and Greek mu.
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const DURATION = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/;
const PART = /(\d*)\.?(\d*)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g;
const MOST = 2n ** 63n - 1n;
const SECOND = 1_000_000_000n;

/** Parses a Go duration: `1h2m3.5s`, `-1.5h`, `0`. Throws an Error. */
function parseGoDuration(text: string): Moment {
  if (/^[+-]?0$/.test(text)) return { seconds: 0n, nanos: 0 };
  const match = text.length <= 200 ? DURATION.exec(text) : null;
  if (!match) throw new Error(`${quoteShort(text)} is not a duration such as 1h2m3.5s`);
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of match[2]!.matchAll(PART)) {
    const scale = 10n ** BigInt(fraction.length);
    nanos += (BigInt(`${whole}${fraction}` || '0') * UNITS[unit]!) / scale;
  }
  if (nanos > MOST) throw new Error(`${quoteShort(text)} is longer than 292 years`);
  const total = match[1] === '-' ? -nanos : nanos;
  return { seconds: total / SECOND, nanos: Number(total % SECOND) };
}

/** Quotes the first 100 characters. */
export function quoteShort(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
