// Reads JSON texts at every door, and refuses those that cannot be stored or traversed exactly as they were sent.

import { COMMON_LIMITS } from '../common-limits.ts';
import { isWellFormed } from '../given.ts';
import type { Json, JsonObject } from './json.ts';

/** Why a text or a value cannot be taken. */
export interface JsonFlaw {
  readonly kind: 'syntax' | 'encoding' | 'text' | 'depth' | 'name' | 'number';
  /** The end of a sentence about the text; shows no part of it. */
  readonly words: string;
  /** Where, as a JSON pointer; '' is the whole value. */
  readonly pointer: string;
}

export type JsonReading = { readonly value: Json } | { readonly flaw: JsonFlaw };

// Names are as long as their sender wants.
const POINTER_CHARS = 200;

const SYNTAX: JsonFlaw = { kind: 'syntax', words: 'is no valid JSON', pointer: '' };
// The decoder writes U+FFFD in the place of bytes that are no UTF-8.
const ENCODING: JsonFlaw = {
  kind: 'encoding',
  words: 'is not UTF-8, or holds the replacement character U+FFFD',
  pointer: '',
};
const TEXT = { kind: 'text', words: 'has a text with the character U+0000 or half of a surrogate pair' } as const;
const NAME = { kind: 'name', words: 'has the name __proto__, which is not allowed' } as const;
const TWICE = { kind: 'name', words: 'has an object with the same name twice' } as const;
const DEPTH = { kind: 'depth', words: `nests deeper than ${COMMON_LIMITS.jsonBodyDepth} levels` } as const;
const HUGE = { kind: 'number', words: 'has a number that is too large' } as const;
const TINY = { kind: 'number', words: 'has a number so small that it would become 0' } as const;
const ROUNDED = {
  kind: 'number',
  words: 'has a number beyond 2^53 that would be rounded; send it as a string',
} as const;

// What makes a closer look necessary; without these marks, texts, names and numbers are sound.
const TEXT_MARK = /\\u(?:0000|d[89a-f])/i;
const NAME_MARK = /__proto__|\\u00(?:5f|70|72|6f|74)/i;
// Numbers of 15 digits or fewer are never rounded, wherever their point is.
const NUMBER_MARK = /\d[\d.]{15}|e[+-]?\d{3}/i;
// A number that becomes 0 has an exponent below -99, or some 200 zeros and more.
const TINY_MARK = /e-\d{3}|0{200}/i;
const NAME_END = /"\s*:/g;
const SPACED_NAME_END = /"\s+:/;

/**
 * Reads a text. Refused: what is no JSON, bytes that were no UTF-8, more than COMMON_LIMITS.jsonBodyDepth levels, U+0000 and
 * halves of surrogate pairs, the name `__proto__`, the same name twice in an object, numbers beyond ±1.8e308 or so small that
 * they would become 0, and numbers beyond 2^53 that would be rounded. -0 is taken as 0, which is the same number.
 */
export function readJson(text: string): JsonReading {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    return { flaw: SYNTAX };
  }
  const flaw = flawOfJson(text, value);
  return flaw ? { flaw } : { value };
}

/** What is wrong with a text that JSON.parse, or a library, has read into `value`; undefined when nothing is. */
export function flawOfJson(text: string, value: Json): JsonFlaw | undefined {
  if (text.includes('\ufffd')) return ENCODING;
  const looks = { ...NO_LOOKS, texts: TEXT_MARK.test(text), names: NAME_MARK.test(text) };
  const flaw = flawIn(value, 1, looks);
  if (flaw) return flaw;
  // JSON.parse keeps the last member of a name. Texts that look like names make it count too many, never too few.
  const hasFewer = countNames(text) > looks.members;
  const isDoubtful = looks.large || (looks.zero && TINY_MARK.test(text));
  return hasFewer || isDoubtful ? scanFlaw(text, { names: hasFewer }) : undefined;
}

function countNames(text: string): number {
  // Most writers put no space there, and a plain search is four times as fast.
  if (SPACED_NAME_END.test(text)) return countSpacedNames(text);
  let count = 0;
  for (let at = text.indexOf('":'); at >= 0; at = text.indexOf('":', at + 2)) count++;
  return count;
}

function countSpacedNames(text: string): number {
  let count = 0;
  for (NAME_END.lastIndex = 0; NAME_END.test(text); ) count++;
  return count;
}

/** The first number in a JSON text that could not be kept as it was sent; undefined when there is none. */
export function flawOfNumbers(text: string): JsonFlaw | undefined {
  return NUMBER_MARK.test(text) ? scanFlaw(text, { names: false }) : undefined;
}

/**
 * The first name that an object has twice, or number that could not be kept, in a text that is known to be JSON. Whole numbers
 * beyond 2^53 must be exact to the last digit, for readers who take them as integers of 64 bits.
 */
export function flawOfExactJson(text: string): JsonFlaw | undefined {
  return scanFlaw(text, { names: true, isExact: true });
}

/** Whether it is a name that an object has twice. */
export function isRepeat({ words }: JsonFlaw): boolean {
  return words === TWICE.words;
}

/** The words of a flaw with its place. */
export function wordsAt({ words, pointer }: JsonFlaw): string {
  return pointer === '' ? words : `${words}, at ${pointer.slice(0, POINTER_CHARS)}`;
}

/** What is wrong with a value that was read elsewhere, such as the payload of a socket; undefined when nothing is. */
export function flawOfValue(value: Json): JsonFlaw | undefined {
  return flawIn(value, 1, { ...NO_LOOKS, texts: true, names: true, numbers: true });
}

/** The same for a value that was made of values which were read here. */
export function flawOfMade(value: Json): JsonFlaw | undefined {
  return flawIn(value, 1, { ...NO_LOOKS, names: true });
}

interface Looks {
  readonly texts: boolean;
  readonly names: boolean;
  readonly numbers: boolean;
  /** Members of objects that were seen. */
  members: number;
  /** Numbers that were seen: 0, which may have been a tiny one, and those beyond 2^53. */
  zero: boolean;
  large: boolean;
}

const NO_LOOKS: Looks = { texts: false, names: false, numbers: false, members: 0, zero: false, large: false };

function flawIn(value: Json, depth: number, looks: Looks): JsonFlaw | undefined {
  if (isPlain(value, looks)) return undefined;
  if (typeof value === 'string') return isSound(value) ? undefined : { ...TEXT, pointer: '' };
  if (typeof value === 'number') {
    const flaw = flawOfReadNumber(value);
    return flaw && { ...flaw, pointer: '' };
  }
  if (ArrayBuffer.isView(value)) return undefined;
  if (depth > COMMON_LIMITS.jsonBodyDepth) return { ...DEPTH, pointer: '' };
  return Array.isArray(value) ? flawInList(value, depth, looks) : flawInObject(value as JsonObject, depth, looks);
}

function flawInList(list: readonly Json[], depth: number, looks: Looks): JsonFlaw | undefined {
  for (let at = 0; at < list.length; at++) {
    const item = list[at]!;
    const flaw = isPlain(item, looks) ? undefined : flawIn(item, depth + 1, looks);
    if (flaw) return below(flaw, String(at));
  }
  return undefined;
}

function flawInObject(object: JsonObject, depth: number, looks: Looks): JsonFlaw | undefined {
  for (const name in object) {
    looks.members++;
    if (looks.names && name === '__proto__') return { ...NAME, pointer: '/__proto__' };
    if (looks.texts && !isSound(name)) return { ...TEXT, pointer: '' };
    const item = object[name]!;
    const flaw = isPlain(item, looks) ? undefined : flawIn(item, depth + 1, looks);
    if (flaw) return below(flaw, name);
  }
  return undefined;
}

/** True for a value that nothing more is looked for in; notes what a number may hide. */
function isPlain(value: Json, looks: Looks): boolean {
  switch (typeof value) {
    case 'string':
      return !looks.texts;
    case 'number':
      if (looks.numbers) return false;
      if (value === 0) looks.zero = true;
      else if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) looks.large = true;
      return true;
    case 'object':
      return value === null;
    default:
      return true;
  }
}

// The place of what is too deep says nothing, and is as long as its sender wants.
function below(flaw: JsonFlaw, step: string): JsonFlaw {
  return flaw.kind === 'depth' ? flaw : { ...flaw, pointer: `/${escapeStep(step)}${flaw.pointer}` };
}

function isSound(text: string): boolean {
  return isWellFormed(text) && !text.includes('\0');
}

/** A list or object that the scan is in, and where in it. */
interface OpenValue {
  readonly isList: boolean;
  index: number;
  /** The name of the present member, with its quotation marks. */
  name: string;
  /** Whether the next string is a name. */
  expectsName: boolean;
  /** The names so far, where they are asked for. */
  readonly names: Set<string> | undefined;
}

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

// What the value does not show: the source of a number, and names that came before. The text is known to be JSON.
function scanFlaw(text: string, looks: { readonly names: boolean; readonly isExact?: boolean }): JsonFlaw | undefined {
  const frames: OpenValue[] = [];
  for (let at = 0; at < text.length; at++) {
    const frame = frames.at(-1);
    const character = text[at]!;
    if (character === '"') {
      const end = endOfString(text, at);
      if (frame?.expectsName) {
        frame.name = text.slice(at, end);
        frame.expectsName = false;
        if (frame.names && !isNewName(frame.names, frame.name))
          return { ...TWICE, pointer: frames.map(pointerStep).join('') };
      }
      at = end - 1;
    } else if (character === '{' || character === '[') {
      const isList = character === '[';
      const names = looks.names && !isList ? new Set<string>() : undefined;
      frames.push({ isList, index: 0, name: '""', expectsName: !isList, names });
    } else if (character === '}' || character === ']') frames.pop();
    else if (character === ',' && frame) {
      frame.index++;
      frame.expectsName = !frame.isList;
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      NUMBER.lastIndex = at;
      const [source] = NUMBER.exec(text)!;
      const flaw = flawOfNumber(source, looks.isExact);
      if (flaw) return { ...flaw, pointer: frames.map(pointerStep).join('') };
      at += source.length - 1;
    }
  }
  return undefined;
}

/** Notes a name as it is written; false when it was there already, perhaps with other escapes. */
function isNewName(names: Set<string>, source: string): boolean {
  const before = names.size;
  names.add(source.includes('\\') ? JSON.stringify(JSON.parse(source)) : source);
  return names.size > before;
}

function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
}

function flawOfNumber(source: string, isExact = false) {
  const value = Number(source);
  if (!Number.isFinite(value)) return HUGE;
  if (value === 0) return /^[^eE]*[1-9]/.test(source) ? TINY : undefined;
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return undefined;
  const isInteger = /^-?\d+$/.test(source);
  if (isInteger && BigInt(source) === BigInt(value)) return undefined;
  // The digits that JSON.stringify writes of it, though not exact, are read as the same number again.
  const isKept = !(isInteger && isExact) && normalizeNumber(String(value)) === normalizeNumber(source);
  return isKept ? undefined : ROUNDED;
}

// Its source is not known: what may have been rounded counts as rounded.
function flawOfReadNumber(value: number) {
  if (!Number.isFinite(value)) return HUGE;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? ROUNDED : undefined;
}

/** A number without zeros at its ends, with its exponent: the same text for the same number, however it is written. */
function normalizeNumber(source: string): string {
  const [, whole, fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(source)!;
  const digits = (whole! + fraction).replace(/^0+/, '');
  // A pattern would look at each of many zeros again and again.
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return `${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

function pointerStep({ isList, index, name }: OpenValue): string {
  return `/${isList ? index : escapeStep(JSON.parse(name) as string)}`;
}

/** One step as it is written in a JSON Pointer. */
export function escapeStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}
