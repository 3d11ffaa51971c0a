// Documents in memory, for tests and `DATA_DIR=:memory:`. Lost when the process ends.

import { type Clock, systemClock } from '../../clock.ts';
import { checkKey, checkLimit, closedError } from '../../given.ts';
import type { JsonObject } from '../../json/json.ts';
import {
  bodyText,
  type Declared,
  declareIndexes,
  type Index,
  type IndexEntry,
  type Interval,
  listEntries,
  requireKind,
  sameIndex,
} from '../index/kinds.ts';
import { planQuery } from '../index/query.ts';
import type { Change, DocumentStore, Exists, Kind, StoredDocument } from '../store.ts';
import { takenError } from '../update.ts';
import { type SortedList, sortedList } from './sorted.ts';

interface IndexPlace {
  readonly key: Buffer;
  readonly id: string;
}

interface MemoryIndex extends Index {
  readonly places: SortedList<IndexPlace>;
  /** For a unique index: claim, as a byte string → id. */
  readonly claims: Map<string, string>;
}

type Entry = IndexEntry<MemoryIndex>;

/** The body is stored as text, so that later changes to the caller's object have no effect. */
interface Kept {
  readonly revision: number;
  readonly text: string;
  /** Its index entries. */
  entries: readonly Entry[];
}

interface Collection extends Declared<MemoryIndex> {
  readonly indexes: Map<string, MemoryIndex>;
  readonly ids: SortedList<IndexPlace>;
  readonly documents: Map<string, Kept>;
}

/**
 * An empty store, ready immediately. `clock` timestamps the changes, all of which are kept.
 * @example
 * const NOTE = { name: 'note', indexes: { byOwner: { fields: ['owner'] } } };
 * const documents = memoryDocuments();
 * await documents.declare([NOTE]);
 * await documents.insert(NOTE, 'n1', { owner: 'ann', text: 'Tea' });
 * (await documents.find(NOTE, { index: 'byOwner', where: { owner: 'ann' } })).items.map(({ id }) => id); // → ['n1']
 */
export function memoryDocuments({ clock = systemClock }: { clock?: Pick<Clock, 'now'> } = {}): DocumentStore {
  const collections = new Map<string, Collection>();
  const changes: Change[] = [];
  let isClosed = false;

  function check(id?: string): void {
    if (isClosed) throw closedError('memory');
    if (id !== undefined) checkKey(id, 'document id');
  }

  function findCollection(kind: Kind, id?: string): Collection {
    check(id);
    return requireKind(collections, kind);
  }

  // Builds the missing indexes without adding them to the collection yet.
  function missingIndexes(kind: Kind): BuiltIndex[] {
    const collection = collections.get(kind.name) ?? newCollection(kind.name);
    const missing = declareIndexes(kind).filter((index) => {
      const existing = collection.indexes.get(index.name);
      return !existing || !sameIndex(index, existing);
    });
    return missing.map((index) => build(collection, index));
  }

  function record({ name }: Collection, id: string, revision: number): void {
    changes.push({ seq: changes.length + 1, kind: name, id, revision, at: clock.now() });
  }

  /** Stores the body, unless another document has one of its unique values. */
  function write<B extends JsonObject>(
    collection: Collection,
    id: string,
    { revision, text }: { revision: number; text: string },
  ): Exists | { readonly kind: 'written'; readonly body: B } {
    const body: B = JSON.parse(text);
    const entries = listEntries(collection.indexes.values(), id, body);
    const index = findTakenIndex(entries, id);
    if (index !== undefined) return { kind: 'exists', index };
    unfile(collection, id);
    collection.ids.add({ key: Buffer.from(id), id });
    file(entries, id);
    collection.documents.set(id, { revision, text, entries });
    record(collection, id, revision);
    return { kind: 'written', body };
  }

  return {
    name: 'memory',
    durability: 'memory',
    async declare(kinds) {
      check();
      const declarations = kinds.map((kind) => ({ name: kind.name, indexes: missingIndexes(kind) }));
      for (const { name, indexes } of declarations) {
        const collection = collections.get(name) ?? newCollection(name);
        collections.set(name, collection);
        for (const index of indexes) add(collection, index);
      }
    },
    async insert<B extends JsonObject>(kind: Kind, id: string, body: B) {
      const collection = findCollection(kind, id);
      const text = bodyText(kind.name, id, body);
      if (collection.documents.has(id)) return { kind: 'exists' };
      const result = write<B>(collection, id, { revision: 1, text });
      return result.kind === 'exists' ? result : { kind: 'inserted', id, revision: 1, body: result.body };
    },
    async get(kind, id) {
      const document = findCollection(kind, id).documents.get(id);
      return document && { id, revision: document.revision, body: JSON.parse(document.text) };
    },
    async replace(kind, id, expected, body) {
      const collection = findCollection(kind, id);
      const text = bodyText(kind.name, id, body);
      const document = collection.documents.get(id);
      if (!document || document.revision !== expected) return { kind: 'conflict', revision: document?.revision ?? 0 };
      const result = write(collection, id, { revision: expected + 1, text });
      return result.kind === 'exists' ? result : { kind: 'replaced', revision: expected + 1 };
    },
    async remove(kind, id, expected) {
      const collection = findCollection(kind, id);
      const document = collection.documents.get(id);
      if (!document || (expected ?? document.revision) !== document.revision) return false;
      unfile(collection, id);
      collection.documents.delete(id);
      record(collection, id, 0);
      return true;
    },
    async find<B extends JsonObject>(kind: Kind, query = {}) {
      const collection = findCollection(kind);
      const { index, stretches, descending, limit, cursorAt } = planQuery(collection, query);
      const items: StoredDocument<B>[] = [];
      let last: IndexPlace | undefined;
      for (const place of walk(index?.places ?? collection.ids, stretches, descending)) {
        if (items.length === limit) return { items, next: cursorAt(last!.key) };
        const { revision, text } = collection.documents.get(place.id)!;
        items.push({ id: place.id, revision, body: JSON.parse(text) });
        last = place;
      }
      return { items };
    },
    async count(kind, query = {}) {
      const collection = findCollection(kind);
      const { index, stretches } = planQuery(collection, query);
      let count = 0;
      for (const _ of walk(index?.places ?? collection.ids, stretches, false)) count++;
      return count;
    },
    async changes(after, limit) {
      check();
      checkLimit(limit);
      return changes.slice(after, after + limit);
    },
    async lastChange() {
      check();
      return changes.length;
    },
    async ping() {
      check();
    },
    async close() {
      isClosed = true;
      collections.clear();
    },
  };
}

function newCollection(name: string): Collection {
  return { name, indexes: new Map(), ids: sortedList(byKey), documents: new Map() };
}

interface BuiltIndex {
  readonly index: MemoryIndex;
  /** Its entries by document id. */
  readonly entries: ReadonlyMap<string, readonly Entry[]>;
}

/** Builds the index over all documents of the collection; throws ERR_EXISTS when two of them share a unique value. */
function build({ name, documents }: Collection, declaration: Index): BuiltIndex {
  const index: MemoryIndex = { ...declaration, places: sortedList(byKey), claims: new Map() };
  const entries = new Map<string, readonly Entry[]>();
  for (const [id, { text }] of documents) {
    const own = listEntries([index], id, JSON.parse(text));
    if (findTakenIndex(own, id) !== undefined) throw takenError(name, id, index.name);
    file(own, id);
    entries.set(id, own);
  }
  return { index, entries };
}

/** Adds an index to the collection, replacing one with the same name. */
function add({ indexes, documents }: Collection, { index, entries }: BuiltIndex): void {
  const old = indexes.get(index.name);
  indexes.set(index.name, index);
  for (const [id, entry] of documents)
    entry.entries = [...entry.entries.filter((entry) => entry.index !== old), ...entries.get(id)!];
}

/** The unique index in which another document has one of the values, if any. */
function findTakenIndex(entries: readonly Entry[], id: string): string | undefined {
  const conflict = entries.find(({ index, claim }) => {
    const holder = claim && index.claims.get(claim.toString('latin1'));
    return holder !== undefined && holder !== id;
  });
  return conflict?.index.name;
}

function file(entries: readonly Entry[], id: string): void {
  for (const { index, key, claim } of entries) {
    index.places.add({ key, id });
    if (claim) index.claims.set(claim.toString('latin1'), id);
  }
}

function unfile({ ids, documents }: Collection, id: string): void {
  const old = documents.get(id);
  if (!old) return;
  ids.delete({ key: Buffer.from(id), id });
  for (const { index, key, claim } of old.entries) {
    index.places.delete({ key, id });
    if (claim) index.claims.delete(claim.toString('latin1'));
  }
}

function* walk(
  places: SortedList<IndexPlace>,
  stretches: readonly Interval[],
  descending: boolean,
): Iterable<IndexPlace> {
  for (const { from, to } of stretches)
    for (const place of descending ? places.descend({ key: to, id: '' }) : places.ascend({ key: from, id: '' })) {
      const outside = descending ? Buffer.compare(place.key, from) < 0 : Buffer.compare(place.key, to) >= 0;
      if (outside) break;
      yield place;
    }
}

function byKey(a: IndexPlace, b: IndexPlace): number {
  return Buffer.compare(a.key, b.key);
}
