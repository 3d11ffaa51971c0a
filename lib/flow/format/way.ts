// What flows and their screens are written with: texts, values, durations, and ways from one screen to another.

import type { Json } from '../../json/json.ts';

/** One text for all languages, or one per language. */
export type Text = string | { readonly [lang: string]: string };

/** A JSON value; a string that begins with `=` is an expression, an object with the one key `=text` a text with placeholders. */
export type Value = Json;
export type Values = { readonly [name: string]: Value };

/** What callers press to move between screens. */
export type NavigationKey = 'back' | 'home' | 'more' | 'exit';
/** Keys that an author chose; `false` takes one away. */
export type NavigationKeys = { readonly [key in NavigationKey]?: string | false };

/** One way out of a screen. The first whose `when` holds is taken; the last has no `when`. */
export interface Way {
  readonly when?: string;
  readonly set?: Values;
  readonly to: string;
  /** `to` is an input screen, whose answer is refused with these words. */
  readonly error?: Text;
  readonly track?: string;
}

/** `check.done.0`: the first way of `done` of the screen `check`. */
export const nameWay = (screen: string, slot: string, at: number): string => `${screen}.${slot}.${at}`;

const TEXT_KEY = '=text';

/** The text in a value that is one; undefined for all others. */
export function findText(value: Value): Text | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || !Object.hasOwn(value, TEXT_KEY))
    return undefined;
  const text = (value as Values)[TEXT_KEY] as Text;
  const isWords =
    typeof text === 'object' && text !== null && Object.values(text).every((one) => typeof one === 'string');
  return Object.keys(value).length === 1 && (typeof text === 'string' || isWords) ? text : undefined;
}

/** Whether a value has the key of a text, and is none. */
export const isBrokenText = (value: object): boolean =>
  Object.hasOwn(value, TEXT_KEY) && findText(value as Value) === undefined;

/** `done`, `fail` and `branch` as a list of ways: a screen id alone is one way without a condition. */
export function listWays(ways: string | readonly Way[]): readonly Way[] {
  return typeof ways === 'string' ? [{ to: ways }] : ways;
}

/** Milliseconds of `800ms`, `3s`, `2m`, `12h` or `400d`, or undefined when it is none of these. */
export function durationMs(text: string): number | undefined {
  const match = /^(\d{1,7})(ms|s|m|h|d)$/.exec(text);
  const unit = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
  return match ? Number(match[1]) * unit[match[2] as keyof typeof unit] : undefined;
}
