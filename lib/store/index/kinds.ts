// Declared kinds: their names are checked, their indexed values found in bodies, their bodies made text. Index keys are
// bytes whose plain byte order is the order of the values, so that every backend sorts alike.

import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import { isWellFormed } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { STORE_LIMITS } from '../limits.ts';
import type { IndexValue, Kind } from '../store.ts';

/** One declared index, ready for use. */
export interface Index {
  readonly name: string;
  readonly fields: readonly string[];
  readonly unique: boolean;
}

/** A declared kind as the backends and {@link planQuery} see it. */
export interface Declared<I extends Index = Index> {
  readonly name: string;
  readonly indexes: ReadonlyMap<string, I>;
}

/** What one index holds of one document. */
export interface IndexEntry<I extends Index = Index> {
  readonly index: I;
  /** The values and the id. */
  readonly key: Buffer;
  /** Of a unique index: what no other document may hold; undefined while any of the values is null. */
  readonly claim: Buffer | undefined;
}

const NAME = /^[A-Za-z0-9-]{1,64}$/;
const INDEX = /^[A-Za-z0-9_-]{1,64}$/;
const FIELD = /^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,7}(\[\])?$/;

/** The indexes of `kind`; throws ERR_CONFIG when it breaks a rule of {@link Kind}. */
export function declareIndexes(kind: Kind): Index[] {
  const refuse = (what: string, how: string) =>
    new TwinlineError('ERR_CONFIG', `Kind ${JSON.stringify(kind.name)} cannot be declared: ${what}. ${how}`);
  if (!NAME.test(kind.name)) throw refuse('its name breaks the form', 'Use 1 to 64 letters, digits and dashes.');
  return Object.entries(kind.indexes).map(([name, { fields, unique = false }]) => {
    if (!INDEX.test(name)) throw refuse(`index name ${JSON.stringify(name)}`, 'Use 1 to 64 letters, digits, _ and -.');
    if (fields.length < 1 || fields.length > STORE_LIMITS.fieldsPerIndex || new Set(fields).size < fields.length)
      throw refuse(`index "${name}"`, `Give it 1 to ${STORE_LIMITS.fieldsPerIndex} different fields.`);
    const bad = fields.find((field) => !FIELD.test(field));
    if (bad !== undefined)
      throw refuse(
        `index "${name}", field ${JSON.stringify(bad)}`,
        'A field is up to 8 names of letters, digits, _ and -, joined by dots; [] at its end takes each element of a list.',
      );
    if (fields.filter(isList).length > 1)
      throw refuse(`index "${name}" has several fields with []`, 'Take the elements of one list per index.');
    return { name, fields: [...fields], unique };
  });
}

/** Whether two declarations of an index mean the same. */
export function sameIndex(a: Index, b: Index): boolean {
  return a.unique === b.unique && a.fields.join() === b.fields.join();
}

/** The declared kind of this name; throws ERR_INPUT when there is none. */
export function requireKind<D extends Declared>(kinds: ReadonlyMap<string, D>, { name }: Kind): D {
  const kind = kinds.get(name);
  if (!kind) throw new TwinlineError('ERR_INPUT', `Kind ${JSON.stringify(name)} is not declared. Call declare first.`);
  return kind;
}

/** The declaration that made it. */
export function toKind({ name, indexes }: Declared): Kind {
  const entries = Array.from(indexes.values(), ({ name, fields, unique }) => [name, { fields, unique }] as const);
  return { name, indexes: Object.fromEntries(entries) };
}

/** A body as the text to store; throws ERR_INPUT when it is too large or holds a lone surrogate. */
export function bodyText(kind: string, id: string, body: JsonObject): string {
  const text = JSON.stringify(body);
  const refuse = (why: string) =>
    new TwinlineError('ERR_INPUT', `A document of kind "${kind}" (${JSON.stringify(id)}) is refused: ${why}.`);
  const bytes = Buffer.byteLength(text);
  if (bytes > COMMON_LIMITS.documentBytes) throw refuse(`${bytes} bytes, ${COMMON_LIMITS.documentBytes} are allowed`);
  // JSON.stringify escapes half pairs and nothing else this way.
  if (text.includes('\\ud') && !everyString(body, isWellFormed)) throw refuse('a string holds a lone surrogate');
  return text;
}

/** Whether an index takes each element of the list in this field. */
export function isList(field: string): boolean {
  return field.endsWith('[]');
}

/** What every index holds of a document: one entry, or one for each different element of a list. */
export function listEntries<I extends Index>(indexes: Iterable<I>, id: string, body: JsonObject): IndexEntry<I>[] {
  return Array.from(indexes, (index) =>
    listIndexValues(index, body).map((values) => {
      const isClaim = index.unique && !values.includes(null);
      return { index, key: entryKey(values, id), claim: isClaim ? Buffer.concat(values.map(valueKey)) : undefined };
    }),
  ).flat();
}

/** Of `entries`, those that `others` lack. */
export function missingIn<I extends Index>(others: readonly IndexEntry<I>[], entries: readonly IndexEntry<I>[]) {
  const name = ({ index, key }: IndexEntry<I>) => `${index.name} ${key.toString('latin1')}`;
  const names = new Set(others.map(name));
  return entries.filter((entry) => !names.has(name(entry)));
}

/**
 * The values of the index's fields, once, or once for each different element of a list. Throws ERR_INPUT when a list has
 * more than COMMON_LIMITS.elementsPerIndex.
 */
export function listIndexValues({ name, fields }: Index, body: JsonObject): IndexValue[][] {
  const list = fields.findIndex(isList);
  const values = fields.map((field) => (isList(field) ? null : toScalar(valueAt(body, field))));
  if (list < 0) return [values];
  const elements = listElements(valueAt(body, fields[list]!.slice(0, -2)));
  if (elements.length > COMMON_LIMITS.elementsPerIndex)
    throw new TwinlineError(
      'ERR_INPUT',
      `Index "${name}" would hold ${elements.length} elements of one document; ${COMMON_LIMITS.elementsPerIndex} are allowed.`,
    );
  return elements.map((element) => values.with(list, element));
}

/** The different scalars of a list; none when it is no list. Null is no element. */
export function listElements(value: Json): IndexValue[] {
  const elements: readonly Json[] = Array.isArray(value) ? value : [];
  return [...new Set(elements.filter((element) => typeof element !== 'object'))] as IndexValue[];
}

// Only objects are walked, and only what they hold themselves.
function valueAt(body: JsonObject, field: string): Json {
  let value: Json = body;
  for (const part of field.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, part)) return null;
    value = (value as JsonObject)[part]!;
  }
  return value;
}

// Whatever is no scalar counts as null.
function toScalar(value: Json): IndexValue {
  return typeof value === 'object' ? null : value;
}

function everyString(value: Json, holds: (text: string) => boolean): boolean {
  if (typeof value === 'string') return holds(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => holds(key) && everyString(inner, holds));
}

// The order of the types is MongoDB's; a boolean is its tag and one byte, as a number is its tag and eight.
const TAGS = { null: 1, number: 2, string: 3, boolean: 4 } as const;

/** Above every byte that can follow a complete value: the next tag, an id in UTF-8, or the end. */
const ABOVE = Buffer.from([0xff]);

/** Keys from `from` on and below `to`. */
export interface Interval {
  readonly from: Buffer;
  readonly to: Buffer;
}

/** The value, closed: no key of one value begins with the key of another one of its type. */
export function valueKey(value: IndexValue): Buffer {
  if (value === null) return Buffer.from([TAGS.null]);
  if (typeof value === 'boolean') return Buffer.from([TAGS.boolean, value ? 1 : 0]);
  if (typeof value === 'number') return numberKey(value);
  return Buffer.concat([stringStart(value), Buffer.from([0])]);
}

/** The index entry of one document: its values in the index's order, then its id. */
function entryKey(values: readonly IndexValue[], id: string): Buffer {
  return Buffer.concat([...values.map(valueKey), Buffer.from(id)]);
}

/** All keys that begin with `prefix`, made of complete values. */
export function startingWith(prefix: Buffer): Interval {
  return { from: prefix, to: above(prefix) };
}

/** All keys after `prefix` and strings that begin with `text`. */
export function stringsFrom(prefix: Buffer, text: string): Interval {
  return startingWith(Buffer.concat([prefix, stringStart(text)]));
}

/** All keys after `prefix` and values of the same type as `sample`. */
export function sameType(prefix: Buffer, sample: IndexValue): Interval {
  const tag = TAGS[sample === null ? 'null' : (typeof sample as 'number' | 'string' | 'boolean')];
  return { from: Buffer.concat([prefix, Buffer.from([tag])]), to: Buffer.concat([prefix, Buffer.from([tag + 1])]) };
}

/** Above every key that begins with the complete value `key`, below every greater one. */
export function above(key: Buffer): Buffer {
  return Buffer.concat([key, ABOVE]);
}

/** The least key above exactly `key`. */
export function next(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.from([0])]);
}

// A closing 0 makes "a" come before "ab"; a 0 inside differs from it by the 0xff behind.
function stringStart(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (!bytes.includes(0)) return Buffer.concat([Buffer.from([TAGS.string]), bytes]);
  const safe = bytes.toString('latin1').replaceAll('\0', '\0\xff');
  return Buffer.concat([Buffer.from([TAGS.string]), Buffer.from(safe, 'latin1')]);
}

// IEEE 754 sorts as bytes once negative numbers are turned over and the sign bit is flipped.
function numberKey(value: number): Buffer {
  const key = Buffer.alloc(9);
  key[0] = TAGS.number;
  key.writeDoubleBE(value === 0 ? 0 : value, 1);
  if (value < 0) for (let at = 1; at < 9; at++) key[at] = ~key[at]!;
  else key[1] = key[1]! ^ 0x80;
  return key;
}
