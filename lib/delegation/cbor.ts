// Strict reader of canonical DAG-CBOR: refuses bytes that the canonical encoder would write differently.

import * as links from '@ucanto/core/link';

/** A CID as an object, which JSON writes as `{"/": "bafy…"}`. */
// The declarations of that module leave out what it passes on.
export const { decode: decodeLink } = links as unknown as { decode(cid: Uint8Array): { toString(): string } };

export interface CborLink {
  readonly cid: Uint8Array;
}

export type CborMap = ReadonlyMap<string, CborValue>;
export type CborValue = null | boolean | number | string | Uint8Array | CborLink | readonly CborValue[] | CborMap;

const DEPTH = 16;
// Bounds the work of whoever processes the value, which exceeds that of parsing it.
const VALUES = 512;
const LINK_TAG = 42;
// CIDv1, DAG-CBOR or raw, SHA-256: 36 bytes after the zero byte of a link.
const LINK_BYTES = 37;
const TEXT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// UCANs are signed as DAG-JSON, where a map with the key "/" reads like a link or bytes, and `__proto__` gets lost.
const RESERVED_KEYS = new Set(['/', '__proto__']);

type ItemReader = (argument: number, cursor: Cursor) => CborValue | undefined;

interface Cursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  at: number;
  depth: number;
  values: number;
}

/**
 * The value of `bytes`; undefined unless they are exactly one value in canonical form: shortest lengths, sorted and
 * unique text keys, valid UTF-8 without a byte-order mark, no tags except links, no indefinite lengths. Stricter than
 * DAG-CBOR where tokens need no more: numbers are safe integers or fractions, links are CIDv1 with SHA-256, at most 16
 * levels and 512 values.
 */
export function readCanonical(bytes: Uint8Array): CborValue | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cursor: Cursor = { bytes, view, at: 0, depth: 0, values: 0 };
  const value = readValue(cursor);
  return cursor.at === bytes.length ? value : undefined;
}

// By major type.
const READERS: readonly ItemReader[] = [
  (argument) => argument,
  (argument) => (argument < Number.MAX_SAFE_INTEGER ? -1 - argument : undefined),
  (length, cursor) => take(cursor, length),
  (length, cursor) => readText(take(cursor, length)),
  readList,
  readMap,
  readLink,
];

function readValue(cursor: Cursor): CborValue | undefined {
  const first = cursor.bytes[cursor.at++];
  if (first === undefined || ++cursor.values > VALUES) return undefined;
  const major = first >> 5;
  if (major === 7) return readSimple(first, cursor);
  const argument = readArgument(first & 0x1f, cursor);
  return argument === undefined ? undefined : READERS[major]!(argument, cursor);
}

// The number after the first byte, in its shortest form and at most a safe integer.
function readArgument(info: number, cursor: Cursor): number | undefined {
  if (info < 24) return info;
  if (info > 27) return undefined;
  const size = 1 << (info - 24);
  const { view, at } = cursor;
  if (at + size > view.byteLength) return undefined;
  cursor.at += size;
  if (size === 1) return atLeast(24, view.getUint8(at));
  if (size === 2) return atLeast(0x100, view.getUint16(at));
  if (size === 4) return atLeast(0x1_0000, view.getUint32(at));
  const value = view.getUint32(at) * 0x1_0000_0000 + view.getUint32(at + 4);
  return value <= Number.MAX_SAFE_INTEGER ? atLeast(0x1_0000_0000, value) : undefined;
}

function atLeast(least: number, value: number): number | undefined {
  return value >= least ? value : undefined;
}

function take(cursor: Cursor, length: number): Uint8Array | undefined {
  if (length > cursor.bytes.length - cursor.at) return undefined;
  cursor.at += length;
  return cursor.bytes.subarray(cursor.at - length, cursor.at);
}

function readText(bytes: Uint8Array | undefined): string | undefined {
  try {
    const text = bytes && TEXT.decode(bytes);
    // Other decoders drop a byte-order mark and would verify the signature over different bytes.
    return text?.startsWith('\ufeff') ? undefined : text;
  } catch {
    return undefined;
  }
}

// The claimed length needs no bound: reading stops at the first missing value.
function readList(length: number, cursor: Cursor): CborValue | undefined {
  if (++cursor.depth > DEPTH) return undefined;
  const list: CborValue[] = [];
  for (let at = 0; at < length; at++) {
    const value = readValue(cursor);
    if (value === undefined) return undefined;
    list.push(value);
  }
  cursor.depth--;
  return list;
}

function readMap(length: number, cursor: Cursor): CborValue | undefined {
  if (++cursor.depth > DEPTH) return undefined;
  const map = new Map<string, CborValue>();
  let last: Uint8Array | undefined;
  for (let at = 0; at < length; at++) {
    const key = readKey(cursor);
    if (!key || (last && !inOrder(last, key.bytes))) return undefined;
    const value = readValue(cursor);
    if (value === undefined) return undefined;
    map.set(key.text, value);
    last = key.bytes;
  }
  cursor.depth--;
  return map;
}

function readKey(cursor: Cursor): { text: string; bytes: Uint8Array } | undefined {
  const first = cursor.bytes[cursor.at++];
  if (first === undefined || first >> 5 !== 3) return undefined;
  const length = readArgument(first & 0x1f, cursor);
  const bytes = length === undefined ? undefined : take(cursor, length);
  const text = readText(bytes);
  return text === undefined || RESERVED_KEYS.has(text) ? undefined : { text, bytes: bytes! };
}

// Shorter keys first, then bytewise; equal keys are out of order.
function inOrder(before: Uint8Array, after: Uint8Array): boolean {
  return (before.length - after.length || Buffer.compare(before, after)) < 0;
}

function readLink(tag: number, cursor: Cursor): CborValue | undefined {
  const value = tag === LINK_TAG ? readValue(cursor) : undefined;
  if (!(value instanceof Uint8Array) || value.length !== LINK_BYTES) return undefined;
  const [zero, version, codec, hash, size] = value;
  const isSupported = zero === 0 && version === 1 && (codec === 0x71 || codec === 0x55) && hash === 0x12 && size === 32;
  return isSupported ? { cid: value.subarray(1) } : undefined;
}

function readSimple(first: number, cursor: Cursor): CborValue | undefined {
  if (first === 0xf4 || first === 0xf5) return first === 0xf5;
  if (first === 0xf6) return null;
  if (first !== 0xfb || cursor.at + 8 > cursor.view.byteLength) return undefined;
  const value = cursor.view.getFloat64(cursor.at);
  cursor.at += 8;
  return Number.isFinite(value) && !Number.isInteger(value) ? value : undefined;
}
