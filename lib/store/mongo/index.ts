// Documents in MongoDB: one collection per kind, as durable as the replica set, shared by any number of instances.

import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import { checkKey, checkLimit, requireGiven } from '../../given.ts';
import type { JsonObject } from '../../json/json.ts';
import { bodyText, listIndexValues } from '../index/kinds.ts';
import { planQuery } from '../index/query.ts';
import { STORE_LIMITS } from '../limits.ts';
import type { DocumentStore, Exists, InsertResult, Kind, Query, ReplaceResult, StoredDocument } from '../store.ts';
import { checkPrefix, type MongoSource, workOn } from './connection.ts';
import { type MongoKind, openRegistry } from './declare.ts';
import { openFeed } from './feed.ts';
import { isDuplicate, retryConflicts } from './refusals.ts';
import { findTakenIndex, listFields, nativeQuery, type Row } from './rows.ts';

export { connectMongo, type MongoConnection, type MongoConnectionOptions, type MongoSource } from './connection.ts';
export { type MongoSnapshotsOptions, mongoSnapshots } from './snapshots.ts';

/** Options of `mongoDocuments`. */
export type MongoDocumentsOptions = MongoSource & {
  /**
   * Prefix of the collection names `<prefix>.documents.<kind>`, `<prefix>.changes` and `<prefix>.kinds`: 1 to 32 letters,
   * digits, - and _. Never shard these collections.
   * @default twinline
   */
  readonly prefix?: string;
  /** Timestamps the changes. @default systemClock */
  readonly clock?: Pick<Clock, 'now'>;
};

/** Attempts of a write when the conflicting document is gone on a second look. */
const TRIES = 20;

/**
 * Opens the store; it connects on the first call. Throws ERR_CONFIG for an invalid URL or prefix.  Every write is a single
 * write of one row, which contains the body, the indexed values, the revision and the change. A removed document stays
 * behind, without body and values, until its change is numbered. So no document ever lacks its change, whichever process is
 * killed when. A write resolves once its change is in the feed. All changes are kept; an operator who deletes old ones must
 * keep the newest.  A write that fails with ERR_STORE because its reply was lost may have been applied.
 * @example
 * const NOTE = { name: 'note', indexes: {} };
 * const documents = mongoDocuments({ url: process.env.MONGODB_URL!, prefix: 'tea' });
 * await documents.declare([NOTE]);
 * await documents.insert(NOTE, 'n1', { text: 'Tea' });
 * (await documents.get(NOTE, 'n1'))?.revision; // → 1
 * await documents.close();
 */
export function mongoDocuments(options: MongoDocumentsOptions): DocumentStore {
  requireGiven('keep documents in MongoDB', options, {});
  const { prefix = 'twinline', clock = systemClock } = options;
  checkPrefix(prefix);
  const { db, run, bounded, ping, close } = workOn(options);
  const registry = openRegistry(db, prefix);
  const feed = openFeed(db, { prefix, registry, bounded });

  // Returns the row after the update, once its change is numbered; undefined when the filter matches no row.
  async function write(kind: MongoKind, filter: object, { text, revision }: { text?: string; revision: number }) {
    const change = { x: randomBytes(12).toString('base64url'), revision, at: clock.now() };
    const update =
      text === undefined
        ? { $set: { v: revision }, $unset: { body: 1, f: 1 } }
        : { $set: { v: revision, body: text, f: listFields(JSON.parse(text)) } };
    const row = await retryConflicts(() =>
      kind.rows.findOneAndUpdate(filter, { ...update, $push: { out: change } } as object, {
        upsert: 'v' in filter && filter.v === 0,
        returnDocument: 'after',
        projection: { v: 1, out: 1 },
      }),
    );
    if (row) await feed.publish([{ ...row, kind }]);
    return row ?? undefined;
  }

  async function read(kind: MongoKind, id: string): Promise<Row | undefined> {
    const row = await kind.rows.findOne({ _id: id }, { projection: { v: 1, out: 1, body: 1 } });
    if (row) await feed.publish([{ ...row, kind }]);
    return row ?? undefined;
  }

  // The result for a duplicate; undefined when the conflicting document is gone. It is looked up, because not every server
  // names the index: DocumentDB names a PostgreSQL constraint.
  async function findTaken(kind: Kind, id: string, text: string): Promise<Exists | undefined> {
    const indexes = await registry.uniqueIndexes(kind);
    const { rows } = await registry.findKind(kind);
    const index = await findTakenIndex(rows, indexes, { id, body: JSON.parse(text) });
    return index === undefined ? undefined : { kind: 'exists', index };
  }

  async function insertOnce<B extends JsonObject>(
    kind: MongoKind,
    id: string,
    text: string,
  ): Promise<InsertResult<B> | undefined> {
    try {
      // Replaces the remains of a removed document, if any.
      await write(kind, { _id: id, v: 0 }, { text, revision: 1 });
      return { kind: 'inserted', id, revision: 1, body: JSON.parse(text) };
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      return ((await read(kind, id))?.v ?? 0) > 0 ? { kind: 'exists' } : undefined;
    }
  }

  async function replaceOnce(
    kind: MongoKind,
    id: string,
    { expected, text }: { expected: number; text: string },
  ): Promise<ReplaceResult | undefined> {
    try {
      const next = { text, revision: expected + 1 };
      // A removed document has revision 0 and must not be replaced.
      if (isRevision(expected) && (await write(kind, { _id: id, v: expected }, next)))
        return { kind: 'replaced', revision: expected + 1 };
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      return undefined;
    }
    const revision = (await read(kind, id))?.v ?? 0;
    return revision === expected && revision > 0 ? undefined : { kind: 'conflict', revision };
  }

  // Returns the step's result or the conflict; retries when there is neither, because the state has changed in between.
  async function attempt<T>(
    kind: Kind,
    { id, text }: { id: string; text: string },
    step: (own: MongoKind) => Promise<T | undefined>,
  ): Promise<T | Exists> {
    checkKey(id, 'document id');
    const own = await registry.findKind(kind);
    const body = JSON.parse(text);
    for (const index of own.indexes.values()) listIndexValues(index, body);
    for (let tries = 0; tries < TRIES; tries++) {
      const result = (await step(own)) ?? (await findTaken(kind, id, text));
      if (result) return result;
    }
    throw new TwinlineError(
      'ERR_STORE',
      `MongoDB: a document of kind "${kind.name}" or a conflicting one changed ${TRIES} times. Try again.`,
    );
  }

  async function prepareQuery(kind: Kind, query: Query) {
    const own = await registry.findKind(kind, query.index);
    const plan = planQuery(own, query);
    return { own, plan, native: nativeQuery(plan) };
  }

  return {
    name: 'mongo',
    durability: 'replicated',
    declare: (kinds) => run('declare kinds', () => registry.declare(kinds), { ms: STORE_LIMITS.mongoDeclareMs }),
    insert: async <B extends JsonObject>(kind: Kind, id: string, body: B) => {
      // Serialise now: later changes to the caller's object must not take effect.
      const text = bodyText(kind.name, id, body);
      return run('insert a document', () => attempt(kind, { id, text }, (own) => insertOnce<B>(own, id, text)));
    },
    get: <B extends JsonObject>(kind: Kind, id: string) =>
      run('get a document', async () => {
        checkKey(id, 'document id');
        const row = await read(await registry.findKind(kind), id);
        return row && row.v > 0 ? toDocument<B>(row) : undefined;
      }),
    replace: async (kind, id, expected, body) => {
      const text = bodyText(kind.name, id, body);
      return run('replace a document', () =>
        attempt(kind, { id, text }, (own) => replaceOnce(own, id, { expected, text })),
      );
    },
    remove: (kind, id, expected) =>
      run('remove a document', async () => {
        checkKey(id, 'document id');
        const own = await registry.findKind(kind);
        if (expected !== undefined && !isRevision(expected)) return false;
        return (await write(own, { _id: id, v: expected ?? { $gt: 0 } }, { revision: 0 })) !== undefined;
      }),
    find: <B extends JsonObject>(kind: Kind, query: Query = {}) =>
      run('find documents', async () => {
        const { own, plan, native } = await prepareQuery(kind, query);
        const options = { projection: { v: 1, out: 1, body: 1 }, sort: native.sort, limit: plan.limit + 1 };
        const rows = await own.rows.find(native.filter, options).toArray();
        await feed.publish(rows.map((row) => ({ ...row, kind: own })));
        const items = rows.slice(0, plan.limit).map((row) => toDocument<B>(row));
        const last = items.at(-1);
        return last && rows.length > plan.limit ? { items, next: native.cursorAt(last.id, last.body) } : { items };
      }),
    count: (kind, query = {}) =>
      run('count documents', async () => {
        const { own, native } = await prepareQuery(kind, query);
        return own.rows.countDocuments(native.filter);
      }),
    changes: (after, limit) =>
      run('read changes', async () => {
        checkLimit(limit);
        return feed.changes(after, limit);
      }),
    lastChange: () => run('read the newest change', feed.lastChange),
    ping,
    close: () => close(feed.stop),
  };
}

function toDocument<B extends JsonObject>({ _id, v, body }: Row): StoredDocument<B> {
  return { id: _id, revision: v, body: JSON.parse(body!) };
}

// Guards against an object, which MongoDB would read as an operator.
function isRevision(value: number): boolean {
  return Number.isInteger(value) && value > 0;
}
