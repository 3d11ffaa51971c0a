// Which kinds and indexes a MongoDB database knows, whoever declared them: one document, changed by compare-and-set.

import type { Collection, Db } from 'mongodb';
import { TwinlineError } from '../../errors.ts';
import { declaredKind } from '../index/kinds.ts';
import { STORE_LIMITS } from '../limits.ts';
import type { Kind } from '../store.ts';
import { isDuplicate } from './errors.ts';
import type { MongoIndex, MongoKind, Row } from './rows.ts';

/** A kind as the registry's document has it. */
export interface KindEntry {
  readonly name: string;
  /** False while its first indexes are built. */
  readonly declared: boolean;
  readonly epoch: number;
  /** The number of the newest index. */
  readonly last: number;
  readonly indexes: readonly IndexEntry[];
}

export interface IndexEntry extends MongoIndex {
  /** When it was retired, in milliseconds since 1970. */
  readonly since?: number;
}

/** The registry's document; revision 0 stands for none. */
export interface Registered {
  readonly revision: number;
  readonly kinds: readonly KindEntry[];
}

export type Kinds = ReadonlyMap<string, MongoKind>;

export interface Registry {
  /** As they were read last, at most STORE_LIMITS.mongoKindsMs ago. */
  kinds(): Promise<Kinds>;
  /** Reads again. */
  refresh(): Promise<Kinds>;
  /** The kind of this name, with this index if there is one; rejects with ERR_INPUT when nobody has declared the kind. */
  kindOf(kind: Kind, index?: string): Promise<MongoKind>;
  /** Whether others have given the kind further indexes, so that what was made for `kind` is out of date. */
  isOld(kind: MongoKind): Promise<boolean>;
  read(): Promise<Registered>;
  /** Writes `kinds` if nobody has changed the document since it was `before`; rejects with ERR_STORE otherwise. */
  swap(before: Registered, kinds: readonly KindEntry[]): Promise<Registered>;
  rowsOf(kind: { readonly name: string }): Collection<Row>;
}

type Stored = Registered & { readonly _id: 'kinds' };

export function openRegistry(db: Db, prefix: string): Registry {
  const stored = db.collection<Stored>(`${prefix}.registry`);
  let known: { kinds: Kinds; revision: number; at: number } | undefined;

  async function read(): Promise<Registered> {
    return (await stored.findOne({ _id: 'kinds' })) ?? { revision: 0, kinds: [] };
  }

  function take({ revision, kinds }: Registered): Kinds {
    // An answer that was overtaken by a newer one is not taken.
    if (known && known.revision > revision) return known.kinds;
    const same = known?.revision === revision ? known.kinds : new Map(kinds.filter(isDeclared).map(opened));
    known = { kinds: same, revision, at: performance.now() };
    return same;
  }

  function rowsOf({ name }: { readonly name: string }): Collection<Row> {
    return db.collection<Row>(`${prefix}.documents.${name}`);
  }

  function opened({ name, epoch, indexes }: KindEntry): [string, MongoKind] {
    const ready = indexes.filter(({ state }) => state === 'ready').map((index) => [index.name, index] as const);
    return [name, { name, epoch, written: indexes, indexes: new Map(ready), rows: rowsOf({ name }) }];
  }

  async function refresh(): Promise<Kinds> {
    return take(await read());
  }

  async function kinds(): Promise<Kinds> {
    const fresh = known && performance.now() - known.at < STORE_LIMITS.mongoKindsMs;
    return fresh ? known!.kinds : refresh();
  }

  return {
    kinds,
    refresh,
    read,
    rowsOf,
    async kindOf(kind, index) {
      const known = (await kinds()).get(kind.name);
      const isEnough = known && (index === undefined || known.indexes.has(index));
      return isEnough ? known : declaredKind(await refresh(), kind);
    },
    async isOld({ name, epoch }) {
      return (await refresh()).get(name)?.epoch !== epoch;
    },
    async swap(before, kinds) {
      const after = { revision: before.revision + 1, kinds };
      if (await swapped(stored, before, after)) {
        take(after);
        return after;
      }
      throw new TwinlineError('ERR_STORE', 'MongoDB: another instance has changed the declared kinds. Declare again.');
    },
  };
}

async function swapped(stored: Collection<Stored>, before: Registered, after: Registered): Promise<boolean> {
  if (before.revision > 0)
    return (await stored.updateOne({ _id: 'kinds', revision: before.revision }, { $set: after })).matchedCount > 0;
  try {
    await stored.insertOne({ _id: 'kinds', ...after });
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

function isDeclared({ declared }: KindEntry): boolean {
  return declared;
}
