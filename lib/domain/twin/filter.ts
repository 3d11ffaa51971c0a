// The filter language of lists: `and(eq(type,"Project"),gt(properties.stoves,10))`, in the manner of RQL.
//
//   eq ne gt ge lt le (field, value)   in(field, value, …)   like(field, "text with * and ?")   exists(field)
//   and(…) or(…) not(…)
//
// A field is a path through the record, such as status, metadata.name or services.type; through a list it means any of
// its items. A step that is more than letters, digits, _, @ and - stands in quotes: properties."CO2 (kg)". A value is a JSON
// string, number, true, false or null. Texts that are moments (RFC 3339) are compared as such.

import { COMMON_LIMITS } from '../../common-limits.ts';
import { requireGiven } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { readJson } from '../../json/reader.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { parseMoment } from '../moment.ts';
import { refuse } from '../problems.ts';
import { compileLike, type Spend } from './like.ts';

/** A parsed filter of twins. */
export type Filter =
  | { readonly op: Comparison; readonly field: string; readonly values: readonly Scalar[] }
  | { readonly op: 'exists'; readonly field: string }
  | { readonly op: 'and' | 'or' | 'not'; readonly of: readonly Filter[] };

type Comparison = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le' | 'in' | 'like';
export type Scalar = string | number | boolean | null;

const COMPARISONS = ['eq', 'ne', 'gt', 'ge', 'lt', 'le', 'in', 'like'];
const JOINS = ['and', 'or', 'not'];
const TEXT = '"(?:[^"\\\\]|\\\\.)*"';
const NAME = '[\\p{L}\\p{M}\\p{N}_@-]+';
const PATH = `(?![\\d-])${NAME}(?:\\.(?:${NAME}|${TEXT}))*`;
const TOKEN = new RegExp(`\\s*(?:[(),]|${TEXT}|${PATH}|-?\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)`, 'uy');
const STEP = new RegExp(`${NAME}|${TEXT}`, 'gu');

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
  requireGiven('read a filter', { source }, { source: 'text' });
  if (source.length > DOMAIN_LIMITS.filterChars)
    throw wrong(source, `is longer than ${DOMAIN_LIMITS.filterChars} characters`);
  const tokens: Tokens = { texts: listTokens(source), at: 0, depth: 0 };
  const filter = call(tokens, source);
  if (tokens.at < tokens.texts.length) throw wrong(source, `goes on after its end with ${tokens.texts[tokens.at]}`);
  return filter;
}

function listTokens(source: string): string[] {
  const texts: string[] = [];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < source.trimEnd().length; ) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (!match) throw wrong(source, `cannot be read at character ${from + 1}`);
    texts.push(match[0].trim());
  }
  return texts;
}

function call(tokens: Tokens, source: string): Filter {
  const op = take(tokens, source, 'an operation such as eq or and');
  if (++tokens.depth > DOMAIN_LIMITS.filterDepth)
    throw wrong(source, `nests deeper than ${DOMAIN_LIMITS.filterDepth} levels`);
  expect(tokens, source, '(');
  const filter = JOINS.includes(op) ? join(op as 'and', tokens, source) : comparison(op, tokens, source);
  expect(tokens, source, ')');
  tokens.depth--;
  return filter;
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
  if (!/^[\p{L}_@]/u.test(field)) throw wrong(source, `needs a field where it has ${field}`);
  readSteps(field);
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
  const token = tokens.texts[tokens.at++];
  if (token !== text) throw wrong(source, `needs "${text}" where it ${token === undefined ? 'ends' : `has ${token}`}`);
}

function wrong(source: string, why: string) {
  const quote = source.length > 120 ? `${source.slice(0, 120)}…` : source;
  return refuse(
    'bad-filter',
    `The filter ${JSON.stringify(quote)} ${why}. Example: and(eq(type,"Project"),exists(validUntil))`,
  );
}

/**
 * Whether a record matches.
 * @example
 * matches(parseFilter('and(eq(type,"Asset"),exists(validUntil))'), { type: 'Asset', validUntil: '2030-01-01' }); // → true
 */
export function matches(filter: Filter, record: JsonObject): boolean {
  return compileFilter(filter)(record, () => {});
}

/** Whether a record matches; `spend` hears beforehand what each of the comparisons costs. */
export type RecordCheck = (record: JsonObject, spend: Spend) => boolean;

/** The filter, ready for many records. */
export function compileFilter(filter: Filter): RecordCheck {
  if ('of' in filter) {
    const checks = filter.of.map(compileFilter);
    if (filter.op === 'and') return (record, spend) => checks.every((check) => check(record, spend));
    if (filter.op === 'or') return (record, spend) => checks.some((check) => check(record, spend));
    return (record, spend) => !checks[0]!(record, spend);
  }
  if (filter.op === 'exists') return someValue(filter.field, 1, (value) => value !== null);
  const { op, field, values } = filter;
  if (op === 'like') {
    const like = compileLike(values[0] as string);
    return someValue(field, 1, (value, spend) => typeof value === 'string' && like(value, spend));
  }
  const compare = COMPARE[op];
  const moments = values.map((operand) => readMoment(operand) ?? Number.NaN);
  const areMoments = !moments.every(Number.isNaN);
  const work = values.reduce<number>((sum, operand) => sum + 1 + String(operand).length / CHARACTERS_PER_WORK, 0);
  const check = someValue(field, work, (value) => {
    const moment = areMoments ? readMoment(value) : undefined;
    return moment === undefined ? compare(value, values) : compare(moment, moments);
  });
  return op === 'ne' ? (record, spend) => !check(record, spend) : check;
}

type Compare = (value: Json, operands: readonly Scalar[]) => boolean;

/** The moment that a text names; undefined for other values. */
export function readMoment(value: Json): number | undefined {
  const moment = typeof value === 'string' ? parseMoment(value) : Number.NaN;
  return Number.isNaN(moment) ? undefined : moment;
}

// Only values of one type have an order.
const compareOrder =
  (holds: (value: string | number, bound: string | number) => boolean): Compare =>
  (value, [bound]) =>
    typeof value === typeof bound &&
    (typeof value === 'string' || typeof value === 'number') &&
    holds(value, bound as string | number);

const isEqual: Compare = (value, [operand]) => value === operand;

const COMPARE = {
  eq: isEqual,
  ne: isEqual,
  in: (value, operands) => operands.includes(value as Scalar),
  gt: compareOrder((value, bound) => value > bound),
  ge: compareOrder((value, bound) => value >= bound),
  lt: compareOrder((value, bound) => value < bound),
  le: compareOrder((value, bound) => value <= bound),
} as const satisfies Record<string, Compare>;

/** Characters of two texts that are compared in one unit of work, and the units that finding one value takes. */
const CHARACTERS_PER_WORK = 16;
const VALUE_WORK = 12;

/** The names along the path of a field; throws `bad-filter`. */
export function readSteps(field: string): string[] {
  return Array.from(field.matchAll(STEP), ([step]) => (step.startsWith('"') ? String(scalar(step, field)) : step));
}

/** Whether a test holds for one of the values at a path; `work` is what one test costs. */
function someValue(path: string, work: number, test: (value: Json, spend: Spend) => boolean): RecordCheck {
  const steps = readSteps(path);
  return (record, spend) => {
    const values = valuesAt(record, steps, spend);
    spend(values.length * work);
    return values.some((value) => test(value, spend));
  };
}

/** All values at a path; through lists, those of every item. */
function valuesAt(record: JsonObject, steps: readonly string[], spend: Spend): readonly Json[] {
  let values: readonly Json[] = [record];
  for (const step of steps) {
    const inside: Json[] = [];
    for (const value of flatten(values, spend))
      if (typeof value === 'object' && value !== null && Object.hasOwn(value, step))
        inside.push((value as JsonObject)[step]!);
    values = inside;
  }
  return flatten(values, spend);
}

/** The values, and in place of each list its items. */
function flatten(values: readonly Json[], spend: Spend): readonly Json[] {
  const lengths = values.map((value) => (Array.isArray(value) ? value.length : 1));
  spend(VALUE_WORK * lengths.reduce((sum, length) => sum + length, 0));
  const flat: Json[] = [];
  for (const value of values)
    if (!Array.isArray(value)) flat.push(value);
    else for (const item of value) flat.push(item);
  return flat;
}
