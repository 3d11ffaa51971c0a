// The change feed in MongoDB: every write records its change in its row, and is acknowledged once the change is numbered.
//
// A change is numbered by inserting it under the number after the highest one that a majority has. Ids are unique, so no
// number is assigned twice or skipped, and none appears below one that a reader has seen. If a writer is killed before
// that, the next process that reads its row or the feed numbers the change: so whatever anyone has read is numbered
// before anything that follows from it. A transaction around a counter would be shorter; but one left open by a killed
// or disconnected writer locks the counter, and with it every write of every instance, until the server aborts it after
// transactionLifetimeLimitSeconds, 60 by default.
//
// Measured with DocumentDB on two cores under other load, in inserts per second: one process 83 with 32 callers and 51
// with one; three processes together 48 with 32 callers each and 7 with one each. A transaction around a counter gave
// 96, 33, 39 and 6.

import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import { systemClock } from '../../clock.ts';
import { growing } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import { type Backoff, retryDelay } from '../../retry.ts';
import type { Change } from '../store.ts';
import type { MongoKind, Registry } from './declare.ts';
import { isDuplicate, retryConflicts } from './refusals.ts';
import type { PendingChange, Row } from './rows.ts';

/** A row whose changes may not be numbered yet. */
export interface PendingRow extends Pick<Row, '_id' | 'v' | 'out'> {
  readonly kind: MongoKind;
}

export interface Feed {
  /** Resolves once all changes of these rows are numbered. */
  publish(rows: readonly PendingRow[]): Promise<void>;
  changes(after: number, limit: number): Promise<Change[]>;
  /** The newest change's number; 0 when there is none. */
  lastChange(): Promise<number>;
  /** Resolves once nothing is in progress. */
  stop(): Promise<void>;
}

/** A numbered change. */
export interface Published {
  /** The number. */
  readonly _id: number;
  /** {@link PendingChange.x}; unique, so that no change is published twice. */
  readonly x: string;
  readonly kind: string;
  readonly id: string;
  readonly revision: number;
  readonly at: number;
}

export interface FeedOptions {
  readonly prefix: string;
  readonly registry: Registry;
  /** Applies the call timeout, because everybody waits for this work. */
  bounded<T>(work: Promise<T>): Promise<T>;
}

/** While other instances number their changes, or a majority is slow to replicate: about ten seconds in total. */
const BACKOFF: Backoff = { firstMs: 2, maxMs: 50, jitter: 1 };
const TRIES = 400;
/** Rows per kind that one read of the feed numbers. */
const ROWS = 500;
/** Remembered names of recently numbered changes. */
const NAMES = 10_000;

export function openFeed(db: () => Db, { prefix, registry, bounded }: FeedOptions): Feed {
  const feed = () => db().collection<Published>(`${prefix}.changes`);
  const numberedNames = new LRUCache<string, true>(growing(NAMES));
  let waiting: PendingRow[] = [];
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<void> | undefined;
  let clearing: Promise<unknown> = Promise.resolve();
  let isReady = false;
  /** The highest number known to be durable. */
  let newest = 0;

  const hasNumber = ({ x }: PendingChange) => numberedNames.has(x);

  // Rows submitted while others are being numbered go together in the next batch.
  async function publish(rows: readonly PendingRow[]): Promise<void> {
    const unnumbered = rows.filter(({ out }) => !out.every(hasNumber));
    if (!unnumbered.length) return;
    waiting.push(...unnumbered);
    next ??= running.then(() => {
      const batch = waiting;
      waiting = [];
      const numbering = bounded(giveNumbers(batch));
      running = numbering.catch(() => {});
      next = undefined;
      return numbering;
    });
    await next;
  }

  async function giveNumbers(rows: readonly PendingRow[]): Promise<void> {
    if (!isReady) {
      await feed().createIndexes([{ key: { x: 1 }, name: 'once', unique: true }]);
      newest = await readNewest();
      isReady = true;
    }
    const changes = new Map<string, Omit<Published, '_id'>>();
    for (const { kind, _id: id, out } of rows)
      for (const change of out) if (!hasNumber(change)) changes.set(change.x, { ...change, kind: kind.name, id });
    for (let tries = 0; changes.size; tries++) {
      if (tries === TRIES)
        throw new TwinlineError(
          'ERR_STORE',
          'MongoDB: could not number a change because of concurrent writers. Try again.',
        );
      const all = Array.from(changes.values(), (change, at): Published => ({ _id: newest + 1 + at, ...change }));
      try {
        // Ordered: the first refusal stops the insert, so no number is skipped.
        await retryConflicts(() => feed().insertMany(all));
        newest = Math.max(newest, all.at(-1)!._id);
        note(changes.keys());
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        newest = Math.max(newest, await readNewest());
        const names = [...changes.keys()];
        const published = await feed()
          .find({ x: { $in: names } }, { projection: { x: 1, _id: 0 } })
          .toArray();
        note(published.map(({ x }) => x));
        await systemClock.wait(retryDelay(tries + 1, BACKOFF));
      }
    }
    // If clearing fails, the change is recognised by its name next time.
    clearing = clearing.then(() => bounded(clear(rows))).catch(() => {});

    function note(names: Iterable<string>): void {
      for (const x of [...names]) {
        numberedNames.set(x, true);
        changes.delete(x);
      }
    }
  }

  async function readNewest(): Promise<number> {
    const [last] = await feed()
      .find({}, { projection: { _id: 1 }, sort: { _id: -1 }, limit: 1 })
      .toArray();
    return last?._id ?? 0;
  }

  async function read(after: number, limit: number): Promise<Change[]> {
    const entries = await feed()
      .find({ _id: { $gt: after } }, { sort: { _id: 1 }, limit })
      .toArray();
    return entries.map(({ _id, kind, id, revision, at }) => ({ seq: _id, kind, id, revision, at }));
  }

  // Publishes changes left in rows by killed or slow writers. Returns the largest number of rows found in one kind.
  async function publishPending(): Promise<number> {
    const kinds = [...(await registry.refresh()).values()];
    const options = { projection: { v: 1, out: 1 }, limit: ROWS } as const;
    const pending = await Promise.all(
      kinds.map(async (kind) => {
        const rows = await kind.rows.find({ 'out.x': { $exists: true } }, options).toArray();
        return rows.map((row) => ({ ...row, kind }));
      }),
    );
    await publish(pending.flat());
    return Math.max(0, ...pending.map(({ length }) => length));
  }

  return {
    publish,
    lastChange: readNewest,
    async changes(after, limit) {
      for (;;) {
        const page = await read(after, limit);
        if (page.length === limit) return page;
        const rowCount = await publishPending();
        if (rowCount === 0) return page;
        if (rowCount < ROWS) return read(after, limit);
      }
    },
    async stop() {
      await running;
      await clearing;
    },
  };
}

async function clear(rows: readonly PendingRow[]): Promise<void> {
  for (const [name, kind] of new Map(rows.map((row) => [row.kind.name, row.kind]))) {
    const own = rows.filter((row) => row.kind.name === name);
    const updates = own.map(({ _id, out }) => {
      const names = out.map(({ x }) => x);
      return { updateOne: { filter: { _id }, update: { $pull: { out: { x: { $in: names } } } } } };
    });
    await kind.rows.bulkWrite(updates, { ordered: false });
    const removedIds = own.filter(({ v }) => v === 0).map(({ _id }) => _id);
    if (removedIds.length) await kind.rows.deleteMany({ _id: { $in: removedIds }, v: 0, out: [] });
  }
}
