// The feed of changes in MongoDB: every write leaves its change in its row, and is acknowledged when that has a number.
//
// A number is taken by inserting the change itself under the number after the highest one that a majority has; ids are
// unique, so no number is given twice, none is left out, and none appears below one that a reader has seen. A change
// whose writer was killed before that is numbered by the next process that reads its row, or the feed: so what anybody has seen has
// its number before anything that follows from it. A transaction around a counter would be shorter. But one that its
// writer leaves open, being killed or cut off, locks the counter, and with it every write of every instance, until the
// server gives it up: after transactionLifetimeLimitSeconds, 60 by default.
//
// Measured with DocumentDB on two cores that other programs used too, in documents inserted a second: one process 83 with
// 32 callers and 51 with one; three processes together 48 with 32 callers each and 7 with one each. A transaction around a
// counter gave 96, 33, 39 and 6 there.

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

/** A row whose changes may have no number yet. */
export interface PendingRow extends Pick<Row, '_id' | 'v' | 'out'> {
  readonly kind: MongoKind;
}

export interface Feed {
  /** Resolves when all changes of these rows have their numbers. */
  publish(rows: readonly PendingRow[]): Promise<void>;
  changes(after: number, limit: number): Promise<Change[]>;
  /** The number of the newest change; 0 when there is none. */
  lastChange(): Promise<number>;
  /** Resolves when nothing is under way. */
  stop(): Promise<void>;
}

/** A change as the feed has it. */
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
  /** Gives up what takes too long, for everybody waits for it. */
  bounded<T>(work: Promise<T>): Promise<T>;
}

/** While other instances number theirs, or a majority is slow to have what they have numbered: some ten seconds in all. */
const BACKOFF: Backoff = { firstMs: 2, maxMs: 50, jitter: 1 };
const TRIES = 400;
/** Rows of one kind that one read of the feed numbers. */
const ROWS = 500;
/** Names of the newest changes that are known to have their numbers. */
const NAMES = 10_000;

export function openFeed(db: () => Db, { prefix, registry, bounded }: FeedOptions): Feed {
  const feed = () => db().collection<Published>(`${prefix}.changes`);
  const done = new LRUCache<string, true>(growing(NAMES));
  let waiting: PendingRow[] = [];
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<void> | undefined;
  let clearing: Promise<unknown> = Promise.resolve();
  let isReady = false;
  /** The highest number that is known to be there for good. */
  let newest = 0;

  const hasNumber = ({ x }: PendingChange) => done.has(x);

  // Rows that are handed in while others are numbered go together with the next.
  async function publish(rows: readonly PendingRow[]): Promise<void> {
    const left = rows.filter(({ out }) => !out.every(hasNumber));
    if (!left.length) return;
    waiting.push(...left);
    next ??= running.then(() => {
      const batch = waiting;
      waiting = [];
      const numbered = bounded(giveNumbers(batch));
      running = numbered.catch(() => {});
      next = undefined;
      return numbered;
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
        throw new TwinlineError('ERR_STORE', 'MongoDB: others number changes all the time. Try again.');
      const all = Array.from(changes.values(), (change, at): Published => ({ _id: newest + 1 + at, ...change }));
      try {
        // In order: the first that is refused ends it, and no number is left out.
        await retryConflicts(() => feed().insertMany(all));
        newest = Math.max(newest, all.at(-1)!._id);
        note(changes.keys());
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        newest = Math.max(newest, await readNewest());
        const names = [...changes.keys()];
        const there = await feed()
          .find({ x: { $in: names } }, { projection: { x: 1, _id: 0 } })
          .toArray();
        note(there.map(({ x }) => x));
        await systemClock.wait(retryDelay(tries + 1, BACKOFF));
      }
    }
    // What is not cleared is known by its name next time.
    clearing = clearing.then(() => bounded(clear(rows))).catch(() => {});

    function note(names: Iterable<string>): void {
      for (const x of [...names]) {
        done.set(x, true);
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
    const found = await feed()
      .find({ _id: { $gt: after } }, { sort: { _id: 1 }, limit })
      .toArray();
    return found.map(({ _id, kind, id, revision, at }) => ({ seq: _id, kind, id, revision, at }));
  }

  // What writers that were killed, or are not ready yet, have left in their rows. How many rows of one kind at most.
  async function publishPending(): Promise<number> {
    const kinds = [...(await registry.refresh()).values()];
    const options = { projection: { v: 1, out: 1 }, limit: ROWS } as const;
    const found = await Promise.all(
      kinds.map(async (kind) => {
        const rows = await kind.rows.find({ 'out.x': { $exists: true } }, options).toArray();
        return rows.map((row) => ({ ...row, kind }));
      }),
    );
    await publish(found.flat());
    return Math.max(0, ...found.map(({ length }) => length));
  }

  return {
    publish,
    lastChange: readNewest,
    async changes(after, limit) {
      for (;;) {
        const page = await read(after, limit);
        if (page.length === limit) return page;
        const found = await publishPending();
        if (found === 0) return page;
        if (found < ROWS) return read(after, limit);
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
    const removed = own.filter(({ v }) => v === 0).map(({ _id }) => _id);
    if (removed.length) await kind.rows.deleteMany({ _id: { $in: removed }, v: 0, out: [] });
  }
}
