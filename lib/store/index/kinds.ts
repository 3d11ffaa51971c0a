// Declared kinds: their names are checked, their indexed values found in bodies, their bodies made text.

import { TwinlineError } from '../../errors.ts';
import { SHARED_LIMITS } from '../../shared-limits.ts';
import { isWellFormed } from '../input.ts';
import { STORE_LIMITS } from '../limits.ts';
import type { IndexValue, Json, JsonObject, Kind } from '../store.ts';
import { entryKey, valueKey } from './index-key.ts';

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
export function indexesOf(kind: Kind): Index[] {
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
export function declaredKind<D extends Declared>(kinds: ReadonlyMap<string, D>, { name }: Kind): D {
  const found = kinds.get(name);
  if (!found) throw new TwinlineError('ERR_INPUT', `Kind ${JSON.stringify(name)} is not declared. Call declare first.`);
  return found;
}

/** A body as the text to store; throws ERR_INPUT when it is too large or holds half a surrogate pair. */
export function bodyText(kind: string, id: string, body: JsonObject): string {
  const text = JSON.stringify(body);
  const refuse = (why: string) =>
    new TwinlineError('ERR_INPUT', `A document of kind "${kind}" (${JSON.stringify(id)}) is refused: ${why}.`);
  const bytes = Buffer.byteLength(text);
  if (bytes > SHARED_LIMITS.documentBytes) throw refuse(`${bytes} bytes, ${SHARED_LIMITS.documentBytes} are allowed`);
  // JSON.stringify escapes half pairs and nothing else this way.
  if (text.includes('\\ud') && !everyString(body, isWellFormed)) throw refuse('a string holds half a surrogate pair');
  return text;
}

/** Whether an index takes each element of the list in this field. */
export function isList(field: string): boolean {
  return field.endsWith('[]');
}

/** What every index holds of a document: one entry, or one for each different element of a list. */
export function entriesOf<I extends Index>(indexes: Iterable<I>, id: string, body: JsonObject): IndexEntry<I>[] {
  return Array.from(indexes, (index) =>
    indexedValues(index, body).map((values) => {
      const claimed = index.unique && !values.includes(null);
      return { index, key: entryKey(values, id), claim: claimed ? Buffer.concat(values.map(valueKey)) : undefined };
    }),
  ).flat();
}

/** Of `entries`, those that `others` lack. */
export function missingIn<I extends Index>(others: readonly IndexEntry<I>[], entries: readonly IndexEntry<I>[]) {
  const name = ({ index, key }: IndexEntry<I>) => `${index.name} ${key.toString('latin1')}`;
  const known = new Set(others.map(name));
  return entries.filter((entry) => !known.has(name(entry)));
}

/**
 * The values of the index's fields, once, or once for each different element of a list. Throws ERR_INPUT when a list has
 * more than SHARED_LIMITS.elementsPerIndex.
 */
export function indexedValues({ name, fields }: Index, body: JsonObject): IndexValue[][] {
  const list = fields.findIndex(isList);
  const values = fields.map((field) => (isList(field) ? null : scalarOf(valueAt(body, field))));
  if (list < 0) return [values];
  const elements = elementsOf(valueAt(body, fields[list]!.slice(0, -2)));
  if (elements.length > SHARED_LIMITS.elementsPerIndex)
    throw new TwinlineError(
      'ERR_INPUT',
      `Index "${name}" would hold ${elements.length} elements of one document; ${SHARED_LIMITS.elementsPerIndex} are allowed.`,
    );
  return elements.map((element) => values.with(list, element));
}

/** The different scalars of a list; none when it is no list. Null is no element. */
export function elementsOf(value: Json): IndexValue[] {
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
function scalarOf(value: Json): IndexValue {
  return typeof value === 'object' ? null : value;
}

function everyString(value: Json, holds: (text: string) => boolean): boolean {
  if (typeof value === 'string') return holds(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => holds(key) && everyString(inner, holds));
}
