// Text and JSON that stores and frames can carry: no lone surrogates, and bounded in size.

import type { Json } from '../json/json.ts';
import { AGENT_LIMITS } from './limits.ts';

// ES2024: every supported Node has it, but the compiler's lib does not yet.
type Es2024String = string & { toWellFormed(): string };

export function wellFormedText(text: string): string {
  return (text as Es2024String).toWellFormed();
}

export function wellFormed(value: Json): Json {
  if (typeof value === 'string') return wellFormedText(value);
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [wellFormedText(name), wellFormed(inner)]));
}

/** Splits text into pieces of at most `most` UTF-16 units, between characters. */
export function splitText(text: string, most: number): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + most, text.length);
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to--;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

/** Whether a UTF-16 unit is the first of a surrogate pair. */
export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

/** A value as JSON; if it exceeds AGENT_LIMITS.frameJsonBytes, only its size. */
export function shortJson(value: Json): string {
  const text = JSON.stringify(wellFormed(value));
  const bytes = Buffer.byteLength(text);
  return bytes <= AGENT_LIMITS.frameJsonBytes ? text : JSON.stringify({ tooLong: true, bytes });
}

/** The beginning of a result that is too long, with its length. */
export function cutResult(text: string, chars: number): Json {
  const beginning = wellFormedText(text.slice(0, chars));
  return { cut: `The result has ${text.length} characters; these are the first.`, beginning };
}

/** Whether the value nests at most so many levels deep; deeper values could overflow the stack of recursive code. */
export function fitsLevels(value: Json, levels: number): boolean {
  let parts: Json[] = [value];
  for (let level = 0; parts.length; level++) {
    if (level > levels) return false;
    parts = parts.flatMap((part) => (typeof part === 'object' && part !== null ? (Object.values(part) as Json[]) : []));
  }
  return true;
}

/** Whether the value takes at most so many bytes of JSON. */
export function fitsJson(value: Json, bytes: number): boolean {
  return Buffer.byteLength(JSON.stringify(value)) <= bytes;
}
