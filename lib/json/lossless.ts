// What JSON would change of a value: found before it is stored, so that it is what it was when it is read again.

import { TwinlineError } from '../errors.ts';
import type { JsonObject } from './json.ts';

/** A part that JSON drops, or reads back as something else. −0 does not count, which comes back as 0. */
export interface Loss {
  /** `form.names[2]`; '' for the value itself. */
  readonly path: string;
  /** `a Date`, `undefined`. */
  readonly what: string;
}

const DEPTH_MAX = 200;
/** Values that are looked at: more stand in no record. */
const VALUES_MAX = 1_000_000;

/** The first part of a value that JSON would change; `undefined` as a member of `value` itself is none where it is kept aside. */
export function findLoss(value: unknown, { keepsUndefined = false } = {}): Loss | undefined {
  const budget = { values: VALUES_MAX };
  if (!keepsUndefined || typeof value !== 'object' || value === null) return lossIn(value, 0, budget);
  const hasUndefined = Object.entries(value).some(([, member]) => member === undefined);
  return lossIn(
    hasUndefined ? Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) : value,
    0,
    budget,
  );
}

/** Throws ERR_INPUT where JSON would change what somebody sent, with the path of it; `what` names the value. */
export function checkPayload(what: string, value: unknown, options?: { readonly keepsUndefined: boolean }): void {
  const loss = findLoss(value, options);
  if (loss) throw new TwinlineError('ERR_INPUT', `${what} cannot be taken: it holds ${tellLoss(loss)}`);
}

const PATH_CHARS = 200;

/** The end of a sentence about a value: what JSON would change, where, and what to keep instead. */
export function tellLoss({ path, what }: Loss): string {
  const place = path && ` at "${path.slice(0, PATH_CHARS)}"`;
  return `${what}${place}, which JSON would change. Keep texts, numbers, true, false, null, lists and plain objects.`;
}

function lossIn(value: unknown, depth: number, budget: { values: number }): Loss | undefined {
  if (--budget.values < 0) return { path: '', what: `more than ${VALUES_MAX} values` };
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : { path: '', what: String(value) };
    case 'object':
      break;
    default:
      return { path: '', what: value === undefined ? 'undefined' : `a ${typeof value}` };
  }
  if (value === null) return undefined;
  if (depth > DEPTH_MAX) return { path: '', what: 'something that is nested too deep, or in itself' };
  return Array.isArray(value) ? lossInList(value, depth, budget) : lossInObject(value, depth, budget);
}

function lossInList(list: readonly unknown[], depth: number, budget: { values: number }): Loss | undefined {
  for (let at = 0; at < list.length; at++) {
    const loss = lossIn(list[at], depth + 1, budget);
    if (loss) return below(`[${at}]`, loss);
  }
  return undefined;
}

function lossInObject(value: object, depth: number, budget: { values: number }): Loss | undefined {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype && Object.getPrototypeOf(prototype) !== null)
    return { path: '', what: `a ${prototype.constructor?.name || 'value of a class'}` };
  if (Object.getOwnPropertySymbols(value).length) return { path: '', what: 'a symbol as a name' };
  for (const name in value) {
    const loss = lossIn((value as JsonObject)[name], depth + 1, budget);
    if (loss) return below(name, loss);
  }
  return undefined;
}

function below(step: string, { path, what }: Loss): Loss {
  const isStep = path === '' || path.startsWith('[');
  return { path: isStep ? `${step}${path}` : `${step}.${path}`, what };
}

/** JSON drops undefined, but a machine may tell a variable without a value from one that was never there. */
export function undefinedNames(context: JsonObject): string[] | undefined {
  let names: string[] | undefined;
  for (const name in context)
    if (context[name] === undefined) {
      names ??= [];
      names.push(name);
    }
  return names;
}

/** The variables, and these without a value. */
export function withUndefined(context: JsonObject, names: readonly string[]): JsonObject {
  const whole: Record<string, unknown> = { ...context };
  for (const name of names) whole[name] = undefined;
  return whole as JsonObject;
}
