// The feed of changes in MongoDB: what waits in the documents is numbered and copied to one collection, in order.

import type { Collection, Db } from 'mongodb';
import { systemClock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import type { Change } from '../store.ts';
import { isConflict, isDuplicate } from './errors.ts';
import type { Registry } from './registry.ts';
import type { Row } from './rows.ts';
import { type Found, nextBatch } from './waiting.ts';

/** One change in the feed. */
interface Published {
  /** Its number. */
  readonly _id: number;
  /** The change's own name; unique, so that no change is published twice. */
  readonly x: string;
  readonly kind: string;
  readonly id: string;
  readonly revision: number;
  readonly at: number;
}

/**
 * The feed. Any number of instances relay at the same time, and any may be killed at any moment: a number is taken by
 * the insert of the change itself, it is always the one after the highest that a majority has, and ids are unique. So
 * a number is never given twice, never after a higher one, and a reader of what is there never misses what comes later.
 */
export interface Feed {
  changes(after: number, limit: number): Promise<Change[]>;
  /** The number of the newest change, once all that wait are published; 0 when there is none. */
  lastChange(): Promise<number>;
  /** A change waits: relays it soon, unless somebody else does. */
  nudge(): void;
  /** Ends relaying. */
  stop(): Promise<void>;
}

interface FeedOptions {
  readonly prefix: string;
  readonly registry: Registry;
  /** Gives up what takes too long, for everybody waits for it. */
  bounded<T>(work: Promise<T>): Promise<T>;
}

/** Milliseconds until a change is relayed though nobody reads, at random up to twice that, so that instances rarely meet. */
const RELAY_MS = 250;
/** Milliseconds to let another relay go first, and times to try. */
const AGAIN_MS = 5;
const TRIES = 200;

export function openFeed(db: Db, { prefix, registry, bounded }: FeedOptions): Feed {
  const feed = db.collection<Published>(`${prefix}.changes`);
  let running: Promise<boolean> | undefined;
  let queued: Promise<boolean> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  // True when there is more.
  async function pass(): Promise<boolean> {
    const kinds = [...(await registry.refresh()).values()];
    if (!kinds.length) return false;
    const { found, more } = await nextBatch(kinds);
    if (!found.length) return false;
    await publish(feed, found);
    await clear(found).catch((error: unknown) => {
      if (!isConflict(error)) throw error;
    });
    return more;
  }

  // A pass that begins after the call, whatever runs already.
  function relay(): Promise<boolean> {
    if (!running) {
      running = bounded(pass()).finally(() => {
        running = undefined;
      });
      return running;
    }
    queued ??= running
      .catch(() => {})
      .then(() => {
        queued = undefined;
        return relay();
      });
    return queued;
  }

  function nudge(): void {
    if (timer || stopped) return;
    const soon = RELAY_MS * (1 + Math.random());
    timer = setTimeout(() => {
      timer = undefined;
      // What fails now is done with the next write or read.
      relay().then(
        (more) => more && nudge(),
        () => {},
      );
    }, soon).unref();
  }

  async function read(after: number, limit: number): Promise<Change[]> {
    const rows = await feed.find({ _id: { $gt: after } }, { sort: { _id: 1 }, limit }).toArray();
    return rows.map(({ _id, kind, id, revision, at }) => ({ seq: _id, kind, id, revision, at }));
  }

  return {
    async changes(after, limit) {
      for (let more = true; ; ) {
        const page = await read(after, limit);
        if (page.length === limit || !more) return page;
        more = await relay();
      }
    },
    async lastChange() {
      for (let more = true; more; ) more = await relay();
      return newestNumber(feed);
    },
    nudge,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      while (running) await running.catch(() => {});
    },
  };
}

async function publish(feed: Collection<Published>, found: readonly Found[]): Promise<void> {
  let left = found;
  for (let tries = 0; left.length; tries++) {
    const first = (await newestNumber(feed)) + 1;
    try {
      // In order: the first that is refused ends it, and no number is left out.
      await feed.insertMany(left.map((one, at) => published(first + at, one)));
      return;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      if (tries === TRIES)
        throw new TwinlineError('ERR_STORE', 'MongoDB: others relay changes all the time. Try again.');
    }
    const names = left.map(({ change }) => change.x);
    const there = await feed.find({ x: { $in: names } }, { projection: { x: 1, _id: 0 } }).toArray();
    const known = new Set(there.map(({ x }) => x));
    left = left.filter(({ change }) => !known.has(change.x));
    await systemClock.wait(AGAIN_MS * Math.random());
  }
}

async function newestNumber(feed: Collection<Published>): Promise<number> {
  const [newest] = await feed.find({}, { projection: { _id: 1 }, sort: { _id: -1 }, limit: 1 }).toArray();
  return newest?._id ?? 0;
}

function published(seq: number, { kind, id, change }: Found): Published {
  return { _id: seq, x: change.x, kind: kind.name, id, revision: change.r, at: change.at };
}

// Whatever is not cleared, because of a kill or since somebody else has written, is known by its name next time.
async function clear(found: readonly Found[]): Promise<void> {
  const byKind = grouped(found, ({ kind }) => kind);
  await Promise.all(Array.from(byKind, ([{ rows }, own]) => clearRows(rows, own)));
}

async function clearRows(rows: Collection<Row>, found: readonly Found[]): Promise<void> {
  const gone = found.filter(({ lastOf }) => lastOf !== undefined);
  const rest = grouped(found, ({ id }) => id);
  for (const { id } of gone) rest.delete(id);
  if (gone.length)
    await rows.deleteMany({ v: 0, $or: gone.map(({ id, lastOf }) => ({ _id: { $eq: id }, t: lastOf! })) });
  const updates = Array.from(rest, ([id, own]) => {
    const names = own.map(({ change }) => change.x);
    return { updateOne: { filter: { _id: { $eq: id } }, update: { $pull: { out: { x: { $in: names } } } } } };
  });
  if (updates.length) await rows.bulkWrite(updates, { ordered: false });
}

function grouped<K>(found: readonly Found[], by: (one: Found) => K): Map<K, Found[]> {
  const groups = new Map<K, Found[]>();
  for (const one of found) {
    const group = groups.get(by(one));
    if (group) group.push(one);
    else groups.set(by(one), [one]);
  }
  return groups;
}
