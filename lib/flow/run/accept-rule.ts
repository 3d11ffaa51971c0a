// What the rules of `accept` share: their settings, who answers, and bounds.

import type { Json, JsonObject } from '../../json/json.ts';
import { suggest } from '../expression/suggest.ts';

/** Who answers: the language, for numbers, and the time zone, for days. */
export interface Caller {
  readonly lang: string;
  readonly zone?: string | undefined;
  /** What the expressions of `min` and `max` give; without it they are not looked at. */
  readonly bounds?: Bounds | undefined;
}

/** `min` and `max` of the rules `number` and `date`: as they are written, or what their expressions give. */
export interface Bounds {
  readonly min?: Json;
  readonly max?: Json;
}

/** The bounds of a rule, as they are written. */
export function listBounds({ number, date }: JsonObject): Bounds {
  const { min, max } = ((number ?? date ?? {}) === true ? {} : (number ?? date ?? {})) as Bounds;
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
}

export const isComputed = (bound: Json): boolean => typeof bound === 'string' && bound.startsWith('=');

/** The value for a trimmed text, or undefined to refuse it. */
export type AcceptCheck = (text: string, now: number, caller: Caller) => Json | undefined;
/** Aborts the compilation: what is wrong with the rule, and how to fix it. */
export type Refuse = (problem: string) => never;
export type AcceptRule = (setting: Json, refuse: Refuse) => AcceptCheck;

/** The settings of a rule; refuses anything but an object and, with a suggestion, settings not in `formats`. */
export function readSettings(setting: Json, formats: readonly string[], refuse: Refuse): JsonObject {
  if (setting === true) return {};
  const how = `Write true, or an object of: ${formats.join(', ')}`;
  if (setting === null || typeof setting !== 'object' || Array.isArray(setting)) return refuse(how);
  for (const name of Object.keys(setting)) {
    if (!formats.includes(name)) refuse(`it has no "${name}".${suggest(name, formats)} ${how}`);
  }
  return setting as JsonObject;
}
