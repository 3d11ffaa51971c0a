// JSON text, written as bytes: digits, quoted strings, base64.

import { isUtf8 } from 'node:buffer';
import { byte, copied, type Literal, literal, literalOf, room } from './out.ts';
import { type Job, unreadable } from './wire.ts';

const QUOTE = 0x22;

// 1: stands for itself, 0: must be escaped, 2: part of a character beyond ASCII.
const KIND = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return 2;
  return byte < 0x20 || byte === QUOTE || byte === 0x5c ? 0 : 1;
});

const ESCAPES: readonly (Literal | undefined)[] = Array.from({ length: 256 }, (_, byte) =>
  KIND[byte] === 0 ? literalOf(JSON.stringify(String.fromCharCode(byte)).slice(1, -1)) : undefined,
);

/**
 * Whether each of four bytes stands for itself. Beside one that does not, one that does may be taken for none, for the
 * subtractions borrow.
 */
function arePlain(four: number): boolean {
  const quotes = (four ^ 0x22222222) - 0x01010101;
  const slashes = (four ^ 0x5c5c5c5c) - 0x01010101;
  return ((four | (four - 0x20202020) | quotes | slashes) & 0x80808080) === 0;
}

/** Writes text of ASCII characters that need no escapes. */
export function ascii(job: Job, text: string): void {
  const { length } = text;
  room(job, length);
  const { out, to } = job;
  for (let at = 0; at < length; at++) out[to + at] = text.charCodeAt(at);
  job.to = to + length;
}

/** Writes any text as a JSON string. */
export function quotedText(job: Job, text: string): void {
  copied(job, Buffer.from(JSON.stringify(text)));
}

/** Writes a whole number from 0 to 2^53 − 1. */
export function digits(job: Job, value: number): void {
  if (value > 0xffffffff) {
    ascii(job, String(value));
    return;
  }
  room(job, 10);
  let at = job.to + (value < 10 ? 1 : value < 100 ? 2 : value < 1000 ? 3 : String(value).length);
  const end = at;
  let left = value;
  do {
    const rest = Math.floor(left / 10);
    job.out[--at] = 48 + left - rest * 10;
    left = rest;
  } while (left > 0);
  job.to = end;
}

/** Writes `value` with zeros before it, `width` digits in all. */
export function padded(job: Job, value: number, width: number): void {
  room(job, width);
  let left = value;
  for (let at = job.to + width - 1; at >= job.to; at--) {
    const rest = Math.floor(left / 10);
    job.out[at] = 48 + left - rest * 10;
    left = rest;
  }
  job.to += width;
}

/**
 * Writes the UTF-8 from `job.at` to `end` as a JSON string. Invalid UTF-8 is refused when `strict`, replaced by U+FFFD
 * when not.
 */
export function quoted(job: Job, end: number, strict: boolean): void {
  const { bytes, view, at: from } = job;
  room(job, end - from + 2);
  const { out, outView, to } = job;
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
    quotedFrom(job, { at, end, strict });
    return;
  }
  out[to] = QUOTE;
  out[end + shift] = QUOTE;
  job.to = end + shift + 1;
  job.at = end;
}

// The same where some characters are escaped or beyond ASCII: those before `at` are written already.
function quotedFrom(job: Job, { at: first, end, strict }: { at: number; end: number; strict: boolean }): void {
  const { bytes } = job;
  const start = job.to;
  if (!isUtf8(bytes.subarray(first, end))) {
    replaced(job, end, strict);
    return;
  }
  job.out[start] = QUOTE;
  job.to = start + 1 + first - job.at;
  for (let at = first; at < end; at++) {
    const code = bytes[at]!;
    const escaped = ESCAPES[code];
    if (escaped) literal(job, escaped);
    else byte(job, code);
  }
  byte(job, QUOTE);
  job.at = end;
}

function replaced(job: Job, end: number, strict: boolean): void {
  if (strict) throw unreadable('a text is not UTF-8');
  const text = Buffer.from(job.bytes.buffer, job.bytes.byteOffset + job.at, end - job.at).toString('utf8');
  quotedText(job, text);
  job.at = end;
}

const BASE64 = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');

/** Writes the bytes from `job.at` to `end` as a JSON string in base64 with padding. */
export function base64(job: Job, end: number): void {
  const { bytes } = job;
  room(job, Math.ceil((end - job.at) / 3) * 4 + 2);
  const { out } = job;
  let { at, to } = job;
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
  job.to = to;
  job.at = end;
}
