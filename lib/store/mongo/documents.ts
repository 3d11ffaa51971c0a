// Documents in MongoDB: one collection per kind, durable as the replica set is, shared by any number of instances.

import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../../clock.ts';
import { bodyText } from '../index/kinds.ts';
import { type Plan, planQuery } from '../index/query.ts';
import { checkKey, checkLimit } from '../input.ts';
import { STORE_LIMITS } from '../limits.ts';
import type { DocumentStore, InsertResult, JsonObject, Kind, Query, StoredDocument } from '../store.ts';
import { checkPrefix, type MongoSource, workOn } from './connection.ts';
import { declareKinds } from './declare.ts';
import { openFeed } from './feed.ts';
import { openRegistry } from './registry.ts';
import { type MongoIndex, placeOf, type Row } from './rows.ts';
import { openStamps } from './stamps.ts';
import { openWriter } from './writes.ts';

export type MongoDocumentsOptions = MongoSource & {
  /**
   * Begins the names of the collections: `<prefix>.documents.<kind>`, `<prefix>.changes`, `<prefix>.registry`. 1 to 32
   * letters, digits, - and _. Never shard them. @default twinline
   */
  readonly prefix?: string;
  /** Dates the changes. @default the system's clock */
  readonly clock?: Pick<Clock, 'now'>;
};

/**
 * Opens the store; it connects with the first call. Throws ERR_CONFIG for a bad URL or prefix.
 *
 * Every write is one write of one document of MongoDB's, which has the body, the keys of all indexes, the revision and
 * the change that waits for its number; a removed document stays behind, without body and keys, until its change has
 * one. So there is never a document without its change or its index keys, nor the other way round, whoever is killed
 * when. A change gets its number when it is relayed to the feed: by the next call of `changes` of any instance, or by
 * the writer a moment later. Numbers have the order of the writes for writes of one document, of one instance, and of
 * instances that read what the other one wrote; for others it is that of the clocks of their hosts. All changes are
 * kept; whoever deletes old ones must leave the newest.
 *
 * A write that is refused as ERR_STORE because its answer was lost may have been done.
 */
export function mongoDocuments(options: MongoDocumentsOptions): DocumentStore {
  const { prefix = 'twinline', clock = systemClock } = options;
  checkPrefix(prefix);
  const { db, run, bounded, close } = workOn(options);
  const registry = openRegistry(db, prefix);
  const feed = openFeed(db, { prefix, registry, bounded });
  const stamps = openStamps(clock);
  const own = randomBytes(6).toString('base64url');
  const writer = openWriter(registry, {
    change(revision) {
      const t = stamps.next();
      return { x: `${t}.${own}`, t, r: revision, at: clock.now() };
    },
    saw: stamps.saw,
    done: feed.nudge,
  });

  async function planned(kind: Kind, query: Query) {
    const { rows, ...declared } = await registry.kindOf(kind, query.index);
    const plan = planQuery<MongoIndex>(declared, query);
    return { rows, plan, ...filterOf(plan, query) };
  }

  function documentOf<B extends JsonObject>({ _id, v, t, body }: Row): StoredDocument<B> {
    stamps.saw(t);
    return { id: String(_id), revision: v, body: JSON.parse(body!) };
  }

  return {
    name: 'mongo',
    durability: 'replicated',
    declare: (kinds) =>
      run('declare kinds', () => declareKinds(kinds, { db, prefix, registry }), { ms: STORE_LIMITS.mongoDeclareMs }),
    insert: async <B extends JsonObject>(kind: Kind, id: string, body: B): Promise<InsertResult<B>> => {
      // At once: what the caller does to the body later is no part of it.
      const text = bodyText(kind.name, id, body);
      return run('insert a document', async (): Promise<InsertResult<B>> => {
        checkKey(id, 'document id');
        const written = await writer.insert(kind, id, text);
        return written === true ? { kind: 'inserted', id, revision: 1, body: JSON.parse(text) as B } : written;
      });
    },
    get: <B extends JsonObject>(kind: Kind, id: string) =>
      run('get a document', async () => {
        checkKey(id, 'document id');
        const { rows } = await registry.kindOf(kind);
        const row = await rows.findOne({ _id: { $eq: id }, v: { $gt: 0 } }, { projection: { v: 1, t: 1, body: 1 } });
        return row ? documentOf<B>(row) : undefined;
      }),
    replace: async (kind, id, expected, body) => {
      const text = bodyText(kind.name, id, body);
      return run('replace a document', async () => {
        checkKey(id, 'document id');
        return writer.replace(kind, id, { expected, text });
      });
    },
    remove: (kind, id, expected) =>
      run('remove a document', async () => {
        checkKey(id, 'document id');
        return writer.remove(kind, id, expected);
      }),
    find: <B extends JsonObject>(kind: Kind, query: Query = {}) =>
      run('find documents', async () => {
        const { rows, plan, place, filter } = await planned(kind, query);
        const { limit, descending } = plan;
        if (!filter) return { items: [] };
        const projection = { v: 1, t: 1, body: 1, [place.path]: 1 };
        const sort = { [place.path]: descending ? -1 : 1 } as const;
        const found = await rows.find(filter, { projection, sort, limit: limit + 1 }).toArray();
        const items = found.slice(0, limit).map((row) => documentOf<B>(row));
        return found.length > limit ? { items, next: plan.cursorAt(place.whole(found[limit - 1]!)) } : { items };
      }),
    count: (kind, query = {}) =>
      run('count documents', async () => {
        const { rows, filter } = await planned(kind, query);
        return filter ? rows.countDocuments(filter) : 0;
      }),
    changes: (after, limit) =>
      run('read changes', async () => {
        checkLimit(limit);
        return feed.changes(after, limit);
      }),
    lastChange: () => run('read the newest change', feed.lastChange),
    ping: () => run('ping', async () => void (await db.command({ ping: 1 }))),
    close: () => close(feed.stop),
  };
}

// The stretches do not overlap and are in order, so that one sorted query walks them all; none: nothing matches.
function filterOf({ index, stretches }: Plan<MongoIndex>, { where }: Query) {
  const place = placeOf(index, where);
  const ranges = stretches.map((stretch) => ({ [place.path]: place.range(stretch) }));
  const filter = ranges.length > 1 ? { ...place.only, $or: ranges } : { ...place.only, ...ranges[0] };
  return { place, filter: ranges.length ? filter : undefined };
}
