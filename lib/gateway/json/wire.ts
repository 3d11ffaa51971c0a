// Protobuf wire format, read in place: the state of one reply on its way to JSON, varints, lengths and skipping.

import { isUtf8 } from 'node:buffer';
import { TwinlineError } from '../../errors.ts';
import type { UnknownTypes } from '../descriptors/unknown-types.ts';
import { GATEWAY_LIMITS } from '../limits.ts';

/** One reply that is being written as JSON: `bytes` are read at `at`, `out` is filled up to `to`. */
export interface Job {
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
  mayOrder: number;
  /** Bytes of JSON that are refused. */
  readonly maxBytes: number;
  /** Whether it is given up where it takes more than a turn of the event loop should. */
  readonly isBrief: boolean;
  /** Is told of types that nobody declares. */
  readonly unknown: UnknownTypes | undefined;
}

export const WIRE = { varint: 0, bits64: 1, bytes: 2, group: 3, endGroup: 4, bits32: 5 } as const;

/**
 * Low 32 bits of the varint at the current place, signed; the high ones are in `job.hi`.
 */
export function varint(job: Job): number {
  const { bytes } = job;
  let at = job.at;
  let byte = bytes[at++]!;
  job.hi = 0;
  if (byte < 0x80) {
    job.at = at;
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
      job.at = at;
      job.hi = high;
      return low;
    }
  }
  throw unreadable(at > bytes.length ? 'it ends within a number' : 'a number is longer than ten bytes');
}

/** Reads a length and gives the place where what it measures ends. */
export function endOfLength(job: Job, end: number): number {
  const length = varint(job);
  if (job.hi !== 0 || length < 0 || length > end - job.at) throw unreadable('a length reaches beyond its message');
  return job.at + length;
}

/** Low 32 bits of the 8 bytes at the current place, signed; the high ones are in `job.hi`. */
export function fixed64(job: Job): number {
  need(job, 8);
  const low = job.view.getInt32(job.at, true);
  job.hi = job.view.getInt32(job.at + 4, true);
  job.at += 8;
  return low;
}

/** Fails when fewer than `count` bytes are left. */
export function need(job: Job, count: number): void {
  if (job.at + count > job.bytes.length) throw unreadable('it ends within a number');
}

/** Reads a length and the text that follows. Text that is not UTF-8 is refused when `strict`, repaired when not. */
export function textOf(job: Job, end: number, strict: boolean): string {
  const until = endOfLength(job, end);
  const bytes = Buffer.from(job.bytes.buffer, job.bytes.byteOffset + job.at, until - job.at);
  if (strict && !isUtf8(bytes)) throw unreadable('a text is not UTF-8');
  job.at = until;
  return bytes.toString('utf8');
}

/** Passes over the value of an unknown field. */
export function skip(job: Job, tag: number, end: number): void {
  switch (tag & 7) {
    case WIRE.varint:
      varint(job);
      break;
    case WIRE.bits64:
      job.at += 8;
      break;
    case WIRE.bytes:
      job.at = endOfLength(job, end);
      break;
    case WIRE.group:
      skipGroup(job, tag >>> 3, end);
      break;
    case WIRE.bits32:
      job.at += 4;
      break;
    default:
      throw unreadable(`field ${tag >>> 3} has the unknown wire type ${tag & 7}`);
  }
  if (job.at > end) throw unreadable('a field reaches beyond its message');
}

function skipGroup(job: Job, number: number, end: number): void {
  deeper(job);
  for (;;) {
    if (job.at >= end) throw unreadable(`the group ${number} has no end`);
    const tag = tagOf(job);
    if ((tag & 7) !== WIRE.endGroup) skip(job, tag, end);
    else if (tag >>> 3 === number) break;
    else throw unreadable(`the group ${number} ends as ${tag >>> 3}`);
  }
  job.depth--;
}

/** Reads a tag. */
export function tagOf(job: Job): number {
  const tag = varint(job) >>> 0;
  job.tag = tag;
  if (job.hi !== 0 || tag < 8) throw unreadable('a field has the number 0 or one above 2^29 − 1');
  return tag;
}

/** One message further in. */
export function deeper(job: Job): void {
  if (++job.depth > GATEWAY_LIMITS.gatewayDepth)
    throw unreadable(`it nests deeper than ${GATEWAY_LIMITS.gatewayDepth} messages`);
}

/** What is thrown for a reply that is not what its descriptor says; the place in it is not told. */
export function unreadable(why: string, cause?: unknown): TwinlineError {
  const message = `The reply of the node cannot be read: ${why}. Compare the descriptors with the version of the node.`;
  return new TwinlineError('ERR_SERVICE', message, { reason: 'unreadable', cause });
}

/** What is thrown for a value that JSON has no way to tell. */
export function noJson(why: string): TwinlineError {
  const message = `The reply of the node cannot be told in JSON: ${why}. Call the method by gRPC.`;
  return new TwinlineError('ERR_SERVICE', message, { reason: 'no-json' });
}
