// Plain values in flows: JSON by name and index (own properties only, never one that leads to a prototype), digits and decimal
// numbers as people write them, and texts by characters.

import type { Json } from '../../json/json.ts';

const REFUSED = new Set(['__proto__', 'constructor', 'prototype']);

/** Whether expressions and templates reject `name`, even if the data has it. */
export function isRefusedName(name: string): boolean {
  return REFUSED.has(name);
}

/** The own property `name`; null if missing, or if `value` is not an object (lists have no names). */
export function member(value: Json, name: string): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
  return Object.hasOwn(value, name) ? ((value as { [key: string]: Json })[name] ?? null) : null;
}

/** The element at `position`, from 0; null if missing, or if `value` is not a list. */
export function element(value: Json, position: number): Json {
  return Array.isArray(value) && position >= 0 && position < value.length ? (value[position] ?? null) : null;
}

/** The JSON kind of a value, for messages; reveals no part of the value. */
export function nameKind(value: Json): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return { boolean: 'true or false', number: 'a number', string: 'a text' }[typeof value as string] ?? 'an object';
}

const PLAIN = /^-?\d{1,40}(?:\.\d{1,40})?$/;

/** Whether `text` is plain decimal notation: digits, optionally a decimal point between digits, and a leading `-`. */
export function isDecimal(text: string): boolean {
  return PLAIN.test(text);
}

/** Parses plain decimal notation; undefined if invalid, or too large to be represented exactly. */
export function parseDecimal(text: string): number | undefined {
  if (!PLAIN.test(text)) return undefined;
  const value = Number(text);
  // `+ 0` turns -0 into 0, because JSON cannot represent -0.
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value + 0 : undefined;
}

const NOT_ASCII = /[\u0080-\uffff]/;
const OTHER_DIGIT = /(?![0-9])\p{Nd}/gu;
const DIGIT = /^\p{Nd}$/u;

/** The same text with the digits of every script as 0–9: phones set to Arabic send `٤٢` for 42. */
export function toAsciiDigits(text: string): string {
  return NOT_ASCII.test(text) ? text.replace(OTHER_DIGIT, toAsciiDigit) : text;
}

// Unicode has the digits of a script in order, 0 first; some of these rows of ten follow each other.
function toAsciiDigit(sign: string): string {
  const code = sign.codePointAt(0)!;
  let zero = code;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero--;
  return String((code - zero) % 10);
}

/**
 * Plain decimal notation for a number as people type it in a language: with its decimal sign and its groups of thousands, in
 * digits of any script. `1.000` is `1000` in German, `1.000` in English, and either in French, which has no point: undefined there,
 * as for everything that is not a number.
 */
export function toPlainDecimal(text: string, lang: string): string | undefined {
  if (WHOLE.test(text)) return text;
  const digits = toAsciiDigits(text.replace(INVISIBLE, '').replace('\u2212', '-'));
  const { grouped, plain } = numberForms(lang);
  const isGrouped = grouped.test(digits);
  const found = (isGrouped ? grouped : plain).exec(digits)?.groups;
  if (!found) return undefined;
  const whole = isGrouped ? found.whole!.replace(/[^\d-]/g, '') : found.whole!;
  return found.part === undefined ? whole : `${whole}.${found.part}`;
}

const WHOLE = /^-?\d{1,40}$/;
const INVISIBLE = /[\u200e\u200f\u061c]/g;

interface NumberForms {
  readonly grouped: RegExp;
  readonly plain: RegExp;
}

// Languages may come from data, so the cache is bounded.
const FORMS_KEPT = 200;
const formsByLang = new Map<string, NumberForms>();

function numberForms(lang: string): NumberForms {
  const before = formsByLang.get(lang);
  if (before) return before;
  const parts = makeFormatter(lang).formatToParts(1234567.5);
  const findSign = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  const [decimal, group] = [findSign('decimal'), findSign('group')].map((sign) => sign.replace(/[^.,]/, '')) as [
    string,
    string,
  ];
  // Spaces and apostrophes only ever group; the Arabic signs mean one thing everywhere.
  const groups = `[\\s'\u2019\u066c${group}]`;
  const part = `(?:[\u066b${decimal}](?<part>\\d{1,40}))?$`;
  // A keypad may have the point alone, so it is a decimal sign in all languages, but not where it may part thousands.
  const unclear = decimal === ',' ? '(?!-?\\d{1,3}\\.\\d{3}$)' : '';
  const forms = {
    grouped: new RegExp(`^(?<whole>-?\\d{1,3}(?:(?<group>${groups})(?:\\d{2,3}\\k<group>)*\\d{3}))${part}`),
    plain: new RegExp(`^${unclear}(?<whole>-?\\d{1,40})${part.replace('[', '[.')}`),
  };
  if (formsByLang.size >= FORMS_KEPT) formsByLang.clear();
  formsByLang.set(lang, forms);
  return forms;
}

function makeFormatter(lang: string): Intl.NumberFormat {
  try {
    return new Intl.NumberFormat([lang, 'en'], { useGrouping: 'always', numberingSystem: 'latn' });
  } catch {
    return new Intl.NumberFormat('en');
  }
}

const NUMBER = /-?(?:\d[\d,]*(?:\.\d+)?|(?<![^\W_])\.\d+)/g;

/** The first number that stands in a text, with `,` between thousands and a decimal point; undefined if there is none. */
export function findNumber(text: string): number | undefined {
  for (const [found] of toAsciiDigits(text).matchAll(NUMBER)) {
    const value = parseDecimal(found.replaceAll(',', '').replace(/^(-?)\./, '$10.'));
    if (value !== undefined) return value;
  }
  return undefined;
}

// Characters as readers see them: é is one however it is written, and so are a Thai letter with its tone mark and a family emoji.
// Unicode calls them grapheme clusters (UAX 29).

// Below U+0300 every code unit is a character of its own and composed already, apart from CR LF.
const MAY_JOIN = /[\u0300-\uffff]/;

/** The same text in composed form (NFC). Decomposed letters are not in the alphabet of phones, and equal none that are. */
export function composeText(text: string): string {
  return MAY_JOIN.test(text) ? text.normalize('NFC') : text;
}

let segmenter: Intl.Segmenter | undefined;

function segment(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** The last border between two characters that is not behind the offset `at`, in UTF-16 units. */
export function findBorder(text: string, at: number): number {
  if (at >= text.length) return text.length;
  return MAY_JOIN.test(text) ? segment(text).containing(at)!.index : at;
}

/** The first `count` characters. What is behind them costs nothing: a service may answer long texts. */
export function takeFirst(text: string, count: number): string {
  if (text.length <= count) return text;
  if (!MAY_JOIN.test(text)) return text.slice(0, count);
  let taken = 0;
  for (const { index } of segment(text)) if (taken++ === count) return text.slice(0, index);
  return text;
}

/** The last characters, at most `count`. */
export function listLast(text: string, count: number): string[] {
  const segments = segment(text);
  const characters: string[] = [];
  for (let end = text.length; end > 0 && characters.length < count; ) {
    const { index } = segments.containing(end - 1)!;
    characters.unshift(text.slice(index, end));
    end = index;
  }
  return characters;
}

/** Number of Unicode code points in `text`. */
export function countCharacters(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) if (text.codePointAt(at)! > 0xffff) pairs++;
  return text.length - pairs;
}

/** Whether both are the same plain value. No conversion; lists and objects are never equal, not even to themselves. */
export function isSame(left: Json, right: Json): boolean {
  return left === right && (typeof left !== 'object' || left === null);
}
