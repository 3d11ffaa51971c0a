// Plain values as flows read them: JSON by name and position (own properties only, never a name that leads to a prototype), decimal
// numbers as people write them, and calendar dates without a time zone.

import type { Json } from '../../json/json.ts';

const REFUSED = new Set(['__proto__', 'constructor', 'prototype']);

/** Whether expressions and templates refuse `name`, also where the data has it. */
export function isRefusedName(name: string): boolean {
  return REFUSED.has(name);
}

/** The own property `name` of an object; null when there is none, or when `value` is not an object (a list has no names). */
export function member(value: Json, name: string): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
  return Object.hasOwn(value, name) ? ((value as { [key: string]: Json })[name] ?? null) : null;
}

/** The element at `position`, from 0; null when `value` is not a list or has no such element. */
export function element(value: Json, position: number): Json {
  return Array.isArray(value) && position >= 0 && position < value.length ? (value[position] ?? null) : null;
}

/** What kind of JSON a value is, in the words of messages; shows no part of the value. */
export function nameKind(value: Json): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return { boolean: 'true or false', number: 'a number', string: 'a text' }[typeof value as string] ?? 'an object';
}

const PLAIN = /^-?\d{1,40}(?:\.\d{1,40})?$/;

/** Whether `text` is plain decimal notation: digits, at most one point with digits on both sides, an optional `-`. */
export function isDecimal(text: string): boolean {
  return PLAIN.test(text);
}

/** The number that `text` writes in plain decimal notation; undefined when it is none, or too large to be kept exactly. */
export function parseDecimal(text: string): number | undefined {
  if (!PLAIN.test(text)) return undefined;
  const value = Number(text);
  // `+ 0` turns -0 into 0, which JSON could not carry.
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value + 0 : undefined;
}

/** Rounds the decimal digits that `value` shows, half away from zero: 1.005 to 2 places is 1.01. `places` is 0 to 12. */
export function roundDecimal(value: number, places: number): number {
  // Whole numbers have no digits to round, and large ones would be too large once the point has been moved.
  if (Number.isInteger(value)) return value + 0;
  const rounded = shift(Math.round(shift(Math.abs(value), places)), -places);
  return (value < 0 ? -rounded : rounded) + 0;
}

// Moves the point in the written form, because 1.005 * 100 is 100.49999999999999.
function shift(value: number, places: number): number {
  const [digits, exponent = '0'] = String(value).split('e');
  return Number(`${digits}e${Number(exponent) + places}`);
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** `YYYY-MM-DD`, or undefined when the calendar has no such day. Years are 1 to 9999. */
export function isoDate(year: number, month: number, day: number): string | undefined {
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const last = (DAYS[month - 1] ?? 0) + (leap ? 1 : 0);
  if (!(year >= 1 && year <= 9999 && day >= 1 && day <= last)) return undefined;
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

/** The date that ISO text begins with, as it is written there; undefined when it begins with no real date. */
export function readIsoDate(text: string): string | undefined {
  const found = ISO.exec(text);
  if (!found || !/^(?:$|[T ])/.test(text.slice(10))) return undefined;
  return isoDate(Number(found[1]), Number(found[2]), Number(found[3]));
}

/** The date in UTC at `ms` milliseconds since 1970; undefined outside the years 1 to 9999. */
export function dateAt(ms: number): string | undefined {
  const date = new Date(ms);
  return isoDate(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate());
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
