// The row format: the body as JSON text, plus its values in a form that MongoDB can index.

import type { Collection, Filter, IndexDescription } from 'mongodb';
import type { JsonObject } from '../../json/json.ts';
import { type Index, isList, listElements, listIndexValues } from '../index/kinds.ts';
import { cursorError, isValue, type Plan } from '../index/query.ts';
import type { Condition, IndexValue } from '../store.ts';

/** A change that waits in its document to be numbered. */
export interface PendingChange {
  /** The permanent name of the change. */
  readonly x: string;
  /** The revision after the change, 0 for a removal. */
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A row without a body is a removed document whose removal is not numbered yet. */
export interface Row {
  /** The document's id. */
  readonly _id: string;
  /** Revision; 0 for a removed document. */
  readonly v: number;
  /** JSON text, because BSON does not preserve every number, key and key order. */
  readonly body?: string;
  /** See {@link listFields}. */
  readonly f?: Fields;
  readonly out: readonly PendingChange[];
}

type Fields = Map<string, IndexValue | IndexValue[] | Fields>;
type NativeCondition = Readonly<Record<string, IndexValue | readonly IndexValue[]>>;

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const NAMES_PER_FIELD = 8;

/**
 * All values that an index may be declared on, now or later, so that MongoDB can build any index by itself: scalars under
 * their names, scalars in lists under `name[]`, objects under `name/`, so that no index confuses them. Nulls are omitted,
 * because MongoDB indexes a missing value as null.
 */
export function listFields(body: JsonObject, depth = 1): Fields {
  const fields: Fields = new Map();
  for (const [name, value] of Object.entries(body)) {
    if (value === null || !NAME.test(name)) continue;
    if (typeof value !== 'object') fields.set(name, value);
    else if (Array.isArray(value)) setUnlessEmpty(`${name}[]`, listElements(value));
    else if (depth < NAMES_PER_FIELD) setUnlessEmpty(`${name}/`, listFields(value as JsonObject, depth + 1));
  }
  return fields;

  function setUnlessEmpty(name: string, value: IndexValue[] | Fields): void {
    if ('size' in value ? value.size : value.length) fields.set(name, value);
  }
}

function fieldPath(field: string): string {
  return `f.${field.replaceAll('.', '/.')}`;
}

/** Prefix of the names of MongoDB's unique indexes, followed by the fields, separated by commas. */
export const UNIQUE = 'unique ';

/** MongoDB's indexes for `index`: one for ordering, which ends with the id, and one for uniqueness. */
export function nativeIndexes({ fields, unique }: Index): (IndexDescription & { readonly name: string })[] {
  const paths = fields.map(fieldPath);
  const key = Object.fromEntries(paths.map((path) => [path, 1] as const));
  const sorted = { key: { ...key, _id: 1 as const }, name: `key ${fields}` };
  if (!unique) return [sorted];
  // Null values never conflict; they are absent from rows.
  const complete = Object.fromEntries(paths.map((path) => [path, { $exists: true }]));
  return [sorted, { key, name: `${UNIQUE}${fields}`, unique: true, partialFilterExpression: complete }];
}

/** The unique index in which another document than `id` has one of the values, if any. */
export async function findTakenIndex(
  rows: Collection<Row>,
  indexes: readonly Index[],
  { id, body }: { readonly id: string; readonly body: JsonObject },
): Promise<string | undefined> {
  for (const index of indexes) {
    const claims = listIndexValues(index, body).filter((values) => !values.includes(null));
    if (!claims.length) continue;
    const conflicts = claims.map((values) => equalities(index.fields.map(fieldPath), values));
    if (await rows.findOne({ _id: { $ne: id }, $or: conflicts }, { projection: { _id: 1 } })) return index.name;
  }
  return undefined;
}

/** A query in MongoDB's terms. */
export interface NativeQuery {
  readonly filter: Filter<Row>;
  readonly sort: Readonly<Record<string, 1 | -1>>;
  /** The cursor for a page that ends with this document. */
  cursorAt(id: string, body: JsonObject): string;
}

/** Converts a plan to a filter and sort that an index of {@link nativeIndexes} serves, starting at its cursor. */
export function nativeQuery({ index, conditions, after, descending, cursorAt }: Plan): NativeQuery {
  const paths = [...(index?.fields ?? []).map(fieldPath), '_id'];
  const filters = conditions.map(([field, condition]) => ({ [fieldPath(field)]: nativeCondition(field, condition) }));
  const where = [{ v: { $gt: 0 } }, ...filters];
  const firstRange = conditions.findIndex(([, condition]) => !isValue(condition));
  // Fields that are equal in all results need no ordering.
  const free = paths.slice(firstRange < 0 ? conditions.length : firstRange);
  return {
    filter: after ? { $or: placesAfter().map((place) => ({ $and: [...where, place] })) } : { $and: where },
    sort: Object.fromEntries(free.map((path) => [path, descending ? -1 : 1])),
    cursorAt: (id, body) => {
      const [values = []] = index ? listIndexValues(index, body) : [];
      const cursorValues = values.map((value, at) => (isList(index!.fields[at]!) ? null : value));
      return cursorAt(Buffer.from(JSON.stringify([...cursorValues, id])));
    },
  };

  // Documents after the cursor: equal in the first values, then greater in the next.
  function placesAfter(): Record<string, unknown>[] {
    const values = readPlace(after!, paths.length).slice(-free.length);
    return free.flatMap((path, at) => {
      const same = equalities(free.slice(0, at), values);
      return conditionsBehind(values[at]!, descending).map((condition) => ({ ...same, [path]: condition }));
    });
  }
}

function equalities(paths: readonly string[], values: readonly IndexValue[]): Record<string, NativeCondition> {
  return Object.fromEntries(paths.map((path, at) => [path, { $eq: values[at]! }]));
}

function nativeCondition(field: string, condition: Condition): NativeCondition {
  // Lists have no null elements.
  if (condition === null && isList(field)) return { $in: [] };
  if (isValue(condition)) return { $eq: condition };
  if ('in' in condition) return { $in: condition.in };
  if ('prefix' in condition) return stringsFrom(condition.prefix);
  return Object.fromEntries(Object.entries(condition).map(([name, bound]) => [`$${name}`, bound]));
}

/** Conditions that match all values of a type, in sort order. MongoDB comparisons match only values of the operand's type. */
const ORDERED_TYPES: readonly { readonly type: string; readonly all: NativeCondition }[] = [
  { type: 'object', all: { $eq: null } },
  { type: 'number', all: { $gte: Number.NEGATIVE_INFINITY } },
  { type: 'string', all: { $gte: '' } },
  { type: 'boolean', all: { $gte: false } },
];

function conditionsBehind(value: IndexValue, descending: boolean): NativeCondition[] {
  const own = ORDERED_TYPES.findIndex(({ type }) => type === typeof value);
  const others = descending ? ORDERED_TYPES.slice(0, own) : ORDERED_TYPES.slice(own + 1);
  const sameType = value === null ? [] : [{ [descending ? '$lt' : '$gt']: value }];
  return [...sameType, ...others.map(({ all }) => all)];
}

// The upper bound is the prefix with its last incrementable character incremented.
function stringsFrom(prefix: string): NativeCondition {
  const characters = Array.from(prefix);
  while (characters.at(-1) === '\u{10ffff}') characters.pop();
  const last = characters.pop()?.codePointAt(0);
  if (last === undefined) return { $gte: prefix };
  const next = String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
  return { $gte: prefix, $lt: characters.join('') + next };
}

function readPlace(after: Buffer, count: number): IndexValue[] {
  try {
    const place: unknown = JSON.parse(after.toString());
    if (Array.isArray(place) && place.length === count && place.every(isValue) && typeof place.at(-1) === 'string')
      return place;
  } catch {
    // Handled below.
  }
  throw cursorError();
}
