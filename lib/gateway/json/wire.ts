// The Protobuf wire format, read in place: conversion state, varints, lengths, skipping, messages with fields out of order,
// and errors.

import { isUtf8 } from 'node:buffer';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMessage } from '#protobuf';
import { TwinlineError } from '../../errors.ts';
import type { UnknownTypes } from '../descriptors/type-source.ts';
import { GATEWAY_LIMITS } from '../limits.ts';

/** The conversion of one reply to JSON: `bytes` are read at `at`, `out` is filled up to `to`. */
export interface WriteState {
  bytes: Uint8Array;
  view: DataView;
  at: number;
  out: Buffer;
  /** A view of `out`. */
  outView: DataView;
  to: number;
  /** The last tag read: field number × 8 + wire type. */
  tag: number;
  /** The high 32 bits of the last varint or fixed64. */
  hi: number;
  /** Nesting depth. */
  depth: number;
  /** The bytes come from an encoder that writes every field once and in order. */
  ordered: boolean;
  /** Remaining budget of bytes that may be sorted. */
  sortBytesLeft: number;
  /** Limit on JSON bytes. */
  readonly maxBytes: number;
  /** Whether to give up when it takes more than one event-loop turn should. */
  readonly isBrief: boolean;
  /** Receives names of undeclared types. */
  readonly unknown: UnknownTypes | undefined;
}

/** Writes the message between `state.at` and `end` as a JSON value. */
export type MessageWriter = (state: WriteState, end: number) => void;

/**
 * Reads one value at `state.at` and writes it as JSON; true when it is the type's default. `end` is the end of the enclosing
 * message.
 */
export type ValueWriter = (state: WriteState, end: number) => boolean;

/** How a message is written as JSON. */
export interface TypeWriter {
  /** Writes a JSON value. */
  readonly write: MessageWriter;
  /** Writes `,"name":value` for each field; undefined when the type's JSON is not an object of its fields. */
  readonly fields: MessageWriter | undefined;
}

export const WIRE = { varint: 0, bits64: 1, bytes: 2, group: 3, endGroup: 4, bits32: 5 } as const;

/** Reads a varint: returns the low 32 bits, signed; the high ones are in `state.hi`. */
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

/** Reads a length and returns the end of what it measures. */
export function readLength(state: WriteState, end: number): number {
  const length = readVarint(state);
  if (state.hi !== 0 || length < 0 || length > end - state.at)
    throw unreadableReply('a length reaches beyond its message');
  return state.at + length;
}

/** Reads a fixed64: returns the low 32 bits, signed; the high ones are in `state.hi`. */
export function readFixed64(state: WriteState): number {
  requireBytes(state, 8);
  const low = state.view.getInt32(state.at, true);
  state.hi = state.view.getInt32(state.at + 4, true);
  state.at += 8;
  return low;
}

/** Throws when fewer than `count` bytes are left. */
export function requireBytes(state: WriteState, count: number): void {
  if (state.at + count > state.bytes.length) throw unreadableReply('it ends within a number');
}

/** Reads a string. Invalid UTF-8 is refused if `strict`, otherwise repaired. */
export function readText(state: WriteState, end: number, strict: boolean): string {
  const until = readLength(state, end);
  const bytes = Buffer.from(state.bytes.buffer, state.bytes.byteOffset + state.at, until - state.at);
  if (strict && !isUtf8(bytes)) throw unreadableReply('a text is not UTF-8');
  state.at = until;
  return bytes.toString('utf8');
}

/** Skips the value of an unknown field. */
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

export function readTag(state: WriteState): number {
  const tag = readVarint(state) >>> 0;
  state.tag = tag;
  if (state.hi !== 0 || tag < 8) throw unreadableReply('a field has the number 0 or one above 2^29 − 1');
  return tag;
}

/** Enters a nested message. */
export function enterMessage(state: WriteState): void {
  if (++state.depth > GATEWAY_LIMITS.gatewayDepth)
    throw unreadableReply(`it nests deeper than ${GATEWAY_LIMITS.gatewayDepth} messages`);
}

/** The error for a reply that does not match its descriptor; it does not name the position. */
export function unreadableReply(why: string, cause?: unknown): TwinlineError {
  const message = `The node's reply is malformed: ${why}. Check that the descriptors match the node's version.`;
  return new TwinlineError('ERR_SERVICE', message, { reason: 'unreadable', cause });
}

/** The error for a value that JSON cannot represent. */
export function unwritableReply(why: string): TwinlineError {
  const message = `The node's reply has no JSON form: ${why}. Call the method over gRPC.`;
  return new TwinlineError('ERR_SERVICE', message, { reason: 'no-json' });
}

export function tooLarge({ maxBytes }: WriteState): TwinlineError {
  const message = `The node's reply is longer than ${maxBytes} bytes as JSON. Request smaller pages.`;
  return new TwinlineError('ERR_SERVICE', message, { reason: 'too-large' });
}

// Thrown to restart with bytes that have every field once, in order.
export const OUT_OF_ORDER = new Error('fields out of order');

export interface MessagePart {
  readonly type: DescMessage;
  readonly write: MessageWriter;
}

/** Writes the message up to `end`; if its fields are out of order or repeated, from a sorted copy. */
export function writeInOrder(state: WriteState, end: number, { type, write }: MessagePart): void {
  const { bytes, view, at, to, depth, ordered } = state;
  try {
    state.ordered = false;
    write(state, end);
  } catch (error) {
    // A value without a JSON form may be replaced by a later one.
    if (error !== OUT_OF_ORDER && (error as TwinlineError).reason !== 'no-json') throw error;
    // Bounds the work for messages nested through Any.
    state.sortBytesLeft -= end - at;
    if (state.sortBytesLeft < 0)
      throw state.isBrief ? tooLarge(state) : unreadableReply('too many of its messages have fields out of order');
    const sortedBytes = sortFields(type, bytes.subarray(at, end));
    const sortedView = new DataView(sortedBytes.buffer, sortedBytes.byteOffset, sortedBytes.byteLength);
    Object.assign(state, { bytes: sortedBytes, view: sortedView, at: 0, to, depth, ordered: true });
    write(state, sortedBytes.length);
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
