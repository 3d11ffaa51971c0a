// Protobuf wire format, read in place: the state of one reply on its way to JSON, varints, lengths, skipping, messages whose
// fields come out of order, and the errors of replies that cannot be read or written.

import { isUtf8 } from 'node:buffer';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMessage } from '#protobuf';
import { TwinlineError } from '../../errors.ts';
import type { UnknownTypes } from '../descriptors/type-source.ts';
import { GATEWAY_LIMITS } from '../limits.ts';

/** One reply that is being written as JSON: `bytes` are read at `at`, `out` is filled up to `to`. */
export interface WriteState {
  bytes: Uint8Array;
  view: DataView;
  at: number;
  out: Buffer;
  /** Of the same bytes as `out`. */
  outView: DataView;
  to: number;
  /** The tag read last: field number × 8 + wire type. */
  tag: number;
  /** High 32 bits of the varint or fixed number read last. */
  hi: number;
  /** Messages around the one that is being read. */
  depth: number;
  /** The bytes come from an encoder that writes every field once and in order. */
  ordered: boolean;
  /** Bytes that may still be put in order. */
  sortBytesLeft: number;
  /** Bytes of JSON that are refused. */
  readonly maxBytes: number;
  /** Whether it is given up where it takes more than a turn of the event loop should. */
  readonly isBrief: boolean;
  /** Called with the names of types that are not declared. */
  readonly unknown: UnknownTypes | undefined;
}

/** Reads the message that lies between `state.at` and `end`, and writes it as a JSON value. */
export type MessageWriter = (state: WriteState, end: number) => void;

/**
 * Reads one value at `state.at` and writes it as JSON; true when it is the default of its type. `end`: where the message
 * around it ends.
 */
export type ValueWriter = (state: WriteState, end: number) => boolean;

/** How a message is written as JSON. */
export interface TypeWriter {
  /** As a JSON value. */
  readonly write: MessageWriter;
  /** As `,"name":value` of its fields; undefined when the type is no JSON object of its fields. */
  readonly fields: MessageWriter | undefined;
}

export const WIRE = { varint: 0, bits64: 1, bytes: 2, group: 3, endGroup: 4, bits32: 5 } as const;

/**
 * Low 32 bits of the varint at the current place, signed; the high ones are in `state.hi`.
 */
export function readVarint(state: WriteState): number {
  const { bytes } = state;
  let at = state.at;
  let byte = bytes[at++]!;
  state.hi = 0;
  if (byte < 0x80) {
    state.at = at;
    return byte;
  }
  let low = byte & 0x7f;
  let high = 0;
  for (let shift = 7; shift < 70; shift += 7) {
    byte = bytes[at++]!;
    const part = byte & 0x7f;
    if (shift < 28) low |= part << shift;
    else if (shift > 28) high |= part << (shift - 32);
    else {
      low |= part << 28;
      high = part >> 4;
    }
    if (byte < 0x80) {
      state.at = at;
      state.hi = high;
      return low;
    }
  }
  throw unreadableReply(at > bytes.length ? 'it ends within a number' : 'a number is longer than ten bytes');
}

/** Reads a length and gives the place where what it measures ends. */
export function readLength(state: WriteState, end: number): number {
  const length = readVarint(state);
  if (state.hi !== 0 || length < 0 || length > end - state.at)
    throw unreadableReply('a length reaches beyond its message');
  return state.at + length;
}

/** Low 32 bits of the 8 bytes at the current place, signed; the high ones are in `state.hi`. */
export function readFixed64(state: WriteState): number {
  requireBytes(state, 8);
  const low = state.view.getInt32(state.at, true);
  state.hi = state.view.getInt32(state.at + 4, true);
  state.at += 8;
  return low;
}

/** Fails when fewer than `count` bytes are left. */
export function requireBytes(state: WriteState, count: number): void {
  if (state.at + count > state.bytes.length) throw unreadableReply('it ends within a number');
}

/** Reads a length and the text that follows. Text that is not UTF-8 is refused when `strict`, repaired when not. */
export function readText(state: WriteState, end: number, strict: boolean): string {
  const until = readLength(state, end);
  const bytes = Buffer.from(state.bytes.buffer, state.bytes.byteOffset + state.at, until - state.at);
  if (strict && !isUtf8(bytes)) throw unreadableReply('a text is not UTF-8');
  state.at = until;
  return bytes.toString('utf8');
}

/** Passes over the value of an unknown field. */
export function skipField(state: WriteState, tag: number, end: number): void {
  switch (tag & 7) {
    case WIRE.varint:
      readVarint(state);
      break;
    case WIRE.bits64:
      state.at += 8;
      break;
    case WIRE.bytes:
      state.at = readLength(state, end);
      break;
    case WIRE.group:
      skipGroup(state, tag >>> 3, end);
      break;
    case WIRE.bits32:
      state.at += 4;
      break;
    default:
      throw unreadableReply(`field ${tag >>> 3} has the unknown wire type ${tag & 7}`);
  }
  if (state.at > end) throw unreadableReply('a field reaches beyond its message');
}

function skipGroup(state: WriteState, number: number, end: number): void {
  enterMessage(state);
  for (;;) {
    if (state.at >= end) throw unreadableReply(`the group ${number} has no end`);
    const tag = readTag(state);
    if ((tag & 7) !== WIRE.endGroup) skipField(state, tag, end);
    else if (tag >>> 3 === number) break;
    else throw unreadableReply(`the group ${number} ends as ${tag >>> 3}`);
  }
  state.depth--;
}

/** Reads a tag. */
export function readTag(state: WriteState): number {
  const tag = readVarint(state) >>> 0;
  state.tag = tag;
  if (state.hi !== 0 || tag < 8) throw unreadableReply('a field has the number 0 or one above 2^29 − 1');
  return tag;
}

/** One message further in. */
export function enterMessage(state: WriteState): void {
  if (++state.depth > GATEWAY_LIMITS.gatewayDepth)
    throw unreadableReply(`it nests deeper than ${GATEWAY_LIMITS.gatewayDepth} messages`);
}

/** What is thrown for a reply that is not what its descriptor says; it does not name the place. */
export function unreadableReply(why: string, cause?: unknown): TwinlineError {
  const message = `The reply of the node cannot be read: ${why}. Compare the descriptors with the version of the node.`;
  return new TwinlineError('ERR_SERVICE', message, { reason: 'unreadable', cause });
}

/** What is thrown for a value that JSON has no way to tell. */
export function unwritableReply(why: string): TwinlineError {
  const message = `The reply of the node cannot be told in JSON: ${why}. Call the method by gRPC.`;
  return new TwinlineError('ERR_SERVICE', message, { reason: 'no-json' });
}

export function tooLarge({ maxBytes }: WriteState): TwinlineError {
  const message = `The reply of the node is longer than ${maxBytes} bytes as JSON. Ask for smaller pages.`;
  return new TwinlineError('ERR_SERVICE', message, { reason: 'too-large' });
}

// Thrown to start again with bytes that hold every field once, by number.
export const OUT_OF_ORDER = new Error('fields out of order');

export interface MessagePart {
  readonly type: DescMessage;
  readonly write: MessageWriter;
}

/** Writes the message up to `end`; when its fields come out of order or twice, from an ordered copy of its bytes. */
export function writeInOrder(state: WriteState, end: number, { type, write }: MessagePart): void {
  const { bytes, view, at, to, depth, ordered } = state;
  try {
    state.ordered = false;
    write(state, end);
  } catch (error) {
    // A value that JSON cannot tell may be one that a later one replaces.
    if (error !== OUT_OF_ORDER && (error as TwinlineError).reason !== 'no-json') throw error;
    // Messages inside messages by way of Any could make this endless.
    state.sortBytesLeft -= end - at;
    if (state.sortBytesLeft < 0)
      throw state.isBrief ? tooLarge(state) : unreadableReply('too many of its messages have fields out of order');
    const sorted = sortFields(type, bytes.subarray(at, end));
    const sortedView = new DataView(sorted.buffer, sorted.byteOffset, sorted.byteLength);
    Object.assign(state, { bytes: sorted, view: sortedView, at: 0, to, depth, ordered: true });
    write(state, sorted.length);
    Object.assign(state, { bytes, view });
  }
  state.at = end;
  state.ordered = ordered;
}

function sortFields(type: DescMessage, bytes: Uint8Array): Uint8Array {
  try {
    return toBinary(type, fromBinary(type, bytes, { readUnknownFields: false }), { writeUnknownFields: false });
  } catch (error) {
    throw unreadableReply(`its ${type.typeName} cannot be decoded`, error);
  }
}
