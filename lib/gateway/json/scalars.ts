// Converts scalars to JSON: a writer per Protobuf type, and the Cosmos number types.

import { ScalarType } from '@bufbuild/protobuf';
import {
  createLiteral,
  writeAscii,
  writeBase64,
  writeByte,
  writeBytes,
  writeDigits,
  writeLiteral,
  writeString,
} from './output.ts';
import {
  readFixed64,
  readLength,
  readVarint,
  requireBytes,
  unwritableReply,
  type ValueWriter,
  WIRE,
  type WriteState,
} from './wire.ts';

const TRUE = createLiteral('true');
const FALSE = createLiteral('false');

const int32: ValueWriter = (state) => writeSigned(state, readVarint(state));
const uint32: ValueWriter = (state) => writeUnsigned(state, readVarint(state) >>> 0);
const int64: ValueWriter = (state) => writeLong(state, readVarint(state), true);
const uint64: ValueWriter = (state) => writeLong(state, readVarint(state), false);

const WRITERS: { readonly [Type in ScalarType]: ValueWriter } = {
  [ScalarType.INT32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.SINT32]: (state) => {
    const zigzag = readVarint(state);
    return writeSigned(state, (zigzag >>> 1) ^ -(zigzag & 1));
  },
  [ScalarType.SINT64]: (state) => {
    const zigzag = readVarint(state);
    const sign = -(zigzag & 1);
    const low = ((zigzag >>> 1) | (state.hi << 31)) ^ sign;
    state.hi = (state.hi >>> 1) ^ sign;
    return writeLong(state, low, true);
  },
  [ScalarType.FIXED32]: (state) => writeUnsigned(state, readFixed32(state) >>> 0),
  [ScalarType.SFIXED32]: (state) => writeSigned(state, readFixed32(state)),
  [ScalarType.FIXED64]: (state) => writeLong(state, readFixed64(state), false),
  [ScalarType.SFIXED64]: (state) => writeLong(state, readFixed64(state), true),
  [ScalarType.BOOL]: (state) => {
    const set = readVarint(state) !== 0 || state.hi !== 0;
    writeLiteral(state, set ? TRUE : FALSE);
    return !set;
  },
  [ScalarType.FLOAT]: (state) => {
    requireBytes(state, 4);
    const value = state.view.getFloat32(state.at, true);
    state.at += 4;
    return writeReal(state, value, formatFloat);
  },
  [ScalarType.DOUBLE]: (state) => {
    requireBytes(state, 8);
    const value = state.view.getFloat64(state.at, true);
    state.at += 8;
    return writeReal(state, value, String);
  },
  [ScalarType.STRING]: text(true),
  [ScalarType.BYTES]: (state, end) => {
    const until = readLength(state, end);
    const empty = until === state.at;
    writeBase64(state, until);
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

export function findWireType(type: ScalarType): number {
  return WIRES[type] ?? WIRE.varint;
}

/** Invalid UTF-8 is refused if `strict`, otherwise repaired. */
export function scalarWriter(type: ScalarType, strict: boolean): ValueWriter {
  return type === ScalarType.STRING ? text(strict) : WRITERS[type];
}

/** The JSON of an unset scalar: `0`, `"0"` for 64 bits, `false`, `""`. */
export function scalarDefault(type: ScalarType): string {
  if (type === ScalarType.BOOL) return 'false';
  return QUOTED.has(type) ? '"0"' : findWireType(type) === WIRE.bytes ? '""' : '0';
}

const QUOTED: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);

function text(strict: boolean): ValueWriter {
  return (state, end) => {
    const until = readLength(state, end);
    const empty = until === state.at;
    writeString(state, until, strict);
    return empty;
  };
}

function writeSigned(state: WriteState, value: number): boolean {
  if (value < 0) writeAscii(state, String(value));
  else writeDigits(state, value);
  return value === 0;
}

function writeUnsigned(state: WriteState, value: number): boolean {
  writeDigits(state, value);
  return value === 0;
}

function readFixed32(state: WriteState): number {
  requireBytes(state, 4);
  state.at += 4;
  return state.view.getInt32(state.at - 4, true);
}

function writeLong(state: WriteState, low: number, sign: boolean): boolean {
  writeByte(state, 0x22);
  if (state.hi === 0) writeDigits(state, low >>> 0);
  else writeAscii(state, formatLong(state.hi, low, sign));
  writeByte(state, 0x22);
  return low === 0 && state.hi === 0;
}

function formatLong(high: number, low: number, sign: boolean): string {
  const value = (sign ? high : high >>> 0) * 4_294_967_296 + (low >>> 0);
  if (Number.isSafeInteger(value)) return String(value);
  const exact = (BigInt(high) << 32n) | BigInt(low >>> 0);
  return String(sign ? BigInt.asIntN(64, exact) : BigInt.asUintN(64, exact));
}

function writeReal(state: WriteState, value: number, print: (value: number) => string): boolean {
  if (Number.isFinite(value)) writeAscii(state, Object.is(value, -0) ? '-0' : print(value));
  else writeAscii(state, `"${value}"`);
  return Object.is(value, 0);
}

/** The shortest decimal that round-trips to this 32-bit float. */
function formatFloat(value: number): string {
  for (let precision = 6; precision < 9; precision++) {
    const rounded = Number(value.toPrecision(precision));
    if (Math.fround(rounded) === value) return String(rounded);
  }
  return String(Number(value.toPrecision(9)));
}

const DECIMALS = 18;
const WHOLE = /^-?[0-9]+$/;

/** A decimal stored as an integer in units of 10⁻¹⁸: `"1.500000000000000000"`. */
export const writeDecimal: ValueWriter = (state, end) => {
  const number = readAscii(state, end);
  if (!WHOLE.test(number)) throw unwritableReply('a decimal number contains non-digits');
  const sign = number.startsWith('-') ? '-' : '';
  const all = number.slice(sign.length).padStart(DECIMALS + 1, '0');
  writeAscii(state, `"${sign}${all.slice(0, -DECIMALS)}.${all.slice(-DECIMALS)}"`);
  return false;
};

/** An integer of any size, stored as digits. */
export const writeWhole: ValueWriter = (state, end) => {
  const number = readAscii(state, end);
  if (!WHOLE.test(number)) throw unwritableReply('a whole number contains non-digits');
  writeAscii(state, `"${number}"`);
  return false;
};

/** Bytes that are already JSON. */
export const writeRawJson: ValueWriter = (state, end) => {
  const until = readLength(state, end);
  const bytes = state.bytes.subarray(state.at, until);
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // The parser's message would quote the reply.
    throw unwritableReply('bytes that should be JSON are not');
  }
  writeBytes(state, bytes);
  state.at = until;
  return false;
};

function readAscii(state: WriteState, end: number): string {
  const until = readLength(state, end);
  const { buffer, byteOffset } = state.bytes;
  const digits = Buffer.from(buffer, byteOffset + state.at, until - state.at).toString('latin1');
  state.at = until;
  // An unset number is stored as an empty string.
  return digits === '' ? '0' : digits;
}
