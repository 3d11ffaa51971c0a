// Well-known types with a special JSON form: Timestamp, Duration, FieldMask, Struct, Value and Any; and google.api.HttpBody,
// which is not JSON at all.

import { protoCamelCase, protoSnakeCase } from '@bufbuild/protobuf/reflect';
import type { DescMessage, Registry } from '#protobuf';
import type { TwinlineError } from '../../errors.ts';
import { readFields } from '../descriptors/options.ts';
import { acceptsTag, closeObject, type FieldPlan } from './object.ts';
import {
  createLiteral,
  type Literal,
  writeAscii,
  writeBase64,
  writeByte,
  writeDigits,
  writeLiteral,
  writePadded,
  writeText,
} from './output.ts';
import {
  enterMessage,
  type MessagePart,
  type MessageWriter,
  OUT_OF_ORDER,
  readLength,
  readTag,
  readText,
  readVarint,
  skipField,
  type TypeWriter,
  unreadableReply,
  unwritableReply,
  type ValueWriter,
  WIRE,
  type WriteState,
  writeInOrder,
} from './wire.ts';

const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;
const DURATION_SECONDS = 315_576_000_000;
const NANOS = 1_000_000_000;

/** RFC 3339 in UTC with 0, 3, 6 or 9 fractional digits. Computed by hand, because a Date takes several times as long. */
export const writeTimestamp: MessageWriter = (state, end) => {
  const { seconds, nanos } = readSeconds(state, end);
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND || nanos < 0 || nanos >= NANOS)
    throw unwritableReply('a time lies before the year 1 or after the year 9999');
  const days = Math.floor(seconds / 86_400);
  const time = seconds - days * 86_400;
  writeByte(state, 0x22);
  writeDate(state, days);
  writeByte(state, 0x54);
  writePadded(state, Math.floor(time / 3_600), 2);
  writeByte(state, 0x3a);
  writePadded(state, Math.floor(time / 60) % 60, 2);
  writeByte(state, 0x3a);
  writePadded(state, time % 60, 2);
  writeFraction(state, nanos);
  writeAscii(state, 'Z"');
};

/** Seconds with 0, 3, 6 or 9 fractional digits: `"1.500s"`. */
export const writeDuration: MessageWriter = (state, end) => {
  const { seconds, nanos } = readSeconds(state, end);
  if (Math.abs(seconds) > DURATION_SECONDS || Math.abs(nanos) >= NANOS || seconds * nanos < 0)
    throw unwritableReply('a duration is longer than 10,000 years, or its seconds and nanoseconds differ in sign');
  writeAscii(state, seconds < 0 || nanos < 0 ? '"-' : '"');
  writeDigits(state, Math.abs(seconds));
  writeFraction(state, Math.abs(nanos));
  writeAscii(state, 's"');
};

function writeFraction(state: WriteState, nanos: number): void {
  if (nanos === 0) return;
  writeByte(state, 0x2e);
  if (nanos % 1_000_000 === 0) writePadded(state, nanos / 1_000_000, 3);
  else if (nanos % 1_000 === 0) writePadded(state, nanos / 1_000, 6);
  else writePadded(state, nanos, 9);
}

// Converts days since 1970 to a Gregorian date, in 400-year eras that start in March.
function writeDate(state: WriteState, days: number): void {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const inEra = shifted - era * 146_097;
  const years = Math.floor(
    (inEra - Math.floor(inEra / 1_460) + Math.floor(inEra / 36_524) - Math.floor(inEra / 146_096)) / 365,
  );
  const inYear = inEra - (365 * years + Math.floor(years / 4) - Math.floor(years / 100));
  const fromMarch = Math.floor((5 * inYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  writePadded(state, years + era * 400 + (month <= 2 ? 1 : 0), 4);
  writeByte(state, 0x2d);
  writePadded(state, month, 2);
  writeByte(state, 0x2d);
  writePadded(state, inYear - Math.floor((153 * fromMarch + 2) / 5) + 1, 2);
}

/** Paths in lowerCamelCase, separated by commas. */
export const writeFieldMask: MessageWriter = (state, end) => {
  const paths: string[] = [];
  while (state.at < end) {
    const tag = readTag(state);
    if (tag !== ((1 << 3) | WIRE.bytes)) {
      skipField(state, tag, end);
      continue;
    }
    const path = readText(state, end, true);
    if (protoSnakeCase(protoCamelCase(path)) !== path)
      throw unwritableReply('a FieldMask path has no lowerCamelCase form');
    paths.push(protoCamelCase(path));
  }
  writeText(state, paths.join(','));
};

function readSeconds(state: WriteState, end: number): { seconds: number; nanos: number } {
  let seconds = 0;
  let nanos = 0;
  while (state.at < end) {
    const tag = readTag(state);
    if (tag === 1 << 3) {
      const low = readVarint(state) >>> 0;
      seconds = state.hi * 4_294_967_296 + low;
    } else if (tag === 2 << 3) nanos = readVarint(state);
    else skipField(state, tag, end);
  }
  if (state.at > end) throw unreadableReply('a time reaches beyond its message');
  return { seconds, nanos };
}

/** A message whose JSON is that of its only field, or `unset` when that is absent. */
export function singleFieldWriter(field: FieldPlan, unset: Literal): MessageWriter {
  return (state, end) => {
    const start = state.to;
    while (state.at < end) {
      const tag = readTag(state);
      if (!acceptsTag(field, tag)) skipField(state, tag, end);
      else if (state.to !== start) throw OUT_OF_ORDER;
      else field.write(field, state, end);
    }
    if (state.at > end) throw unreadableReply('a value reaches beyond its message');
    if (state.to === start) writeLiteral(state, unset);
  };
}

/** Writes the one field of a Value that is set, or null. */
export function valueWriter(kinds: ReadonlyMap<number, ValueWriter>): MessageWriter {
  return (state, end) => {
    let isSet = false;
    while (state.at < end) {
      const tag = readTag(state);
      const kind = kinds.get(tag);
      if (!kind) skipField(state, tag, end);
      else if (isSet) throw OUT_OF_ORDER;
      else {
        kind(state, end);
        isSet = true;
      }
    }
    if (!isSet) writeLiteral(state, NULL);
    if (state.at > end) throw unreadableReply('a value reaches beyond its message');
  };
}

/** JSON has no NaN or infinity, and a Value has no other representation for them. */
export function finiteWriter(double: ValueWriter): ValueWriter {
  return (state, end) => {
    if (state.at + 8 <= end && !Number.isFinite(state.view.getFloat64(state.at, true)))
      throw unwritableReply('a google.protobuf.Value is NaN or infinity');
    return double(state, end);
  };
}

const NULL = createLiteral('null');
const TYPE = createLiteral(',"@type":');
const VALUE = createLiteral(',"value":');
const EMPTY = createLiteral('{}');
const URL_TAG = (1 << 3) | WIRE.bytes;
const VALUE_TAG = (2 << 3) | WIRE.bytes;

/**
 * `{"@type": …}` with the fields of the inner message, or with `value` if its JSON is not an object of its fields. For a type
 * that is undeclared or cannot be written, `value` is its bytes in base64.
 */
export function anyWriter(registry: Registry, getWriter: (type: DescMessage) => TypeWriter): MessageWriter {
  const unwritable = new WeakSet<DescMessage>();

  function findWriter(type: DescMessage): TypeWriter | undefined {
    if (unwritable.has(type)) return undefined;
    try {
      return getWriter(type);
    } catch {
      unwritable.add(type);
      return undefined;
    }
  }

  return (state, end) => {
    const { url, from, to } = readAny(state, end);
    if (url === '') {
      writeLiteral(state, EMPTY);
      return;
    }
    const name = url.slice(url.lastIndexOf('/') + 1);
    const type = registry.getMessage(name);
    if (!type) state.unknown?.add(name);
    const writer = type && findWriter(type);
    const start = state.to;
    writeLiteral(state, TYPE);
    writeText(state, url);
    state.at = from;
    if (!writer) {
      writeLiteral(state, VALUE);
      writeBase64(state, to);
    } else {
      if (!writer.fields) writeLiteral(state, VALUE);
      enterMessage(state);
      writeInside(state, to, { type, write: writer.fields ?? writer.write });
      state.depth--;
    }
    closeObject(state, start);
    state.at = end;
  };
}

// The bytes in an Any are a separate message: if they are malformed, the outer message still is valid.
function writeInside(state: WriteState, to: number, inside: MessagePart): void {
  try {
    writeInOrder(state, to, inside);
  } catch (error) {
    if ((error as TwinlineError).reason !== 'unreadable') throw error;
    throw unwritableReply(`an Any does not contain a valid ${inside.type.typeName}`);
  }
}

function readAny(state: WriteState, end: number): { url: string; from: number; to: number } {
  const parts = { url: '', from: end, to: end };
  while (state.at < end) {
    const tag = readTag(state);
    if (tag !== URL_TAG && tag !== VALUE_TAG) {
      skipField(state, tag, end);
      continue;
    }
    if (tag === URL_TAG) parts.url = readText(state, end, true);
    else {
      const until = readLength(state, end);
      Object.assign(parts, { from: state.at, to: until });
      state.at = until;
    }
  }
  return parts;
}

/** A `google.api.HttpBody`: a reply that is not JSON. */
export interface HttpBody {
  /** A media type that is valid in a header. */
  readonly type: string;
  readonly data: Buffer;
}

// RFC 9110: type/subtype and parameters.
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+*-]{1,127}(?:\s*;[\x20-\x7e]{0,256})?$/;

/**
 * Whether replies of this type are HTTP bodies of any media type.
 * @example
 * import { readFileSync } from 'node:fs';
 *
 * const { registry } = readDescriptorSet(readFileSync('library.pb'));
 * isHttpBody(registry.getMessage('demo.Name')!); // → false
 */
export function isHttpBody({ typeName }: DescMessage): boolean {
  return typeName === 'google.api.HttpBody';
}

/**
 * Parses an HttpBody. An unknown or invalid type becomes `application/octet-stream`. Throws ERR_SERVICE, `unreadable`.
 * @example
 * const { type, data } = readHttpBody(Buffer.from('\n\ntext/plain\x12\x02Hi', 'latin1'));
 * [type, data.toString()]; // → ['text/plain', 'Hi']
 */
export function readHttpBody(bytes: Uint8Array): HttpBody {
  let type = '';
  let data: Uint8Array = new Uint8Array();
  try {
    readFields(bytes, { 1: (reader) => (type = reader.string()), 2: (reader) => (data = reader.bytes()) });
  } catch (cause) {
    throw unreadableReply('its google.api.HttpBody cannot be decoded', cause);
  }
  const { buffer, byteOffset, length } = data;
  const isMediaType = MEDIA_TYPE.test(type);
  return { type: isMediaType ? type : 'application/octet-stream', data: Buffer.from(buffer, byteOffset, length) };
}
