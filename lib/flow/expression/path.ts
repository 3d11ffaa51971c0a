// How flows read JSON by name and position: own properties only, and never a name that leads to a prototype.

import type { Json } from '../../store/store.ts';

const REFUSED = new Set(['__proto__', 'constructor', 'prototype']);

/** Whether expressions and templates refuse `name` outright, whatever the data holds. */
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
export function kindOf(value: Json): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return { boolean: 'true or false', number: 'a number', string: 'a text' }[typeof value as string] ?? 'an object';
}
