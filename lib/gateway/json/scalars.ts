// Scalars from the wire to JSON: one writer for each type of Protobuf, and for the number types of Cosmos.

import { ScalarType } from '@bufbuild/protobuf';
import { byte, copied, literal, literalOf } from './out.ts';
import { ascii, base64, digits, quoted } from './text.ts';
import { endOfLength, fixed64, type Job, need, noJson, varint, WIRE } from './wire.ts';

/**
 * Reads one value at `job.at` and writes it as JSON; true when it is the default of its type. `end`: where the message
 * around it ends.
 */
export type ValueWriter = (job: Job, end: number) => boolean;

const TRUE = literalOf('true');
const FALSE = literalOf('false');

const int32: ValueWriter = (job) => signed(job, varint(job));
const uint32: ValueWriter = (job) => unsigned(job, varint(job) >>> 0);
const int64: ValueWriter = (job) => long(job, varint(job), true);
const uint64: ValueWriter = (job) => long(job, varint(job), false);

const WRITERS: { readonly [Type in ScalarType]: ValueWriter } = {
  [ScalarType.INT32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.SINT32]: (job) => {
    const zigzag = varint(job);
    return signed(job, (zigzag >>> 1) ^ -(zigzag & 1));
  },
  [ScalarType.SINT64]: (job) => {
    const zigzag = varint(job);
    const sign = -(zigzag & 1);
    const low = ((zigzag >>> 1) | (job.hi << 31)) ^ sign;
    job.hi = (job.hi >>> 1) ^ sign;
    return long(job, low, true);
  },
  [ScalarType.FIXED32]: (job) => unsigned(job, fixed32(job) >>> 0),
  [ScalarType.SFIXED32]: (job) => signed(job, fixed32(job)),
  [ScalarType.FIXED64]: (job) => long(job, fixed64(job), false),
  [ScalarType.SFIXED64]: (job) => long(job, fixed64(job), true),
  [ScalarType.BOOL]: (job) => {
    const set = varint(job) !== 0 || job.hi !== 0;
    literal(job, set ? TRUE : FALSE);
    return !set;
  },
  [ScalarType.FLOAT]: (job) => {
    need(job, 4);
    const value = job.view.getFloat32(job.at, true);
    job.at += 4;
    return real(job, value, shortest32);
  },
  [ScalarType.DOUBLE]: (job) => {
    need(job, 8);
    const value = job.view.getFloat64(job.at, true);
    job.at += 8;
    return real(job, value, String);
  },
  [ScalarType.STRING]: text(true),
  [ScalarType.BYTES]: (job, end) => {
    const until = endOfLength(job, end);
    const empty = until === job.at;
    base64(job, until);
    return empty;
  },
};

const WIRES: { readonly [type: number]: number } = {
  [ScalarType.FLOAT]: WIRE.bits32,
  [ScalarType.FIXED32]: WIRE.bits32,
  [ScalarType.SFIXED32]: WIRE.bits32,
  [ScalarType.DOUBLE]: WIRE.bits64,
  [ScalarType.FIXED64]: WIRE.bits64,
  [ScalarType.SFIXED64]: WIRE.bits64,
  [ScalarType.STRING]: WIRE.bytes,
  [ScalarType.BYTES]: WIRE.bytes,
};

export function wireOf(type: ScalarType): number {
  return WIRES[type] ?? WIRE.varint;
}

/** Text that is not UTF-8 is refused when `strict`, and otherwise written with replacement characters. */
export function scalarWriter(type: ScalarType, strict: boolean): ValueWriter {
  return type === ScalarType.STRING ? text(strict) : WRITERS[type];
}

/** What stands for an unset scalar: `0`, `"0"` for 64 bits, `false`, `""`. */
export function scalarDefault(type: ScalarType): string {
  if (type === ScalarType.BOOL) return 'false';
  return QUOTED.has(type) ? '"0"' : wireOf(type) === WIRE.bytes ? '""' : '0';
}

const QUOTED: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);

function text(strict: boolean): ValueWriter {
  return (job, end) => {
    const until = endOfLength(job, end);
    const empty = until === job.at;
    quoted(job, until, strict);
    return empty;
  };
}

function signed(job: Job, value: number): boolean {
  if (value < 0) ascii(job, String(value));
  else digits(job, value);
  return value === 0;
}

function unsigned(job: Job, value: number): boolean {
  digits(job, value);
  return value === 0;
}

function fixed32(job: Job): number {
  need(job, 4);
  job.at += 4;
  return job.view.getInt32(job.at - 4, true);
}

function long(job: Job, low: number, sign: boolean): boolean {
  byte(job, 0x22);
  if (job.hi === 0) digits(job, low >>> 0);
  else ascii(job, longText(job.hi, low, sign));
  byte(job, 0x22);
  return low === 0 && job.hi === 0;
}

function longText(high: number, low: number, sign: boolean): string {
  const value = (sign ? high : high >>> 0) * 4_294_967_296 + (low >>> 0);
  if (Number.isSafeInteger(value)) return String(value);
  const exact = (BigInt(high) << 32n) | BigInt(low >>> 0);
  return String(sign ? BigInt.asIntN(64, exact) : BigInt.asUintN(64, exact));
}

function real(job: Job, value: number, print: (value: number) => string): boolean {
  if (Number.isFinite(value)) ascii(job, Object.is(value, -0) ? '-0' : print(value));
  else ascii(job, `"${value}"`);
  return Object.is(value, 0);
}

/** The shortest decimal digits that give back this 32-bit float. */
function shortest32(value: number): string {
  for (let precision = 6; precision < 9; precision++) {
    const rounded = Number(value.toPrecision(precision));
    if (Math.fround(rounded) === value) return String(rounded);
  }
  return String(Number(value.toPrecision(9)));
}

const DECIMALS = 18;
const WHOLE = /^-?[0-9]+$/;

/** A decimal number that travels as a whole number of 10⁻¹⁸: `"1.500000000000000000"`. */
export const decimal: ValueWriter = (job, end) => {
  const number = asciiText(job, end);
  if (!WHOLE.test(number)) throw noJson('a decimal number is not made of digits');
  const sign = number.startsWith('-') ? '-' : '';
  const all = number.slice(sign.length).padStart(DECIMALS + 1, '0');
  ascii(job, `"${sign}${all.slice(0, -DECIMALS)}.${all.slice(-DECIMALS)}"`);
  return false;
};

/** A whole number of any size that travels as its digits. */
export const whole: ValueWriter = (job, end) => {
  const number = asciiText(job, end);
  if (!WHOLE.test(number)) throw noJson('a whole number is not made of digits');
  ascii(job, `"${number}"`);
  return false;
};

/** Bytes that are JSON already. */
export const rawJson: ValueWriter = (job, end) => {
  const until = endOfLength(job, end);
  const bytes = job.bytes.subarray(job.at, until);
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // Its words would quote the reply.
    throw noJson('bytes that should hold JSON do not');
  }
  copied(job, bytes);
  job.at = until;
  return false;
};

function asciiText(job: Job, end: number): string {
  const until = endOfLength(job, end);
  const { buffer, byteOffset } = job.bytes;
  const found = Buffer.from(buffer, byteOffset + job.at, until - job.at).toString('latin1');
  job.at = until;
  // An unset number is stored as no digits.
  return found === '' ? '0' : found;
}
