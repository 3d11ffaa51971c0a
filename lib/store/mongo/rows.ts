// How MongoDB holds one document: its body as JSON text, its index keys beside it, and its changes until they are relayed.

import type { Collection } from 'mongodb';
import { type Interval, valueKey, valuesEnd } from '../index/index-key.ts';
import { type Declared, entriesOf, type Index, isList } from '../index/kinds.ts';
import type { IndexValue, Query } from '../store.ts';

/** An index under the name of its fields in the rows; that name is never used again for another one. */
export interface MongoIndex extends Index {
  /** `<name>_<number>`: letters, digits, _ and -. */
  readonly field: string;
  /**
   * Being built: written, not read, and unique once the server's index is there. Retired: another one has its name now;
   * still written, for instances that do not know that yet.
   */
  readonly state: 'building' | 'ready' | 'retired';
}

/** A declared kind: `indexes` can be queried, `written` is what every row has keys for. */
export interface MongoKind extends Declared<MongoIndex> {
  /** Grows whenever rows must have further keys. */
  readonly epoch: number;
  readonly written: readonly MongoIndex[];
  readonly rows: Collection<Row>;
}

/** A change that waits in its document until it is relayed. */
export interface Waiting {
  /** Names the change, once and for all. */
  readonly x: string;
  /** When, as a stamp. */
  readonly t: number;
  /** The revision after it, 0 for a removal. */
  readonly r: number;
  /** When, in milliseconds since 1970. */
  readonly at: number;
}

/** Index keys, by the index's `field`. */
export interface Keys {
  /**
   * Values and id as {@link entriesOf} makes them, each byte as the character of that number: their order is that of
   * the bytes, and text is readable. Of an index of a list only what follows the element.
   */
  readonly k: Readonly<Record<string, string>>;
  /** Of an index of a list: the values up to each element. */
  readonly l: Readonly<Record<string, readonly string[]>>;
  /** Of a unique index: what no other document may hold. */
  readonly u: Readonly<Record<string, readonly string[]>>;
}

/**
 * The body is text, because BSON would not bring back every number, key and order of keys as JSON has them. A row
 * without a body is a removed document whose removal is not relayed yet.
 */
export interface Row extends Partial<Keys> {
  /** The document's id. (Numbers are the rows that guard old epochs.) */
  readonly _id: string | number;
  /** Revision; 0 for a removed document. */
  readonly v: number;
  /** The kind's epoch whose keys the row has. */
  readonly e: number;
  /** The stamp of the last write. */
  readonly t: number;
  readonly body?: string;
  readonly out?: readonly Waiting[];
}

/** Where to look for one stretch of an index. */
export interface Place {
  readonly path: string;
  /** What the row must have besides. */
  readonly only: Readonly<Record<string, unknown>>;
  /** The condition on `path` for a stretch of whole keys. */
  range(stretch: Interval): Readonly<Record<string, string>>;
  /** The whole key again. */
  whole(row: Row): Buffer;
}

/** The keys of a document, for all indexes that are written. */
export function keysOf(kind: MongoKind, id: string, text: string): Keys {
  const keys = { k: new Map<string, string>(), l: new Map<string, string[]>(), u: new Map<string, string[]>() };
  for (const { index, key, claim } of entriesOf(kind.written, id, JSON.parse(text))) {
    const { field, state } = index;
    const cut = valuesEnd(key, listed(index));
    keys.k.set(field, asText(key.subarray(cut)));
    if (cut) add(keys.l, field, asText(key.subarray(0, cut)));
    if (claim && state !== 'retired') add(keys.u, field, asText(claim));
  }
  return { k: Object.fromEntries(keys.k), l: Object.fromEntries(keys.l), u: Object.fromEntries(keys.u) };
}

/** Where the keys of `index` are (of undefined: the ids), for this condition. */
export function placeOf(index: MongoIndex | undefined, where: Query['where'] = {}): Place {
  if (!index)
    return {
      path: '_id',
      only: { v: { $gt: 0 } },
      // What ends all ids is no text.
      range: ({ from, to }) => ({ $gte: from.toString(), ...(to[0] !== 0xff && { $lt: to.toString() }) }),
      whole: ({ _id }) => Buffer.from(String(_id)),
    };
  const { field, fields } = index;
  // A plan of such an index gives one value for each of these fields.
  const given = fields.slice(0, listed(index)).map((name) => valueKey(where[name] as IndexValue));
  const before = Buffer.concat(given);
  return {
    path: `k.${field}`,
    only: given.length ? { [`l.${field}`]: { $eq: asText(before) } } : {},
    range: ({ from, to }) => ({ $gte: asText(from.subarray(before.length)), $lt: asText(to.subarray(before.length)) }),
    whole: ({ k }) => Buffer.concat([before, Buffer.from(k![field]!, 'latin1')]),
  };
}

/** How many fields an index of a list has up to the list; 0 for other indexes. */
export function listed({ fields }: Index): number {
  return fields.findIndex(isList) + 1;
}

function add(keys: Map<string, string[]>, field: string, text: string): void {
  const known = keys.get(field);
  if (known) known.push(text);
  else keys.set(field, [text]);
}

function asText(bytes: Buffer): string {
  return bytes.toString('latin1');
}
