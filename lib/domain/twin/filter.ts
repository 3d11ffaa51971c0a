// The filter language of lists: `and(eq(type,"Project"),gt(properties.stoves,10))`, in the manner of RQL.
//
//   eq ne gt ge lt le (field, value)   in(field, value, …)   like(field, "text with * and ?")   exists(field)
//   and(…) or(…) not(…)
//
// A field is a path through the record, such as status, metadata.name or services.type; through a list it means any of
// its items. A value is a JSON string, number, true, false or null. Times are compared as the record shows them.

import { COMMON_LIMITS } from '../../common-limits.ts';
import { readJson } from '../../json/reader.ts';
import type { Json, JsonObject } from '../../store/store.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { refuse } from '../problems.ts';

/** A parsed filter of twins. */
export type Filter =
  | { readonly op: Comparison; readonly field: string; readonly values: readonly Scalar[] }
  | { readonly op: 'exists'; readonly field: string }
  | { readonly op: 'and' | 'or' | 'not'; readonly of: readonly Filter[] };

type Comparison = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le' | 'in' | 'like';
export type Scalar = string | number | boolean | null;

const COMPARISONS = ['eq', 'ne', 'gt', 'ge', 'lt', 'le', 'in', 'like'];
const JOINS = ['and', 'or', 'not'];
const TOKEN =
  /\s*(?:([(),])|("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_@][\w@-]*(?:\.[\w@-]+)*))/y;

interface Tokens {
  readonly texts: readonly string[];
  at: number;
  depth: number;
}

/**
 * Reads a filter; throws `bad-filter` that says where and what was expected.
 * @example
 * parseFilter('eq(name,"Tea")'); // → { op: 'eq', field: 'name', values: ['Tea'] }
 */
export function parseFilter(source: string): Filter {
  if (source.length > DOMAIN_LIMITS.filterChars)
    throw wrong(source, `is longer than ${DOMAIN_LIMITS.filterChars} characters`);
  const tokens: Tokens = { texts: listTokens(source), at: 0, depth: 0 };
  const filter = call(tokens, source);
  if (tokens.at < tokens.texts.length) throw wrong(source, `goes on after its end with ${tokens.texts[tokens.at]}`);
  return filter;
}

function listTokens(source: string): string[] {
  const found: string[] = [];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < source.trimEnd().length; ) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (!match) throw wrong(source, `cannot be read at character ${from + 1}`);
    found.push(match[0].trim());
  }
  return found;
}

function call(tokens: Tokens, source: string): Filter {
  const op = take(tokens, source, 'an operation such as eq or and');
  if (++tokens.depth > DOMAIN_LIMITS.filterDepth)
    throw wrong(source, `nests deeper than ${DOMAIN_LIMITS.filterDepth} levels`);
  expect(tokens, source, '(');
  const made = JOINS.includes(op) ? join(op as 'and', tokens, source) : comparison(op, tokens, source);
  expect(tokens, source, ')');
  tokens.depth--;
  return made;
}

function join(op: 'and' | 'or' | 'not', tokens: Tokens, source: string): Filter {
  const of = [call(tokens, source)];
  while (op !== 'not' && tokens.texts[tokens.at] === ',') {
    tokens.at++;
    of.push(call(tokens, source));
  }
  return { op, of };
}

function comparison(op: string, tokens: Tokens, source: string): Filter {
  if (op !== 'exists' && !COMPARISONS.includes(op))
    throw wrong(source, `has no operation ${op}; use ${[...COMPARISONS, 'exists', ...JOINS].join(', ')}`);
  const field = take(tokens, source, 'a field');
  if (!/^[A-Za-z_@]/.test(field)) throw wrong(source, `needs a field where it has ${field}`);
  if (op === 'exists') return { op, field };
  const values: Scalar[] = [];
  do {
    expect(tokens, source, ',');
    values.push(scalar(take(tokens, source, 'a value'), source));
  } while (op === 'in' && tokens.texts[tokens.at] === ',');
  if (op === 'like' && typeof values[0] !== 'string') throw wrong(source, 'needs a text in "…" for like');
  if (values.length > COMMON_LIMITS.valuesPerIn)
    throw wrong(source, `lists more than ${COMMON_LIMITS.valuesPerIn} values`);
  return { op: op as Comparison, field, values };
}

function scalar(text: string, source: string): Scalar {
  const reading = readJson(text);
  if ('value' in reading && (typeof reading.value !== 'object' || reading.value === null)) return reading.value;
  throw wrong(source, `needs a value such as "text", 1, true or null where it has ${text}`);
}

function take(tokens: Tokens, source: string, what: string): string {
  const text = tokens.texts[tokens.at++];
  if (text === undefined) throw wrong(source, `ends where ${what} is expected`);
  return text;
}

function expect(tokens: Tokens, source: string, text: string): void {
  const found = tokens.texts[tokens.at++];
  if (found !== text) throw wrong(source, `needs "${text}" where it ${found === undefined ? 'ends' : `has ${found}`}`);
}

function wrong(source: string, why: string) {
  const shown = source.length > 120 ? `${source.slice(0, 120)}…` : source;
  return refuse(
    'bad-filter',
    `The filter ${JSON.stringify(shown)} ${why}. Example: and(eq(type,"Project"),exists(validUntil))`,
  );
}

/**
 * Whether a record matches.
 * @example
 * matches(parseFilter('and(eq(type,"Asset"),exists(validUntil))'), { type: 'Asset', validUntil: '2030-01-01' }); // → true
 */
export function matches(filter: Filter, record: JsonObject): boolean {
  switch (filter.op) {
    case 'and':
      return filter.of.every((part) => matches(part, record));
    case 'or':
      return filter.of.some((part) => matches(part, record));
    case 'not':
      return !matches(filter.of[0]!, record);
    case 'exists':
      return valuesAt(record, filter.field).some((value) => value !== null);
    case 'ne':
      return !valuesAt(record, filter.field).some((value) => value === filter.values[0]);
    default:
      return valuesAt(record, filter.field).some((value) =>
        COMPARE[filter.op as keyof typeof COMPARE](value, filter.values),
      );
  }
}

type Compare = (value: Json, wanted: readonly Scalar[]) => boolean;

// Only values of one type have an order.
const compareOrder =
  (holds: (value: string | number, bound: string | number) => boolean): Compare =>
  (value, [bound]) =>
    typeof value === typeof bound &&
    (typeof value === 'string' || typeof value === 'number') &&
    holds(value, bound as string | number);

const COMPARE = {
  eq: (value, [wanted]) => value === wanted,
  in: (value, wanted) => wanted.includes(value as Scalar),
  gt: compareOrder((value, bound) => value > bound),
  ge: compareOrder((value, bound) => value >= bound),
  lt: compareOrder((value, bound) => value < bound),
  le: compareOrder((value, bound) => value <= bound),
  like: (value, [pattern]) => typeof value === 'string' && isLike(value, pattern as string),
} as const satisfies Record<string, Compare>;

/** All values at a path; through lists, those of every item. */
function valuesAt(record: JsonObject, field: string): Json[] {
  let found: Json[] = [record];
  for (const step of field.split('.'))
    found = found
      .flatMap((value) => (Array.isArray(value) ? value : [value]))
      .flatMap((value) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? [(value as JsonObject)[step]!] : [],
      );
  return found.flatMap((value) => (Array.isArray(value) ? value : [value]));
}

// Both ends walk once: where a star stands, what follows is tried at each later place, and only the last star matters.
function isLike(text: string, pattern: string): boolean {
  let at = 0;
  let wanted = 0;
  let star = -1;
  let retry = 0;
  while (at < text.length) {
    if (pattern[wanted] === '*') {
      star = wanted++;
      retry = at;
    } else if (wanted < pattern.length && (pattern[wanted] === '?' || pattern[wanted] === text[at])) {
      at++;
      wanted++;
    } else if (star >= 0) {
      wanted = star + 1;
      at = ++retry;
    } else return false;
  }
  while (pattern[wanted] === '*') wanted++;
  return wanted === pattern.length;
}
