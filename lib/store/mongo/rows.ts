// How MongoDB holds documents: the body as JSON text, and beside it its values in a form that MongoDB's own indexes serve.

import type { Collection, Filter, IndexDescription } from 'mongodb';
import type { JsonObject } from '../../json/json.ts';
import { type Index, isList, listElements, listIndexValues } from '../index/kinds.ts';
import { cursorError, isValue, type Plan } from '../index/query.ts';
import type { Condition, IndexValue } from '../store.ts';

/** A change that waits in its document until it has its number. */
export interface PendingChange {
  /** Names the change, once and for all. */
  readonly x: string;
  /** The revision after it, 0 for a removal. */
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A row without a body is a removed document whose removal has no number yet. */
export interface Row {
  /** The document's id. */
  readonly _id: string;
  /** Revision; 0 for a removed document. */
  readonly v: number;
  /** Text, because BSON would not bring back every number, key and order of keys as JSON has them. */
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
 * All values of a body that an index may be declared on, now or later, so that MongoDB builds any index by itself:
 * scalars under their names, the scalars of lists under `name[]`, objects under `name/`. So no index mistakes one for
 * another. Null is left out: MongoDB's indexes hold a missing value as null.
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

/** How the names of MongoDB's unique indexes begin; the fields follow, with commas. */
export const UNIQUE = 'unique ';

/** The indexes of MongoDB's that serve `index`: one for order, which ends with the id, and one that makes it unique. */
export function nativeIndexes({ fields, unique }: Index): (IndexDescription & { readonly name: string })[] {
  const paths = fields.map(fieldPath);
  const key = Object.fromEntries(paths.map((path) => [path, 1] as const));
  const sorted = { key: { ...key, _id: 1 as const }, name: `key ${fields}` };
  if (!unique) return [sorted];
  // Null never clashes, and is never there.
  const complete = Object.fromEntries(paths.map((path) => [path, { $exists: true }]));
  return [sorted, { key, name: `${UNIQUE}${fields}`, unique: true, partialFilterExpression: complete }];
}

/** The name of the unique index, of these, in which another document than `id` holds one of the values, if there is one. */
export async function findTakenIndex(
  rows: Collection<Row>,
  indexes: readonly Index[],
  { id, body }: { readonly id: string; readonly body: JsonObject },
): Promise<string | undefined> {
  for (const index of indexes) {
    const claims = listIndexValues(index, body).filter((values) => !values.includes(null));
    if (!claims.length) continue;
    const held = claims.map((values) => equalities(index.fields.map(fieldPath), values));
    if (await rows.findOne({ _id: { $ne: id }, $or: held }, { projection: { _id: 1 } })) return index.name;
  }
  return undefined;
}

/** A query as MongoDB understands it. */
export interface NativeQuery {
  readonly filter: Filter<Row>;
  readonly sort: Readonly<Record<string, 1 | -1>>;
  /** The cursor of a page that ends with this document. */
  cursorAt(id: string, body: JsonObject): string;
}

/** Turns a plan into a filter and an order that the index of {@link nativeIndexes} serves, from its cursor on. */
export function nativeQuery({ index, conditions, after, descending, cursorAt }: Plan): NativeQuery {
  const paths = [...(index?.fields ?? []).map(fieldPath), '_id'];
  const given = conditions.map(([field, condition]) => ({ [fieldPath(field)]: nativeCondition(field, condition) }));
  const where = [{ v: { $gt: 0 } }, ...given];
  const fixed = conditions.findIndex(([, condition]) => !isValue(condition));
  // What all documents of the query have alike is no part of the order.
  const free = paths.slice(fixed < 0 ? conditions.length : fixed);
  return {
    filter: after ? { $or: placesAfter().map((place) => ({ $and: [...where, place] })) } : { $and: where },
    sort: Object.fromEntries(free.map((path) => [path, descending ? -1 : 1])),
    cursorAt: (id, body) => {
      const [values = []] = index ? listIndexValues(index, body) : [];
      const shown = values.map((value, at) => (isList(index!.fields[at]!) ? null : value));
      return cursorAt(Buffer.from(JSON.stringify([...shown, id])));
    },
  };

  // The documents behind the cursor's: the same first values, and then one that comes later.
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
  // No list has null among its elements.
  if (condition === null && isList(field)) return { $in: [] };
  if (isValue(condition)) return { $eq: condition };
  if ('in' in condition) return { $in: condition.in };
  if ('prefix' in condition) return stringsFrom(condition.prefix);
  return Object.fromEntries(Object.entries(condition).map(([name, bound]) => [`$${name}`, bound]));
}

/** The values of each type, in the order of types. A comparison of MongoDB's finds values of its operand's type only. */
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

// The strings below the first one that is above all that begin so: the last character that has a successor gets it.
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
    // Answered below.
  }
  throw cursorError();
}
