// The kinds and indexes of a MongoDB database: declared by one document per kind; MongoDB builds the indexes.

import type { Collection, Db, IndexDescription } from 'mongodb';
import { TwinlineError } from '../../errors.ts';
import { type Declared, declareIndexes, type Index, requireKind, sameIndex } from '../index/kinds.ts';
import { STORE_LIMITS } from '../limits.ts';
import type { Kind } from '../store.ts';
import { isDuplicate, isLate } from './refusals.ts';
import { nativeIndexes, type Row, UNIQUE } from './rows.ts';

export interface MongoKind extends Declared {
  readonly rows: Collection<Row>;
}

/** A kind in the registry: index name → index. */
interface KindEntry {
  readonly _id: string;
  readonly indexes: Readonly<Record<string, Index>>;
}

export interface Registry {
  /** See {@link DocumentStore.declare}; other instances may read and write meanwhile. */
  declare(kinds: readonly Kind[]): Promise<void>;
  /** A declared kind, with this index if it exists; rejects with ERR_INPUT when the kind is not declared. */
  findKind(kind: Kind, index?: string): Promise<MongoKind>;
  /** Rereads all kinds. */
  refresh(): Promise<ReadonlyMap<string, MongoKind>>;
  /**
   * MongoDB's unique indexes of the kind, including those declared by other processes. An index left behind by an
   * interrupted declaration is named after its fields.
   */
  uniqueIndexes(kind: Kind): Promise<Index[]>;
}

/** Index of rows with changes that are not numbered yet. */
const PENDING = {
  key: { 'out.x': 1 as const },
  name: 'pending',
  partialFilterExpression: { 'out.x': { $exists: true } },
};

export function openRegistry(db: () => Db, prefix: string): Registry {
  const entries = () => db().collection<KindEntry>(`${prefix}.kinds`);
  let cache: ReadonlyMap<string, MongoKind> = new Map();

  function openRows(name: string): Collection<Row> {
    return db().collection<Row>(`${prefix}.documents.${name}`);
  }

  async function refresh(): Promise<ReadonlyMap<string, MongoKind>> {
    const entriesFound = await entries().find().toArray();
    cache = new Map(
      entriesFound.map(({ _id: name, indexes }) => {
        const kind = {
          name,
          indexes: new Map(Object.entries(indexes)),
          get rows() {
            return openRows(name);
          },
        };
        return [name, kind];
      }),
    );
    return cache;
  }

  async function declare(kinds: readonly Kind[]): Promise<void> {
    const declarations = kinds.map((kind) => ({ name: kind.name, indexes: declareIndexes(kind) }));
    const addedIndexes: { readonly rows: Collection<Row>; readonly name: string }[] = [];
    try {
      for (const { name, indexes } of declarations) {
        const rows = openRows(name);
        const existing = new Set((await rows.indexes().catch(() => [])).map((index) => index.name));
        if (!existing.has(PENDING.name)) await create(rows, [PENDING]);
        for (const index of indexes) {
          const natives = nativeIndexes(index).filter((native) => !existing.has(native.name));
          if (!natives.length) continue;
          addedIndexes.push(...natives.map((native) => ({ rows, name: native.name })));
          await build(rows, { kind: name, index, natives });
        }
      }
    } catch (error) {
      for (const { rows, name } of addedIndexes) await rows.dropIndex(name).catch(() => {});
      throw error;
    }
    for (const { name, indexes } of declarations) await register(name, indexes);
    await refresh();
  }

  async function register(name: string, indexes: readonly Index[]): Promise<void> {
    const indexFields = indexes.map((index) => [`indexes.${index.name}`, index] as const);
    const update = indexFields.length ? { $set: Object.fromEntries(indexFields) } : { $setOnInsert: { indexes: {} } };
    const before = await entries().findOneAndUpdate({ _id: name }, update, { upsert: true, returnDocument: 'before' });
    const old = before?.indexes ?? {};
    const usedNames = nativeNames({ ...old, ...Object.fromEntries(indexes.map((index) => [index.name, index])) });
    for (const native of nativeNames(old))
      if (!usedNames.has(native))
        await openRows(name)
          .dropIndex(native)
          .catch(() => {});
  }

  return {
    declare,
    refresh,
    async findKind(kind, index) {
      const kindEntry = cache.get(kind.name);
      const isEnough = kindEntry && (index === undefined || kindEntry.indexes.has(index));
      return isEnough ? kindEntry : requireKind(await refresh(), kind);
    },
    async uniqueIndexes(kind) {
      const { rows, indexes } = requireKind(await refresh(), kind);
      const natives = (await rows.indexes()).filter(({ unique, name }) => unique && name!.startsWith(UNIQUE));
      return natives.map(({ name }) => toIndex(name!, [...indexes.values()]));
    },
  };
}

function toIndex(native: string, indexes: readonly Index[]): Index {
  const fields = native.slice(UNIQUE.length).split(',');
  const unnamed = { name: fields.join(), fields, unique: true };
  return indexes.find((index) => sameIndex(index, unnamed)) ?? unnamed;
}

function nativeNames(indexes: KindEntry['indexes']): Set<string> {
  return new Set(Object.values(indexes).flatMap((index) => nativeIndexes(index).map(({ name }) => name)));
}

interface Building {
  readonly kind: string;
  readonly index: Index;
  readonly natives: IndexDescription[];
}

async function build(rows: Collection<Row>, { kind, index, natives }: Building): Promise<void> {
  try {
    await create(rows, natives);
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw new TwinlineError(
      'ERR_EXISTS',
      `Kind "${kind}": the unique index "${index.name}" cannot be built: two documents have the same ${index.fields.join(', ')}. Change one of them, then declare again.`,
    );
  }
}

// Building may exceed the reply timeout; calling again waits for the same build.
async function create(rows: Collection<Row>, indexes: IndexDescription[]): Promise<void> {
  for (const until = performance.now() + STORE_LIMITS.mongoDeclareMs; ; )
    try {
      await rows.createIndexes(indexes);
      return;
    } catch (error) {
      if (!isLate(error) || performance.now() > until) throw error;
    }
}
