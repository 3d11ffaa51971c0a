// The output buffer of a writer: literals, digits, strings and base64 as JSON bytes. Copies four bytes at a time, because a
// single byte costs as much.

import { isUtf8 } from 'node:buffer';
import { tooLarge, unreadableReply, type WriteState } from './wire.ts';

/** Bytes that may be written beyond the end and are overwritten later. */
const SLACK = 3;

/** Allocates at least `bytes` of output. */
export function allocate(bytes: number): Pick<WriteState, 'out' | 'outView'> {
  const out = Buffer.allocUnsafeSlow(bytes + SLACK);
  return { out, outView: new DataView(out.buffer) };
}

/** Makes room for `count` more bytes. Throws ERR_SERVICE, reason `too-large`, beyond `maxBytes`. */
export function reserve(state: WriteState, count: number): void {
  if (state.to + count + SLACK > state.out.length) grow(state, count);
}

function grow(state: WriteState, count: number): void {
  const needed = state.to + count;
  if (needed > state.maxBytes) throw tooLarge(state);
  const larger = allocate(Math.min(Math.max(needed, state.out.length * 2), Math.max(needed, state.maxBytes)));
  larger.out.set(state.out.subarray(0, state.to));
  Object.assign(state, larger);
}

/** Precomputed JSON. */
export interface Literal {
  readonly bytes: Buffer;
  readonly length: number;
  /** The bytes in groups of four. */
  readonly words: Int32Array;
}

export function createLiteral(json: string | Uint8Array): Literal {
  const bytes = Buffer.from(json as string);
  const padded = Buffer.alloc(bytes.length + SLACK);
  bytes.copy(padded);
  const words = Int32Array.from({ length: Math.ceil(bytes.length / 4) }, (_, nth) => padded.readInt32LE(nth * 4));
  return { bytes, length: bytes.length, words };
}

/** Writes precomputed JSON. */
export function writeLiteral(state: WriteState, { length, words }: Literal): void {
  reserve(state, length);
  const { outView, to } = state;
  for (let nth = 0; nth < words.length; nth++) outView.setInt32(to + nth * 4, words[nth]!, true);
  state.to = to + length;
}

/** Writes bytes that are already JSON. */
export function writeBytes(state: WriteState, json: Uint8Array): void {
  reserve(state, json.length);
  state.out.set(json, state.to);
  state.to += json.length;
}

export function writeByte(state: WriteState, code: number): void {
  reserve(state, 1);
  state.out[state.to++] = code;
}

const QUOTE = 0x22;

// 0: must be escaped, 1: plain ASCII, 2: part of a non-ASCII character.
const KIND = Uint8Array.from({ length: 256 }, (_, code) => {
  if (code >= 0x80) return 2;
  return code < 0x20 || code === QUOTE || code === 0x5c ? 0 : 1;
});

const ESCAPES: readonly (Literal | undefined)[] = Array.from({ length: 256 }, (_, code) =>
  KIND[code] === 0 ? createLiteral(JSON.stringify(String.fromCharCode(code)).slice(1, -1)) : undefined,
);

/**
 * Whether each of four bytes is plain ASCII (a SWAR test). A borrow can mark a wrong byte, but only above a correctly marked
 * one, so the combined answer is exact.
 */
function arePlain(four: number): boolean {
  const quotes = (four ^ 0x22222222) - 0x01010101;
  const slashes = (four ^ 0x5c5c5c5c) - 0x01010101;
  return ((four | (four - 0x20202020) | quotes | slashes) & 0x80808080) === 0;
}

/** Writes ASCII text that needs no escaping. */
export function writeAscii(state: WriteState, text: string): void {
  const { length } = text;
  reserve(state, length);
  const { out, to } = state;
  for (let at = 0; at < length; at++) out[to + at] = text.charCodeAt(at);
  state.to = to + length;
}

/** Writes any text as a JSON string. */
export function writeText(state: WriteState, text: string): void {
  writeBytes(state, Buffer.from(JSON.stringify(text)));
}

/** Writes a whole number from 0 to 2^53 − 1. */
export function writeDigits(state: WriteState, value: number): void {
  if (value > 0xffffffff) {
    writeAscii(state, String(value));
    return;
  }
  reserve(state, 10);
  let at = state.to + (value < 10 ? 1 : value < 100 ? 2 : value < 1000 ? 3 : String(value).length);
  const end = at;
  let left = value;
  do {
    const rest = Math.floor(left / 10);
    state.out[--at] = 48 + left - rest * 10;
    left = rest;
  } while (left > 0);
  state.to = end;
}

/** Writes `value` zero-padded to `width` digits. */
export function writePadded(state: WriteState, value: number, width: number): void {
  reserve(state, width);
  let left = value;
  for (let at = state.to + width - 1; at >= state.to; at--) {
    const rest = Math.floor(left / 10);
    state.out[at] = 48 + left - rest * 10;
    left = rest;
  }
  state.to += width;
}

/**
 * Writes the UTF-8 from `state.at` to `end` as a JSON string. Invalid UTF-8 is refused if `strict`, otherwise replaced by
 * U+FFFD.
 */
export function writeString(state: WriteState, end: number, strict: boolean): void {
  const { bytes, view, at: from } = state;
  reserve(state, end - from + 2);
  const { out, outView, to } = state;
  const shift = to + 1 - from;
  let at = from;
  for (; at + 4 <= end; at += 4) {
    const four = view.getInt32(at, true);
    if (!arePlain(four)) break;
    outView.setInt32(at + shift, four, true);
  }
  for (; at < end; at++) {
    const code = bytes[at]!;
    if (KIND[code] !== 1) break;
    out[at + shift] = code;
  }
  if (at < end) {
    writeEscaped(state, { at, end, strict });
    return;
  }
  out[to] = QUOTE;
  out[end + shift] = QUOTE;
  state.to = end + shift + 1;
  state.at = end;
}

// The slow path for escapes and non-ASCII text: everything before `at` is already written.
function writeEscaped(
  state: WriteState,
  { at: first, end, strict }: { at: number; end: number; strict: boolean },
): void {
  const { bytes } = state;
  const start = state.to;
  if (!isUtf8(bytes.subarray(first, end))) {
    writeRepaired(state, end, strict);
    return;
  }
  state.out[start] = QUOTE;
  state.to = start + 1 + first - state.at;
  for (let at = first; at < end; at++) {
    const code = bytes[at]!;
    const sequence = ESCAPES[code];
    if (sequence) writeLiteral(state, sequence);
    else writeByte(state, code);
  }
  writeByte(state, QUOTE);
  state.at = end;
}

function writeRepaired(state: WriteState, end: number, strict: boolean): void {
  if (strict) throw unreadableReply('a text is not UTF-8');
  const text = Buffer.from(state.bytes.buffer, state.bytes.byteOffset + state.at, end - state.at).toString('utf8');
  writeText(state, text);
  state.at = end;
}

const BASE64 = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');

/** Writes the bytes from `state.at` to `end` as a JSON string in padded base64. */
export function writeBase64(state: WriteState, end: number): void {
  const { bytes } = state;
  reserve(state, Math.ceil((end - state.at) / 3) * 4 + 2);
  const { out } = state;
  let { at, to } = state;
  out[to++] = QUOTE;
  for (; at + 2 < end; at += 3) {
    const three = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
    out[to++] = BASE64[three >> 18]!;
    out[to++] = BASE64[(three >> 12) & 63]!;
    out[to++] = BASE64[(three >> 6) & 63]!;
    out[to++] = BASE64[three & 63]!;
  }
  if (at < end) {
    const two = (bytes[at]! << 8) | (at + 1 < end ? bytes[at + 1]! : 0);
    out[to++] = BASE64[two >> 10]!;
    out[to++] = BASE64[(two >> 4) & 63]!;
    out[to++] = at + 1 < end ? BASE64[(two << 2) & 63]! : 61;
    out[to++] = 61;
  }
  out[to++] = QUOTE;
  state.to = to;
  state.at = end;
}
