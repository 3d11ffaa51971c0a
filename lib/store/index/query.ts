// A query against one declared kind, planned: which index serves it and which stretches of that index to walk.

import { createHash } from 'node:crypto';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import { checkLimit, isWellFormed } from '../../given.ts';
import type { Condition, IndexValue, Query } from '../store.ts';
import {
  above,
  type Declared,
  type Index,
  type Interval,
  isList,
  next,
  sameType,
  startingWith,
  stringsFrom,
  valueKey,
} from './kinds.ts';

/** How to answer a query: walk the stretches one after another, take `limit`, and say where the rest begins. */
export interface Plan<I extends Index = Index> {
  /** Undefined: by id. */
  readonly index: I | undefined;
  /** On the index's first fields, in their order, checked. */
  readonly conditions: readonly (readonly [field: string, condition: Condition])[];
  /** The index key that the query's cursor was made with. */
  readonly after: Buffer | undefined;
  /** Stretches of index keys in walking order, cut off where the cursor says. */
  readonly stretches: readonly Interval[];
  readonly descending: boolean;
  readonly limit: number;
  /** The cursor of a page whose last index key is `key`. */
  cursorAt(key: Buffer): string;
}

type Range = Exclude<Condition, IndexValue | { in: unknown } | { prefix: unknown }>;

const EVERYTHING: Interval = startingWith(Buffer.alloc(0));
const BOUNDS = new Set(['gt', 'gte', 'lt', 'lte']);
const PRINT_BYTES = 6;

/** Plans `query`; throws ERR_INPUT when the index cannot serve it, or a condition, the limit or the cursor is malformed. */
export function planQuery<I extends Index>(kind: Declared<I>, query: Query = {}): Plan<I> {
  const { index: name, where = {}, descending = false, limit = 100, cursor } = query;
  checkLimit(limit, COMMON_LIMITS.pageSizeMax);
  const index = name === undefined ? undefined : kind.indexes.get(name);
  if (name !== undefined && !index) throw refuse(kind, `it declares no index ${JSON.stringify(name)}`);
  const conditions = inOrder(kind, index, where);
  let stretches = listIntervals(kind, conditions);
  if (descending) stretches.reverse();
  const print = () => fingerprint([kind.name, name ?? null, conditions, descending]);
  const after = cursor === undefined ? undefined : readCursor(cursor, print());
  if (after) stretches = cutOff(stretches, { after, descending });
  return {
    index,
    conditions,
    after,
    stretches,
    descending,
    limit,
    cursorAt: (key) => Buffer.concat([print(), key]).toString('base64url'),
  };
}

// The conditions in the order of the index's fields; anything that these fields do not cover from the left is refused.
function inOrder(kind: Declared, index: Index | undefined, where: NonNullable<Query['where']>): [string, Condition][] {
  const names = Object.keys(where);
  const fields = index?.fields.slice(0, names.length) ?? [];
  const stray = names.find((field) => !fields.includes(field));
  if (stray !== undefined)
    throw refuse(
      kind,
      `field ${JSON.stringify(stray)} is not among the first fields of ${index ? `index "${index.name}"` : 'an index'}`,
    );
  const list = index?.fields.find(isList);
  // Otherwise a document would be found once for every element that matches.
  if (list !== undefined && !(names.includes(list) && isValue(where[list]!)))
    throw refuse(kind, `index "${index!.name}" holds the elements of "${list}", so one element must be asked for`);
  return fields.map((field) => [field, where[field]!]);
}

function listIntervals(kind: Declared, conditions: readonly (readonly [string, Condition])[]): Interval[] {
  let prefix = Buffer.alloc(0);
  for (const [at, [field, condition]] of conditions.entries()) {
    if (isValue(condition)) prefix = Buffer.concat([prefix, valueKey(condition)]);
    else if (at < conditions.length - 1) throw refuse(kind, `only the last condition may be a range, not "${field}"`);
    else return listRanges(prefix, condition) ?? fail(kind, field);
  }
  return prefix.length ? [startingWith(prefix)] : [EVERYTHING];
}

/** Undefined when the condition is malformed. */
function listRanges(prefix: Buffer, condition: Exclude<Condition, IndexValue>): Interval[] | undefined {
  if (typeof condition !== 'object') return undefined;
  const names = Object.keys(condition);
  if ('in' in condition && names.length === 1) return listPoints(prefix, condition.in);
  if ('prefix' in condition && names.length === 1)
    return isText(condition.prefix) ? [stringsFrom(prefix, condition.prefix)] : undefined;
  return names.length > 0 && names.every((name) => BOUNDS.has(name))
    ? listRange(prefix, condition as Range)
    : undefined;
}

function listPoints(prefix: Buffer, values: readonly IndexValue[]): Interval[] | undefined {
  if (!Array.isArray(values) || values.length > COMMON_LIMITS.valuesPerIn || !values.every(isValue)) return undefined;
  const keys = new Map(values.map((value) => [valueKey(value).toString('latin1'), valueKey(value)]));
  return [...keys.values()].sort(Buffer.compare).map((key) => startingWith(Buffer.concat([prefix, key])));
}

function listRange(prefix: Buffer, { gt, gte, lt, lte }: Range): Interval[] | undefined {
  const bounds = [gt, gte, lt, lte].filter((bound) => bound !== undefined);
  const sample = bounds[0];
  if (sample === undefined || !bounds.every((bound) => isValue(bound) && nameType(bound) === nameType(sample)))
    return undefined;
  if ((gt !== undefined && gte !== undefined) || (lt !== undefined && lte !== undefined)) return undefined;
  const key = (value: IndexValue) => Buffer.concat([prefix, valueKey(value)]);
  let { from, to } = sameType(prefix, sample);
  if (gte !== undefined) from = key(gte);
  if (gt !== undefined) from = above(key(gt));
  if (lt !== undefined) to = key(lt);
  if (lte !== undefined) to = above(key(lte));
  return [{ from, to }];
}

function cutOff(stretches: Interval[], { after, descending }: { after: Buffer; descending: boolean }): Interval[] {
  const start = next(after);
  const cut = ({ from, to }: Interval): Interval =>
    descending
      ? { from, to: Buffer.compare(after, to) < 0 ? after : to }
      : { from: Buffer.compare(start, from) > 0 ? start : from, to };
  return stretches.map(cut).filter(({ from, to }) => Buffer.compare(from, to) < 0);
}

function readCursor(cursor: string, print: Buffer): Buffer {
  const bytes = Buffer.from(cursor, 'base64url');
  const whole = bytes.toString('base64url') === cursor && bytes.length > PRINT_BYTES;
  if (whole && print.equals(bytes.subarray(0, PRINT_BYTES))) return bytes.subarray(PRINT_BYTES);
  throw cursorError();
}

/** The error of a cursor that is not as a page of this query gave it. */
export function cursorError(): TwinlineError {
  return new TwinlineError(
    'ERR_INPUT',
    'The cursor is damaged or belongs to another query. Send back `next` with the query that gave it, or start over.',
  );
}

function fingerprint(query: unknown): Buffer {
  return createHash('sha256').update(JSON.stringify(query)).digest().subarray(0, PRINT_BYTES);
}

/** Whether a query may compare with it. */
export function isValue(value: unknown): value is IndexValue {
  return value === null || typeof value === 'boolean' || isText(value) || Number.isFinite(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && isWellFormed(value);
}

function nameType(value: IndexValue): string {
  return value === null ? 'null' : typeof value;
}

function refuse(kind: Declared, why: string): TwinlineError {
  const indexes = [...kind.indexes.values()].map(({ name, fields }) => `${name} (${fields.join(', ')})`);
  return new TwinlineError(
    'ERR_INPUT',
    `A query on kind "${kind.name}" is refused: ${why}. Its indexes: ${indexes.join('; ') || 'none'}.`,
  );
}

function fail(kind: Declared, field: string): never {
  throw refuse(
    kind,
    `the condition on "${field}" is no value, range of one type, { in: up to ${COMMON_LIMITS.valuesPerIn} values } or { prefix: text }`,
  );
}
