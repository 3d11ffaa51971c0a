// Sessions in MongoDB: one document per session, as durable as the replica set, shared by any number of instances.

import type { Collection } from 'mongodb';
import { type Clock, systemClock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import { checkKey, checkLimit, requireGiven } from '../../given.ts';
import type { CommitResult, SessionCommit, SnapshotStore, StoredSession } from '../store.ts';
import { checkPrefix, type MongoSource, workOn } from './connection.ts';
import { isDuplicate, retryConflicts } from './refusals.ts';

/** Options of `mongoSnapshots`. */
export type MongoSnapshotsOptions = MongoSource & {
  /** Prefix of the collection `<prefix>.sessions`: 1 to 32 letters, digits, - and _. @default twinline */
  readonly prefix?: string;
  /** Decides what has expired. With a custom clock, the server deletes nothing by itself. @default systemClock */
  readonly clock?: Pick<Clock, 'now'>;
};

interface Row {
  /** The session's key; MongoDB compares strings by their UTF-8 bytes. */
  readonly _id: string;
  readonly revision: number;
  readonly record: string;
  readonly turnKey: string;
  readonly reply: string;
  readonly ended: boolean;
  readonly expiresAt: Date;
  /** Absent without a timer, which keeps the session out of the sparse index. */
  readonly dueAt?: number;
}

/** The server deletes a session that was not swept for this long after expiry. */
const GRACE_SECONDS = 86_400;
/** Attempts of a commit when the session was just removed or has just expired. */
const TRIES = 10;

/**
 * Opens the store; it connects on the first call. Throws ERR_CONFIG for an invalid URL or prefix. Every commit is one write
 * of one document. A commit whose reply was lost may have been applied; its `turnKey` tells.
 * @example
 * const store = mongoSnapshots({ url: process.env.MONGODB_URL!, prefix: 'tea' });
 * const engine = createEngine({ store, conversations: [compileFlow(await loadFlow('hello.flow.json'))] });
 * await takeTurn(engine, { key: 'ann', decide: () => ({ kind: 'begin', conversation: 'hello' }) });
 * (await store.list()).keys; // → ['ann']
 * await store.close();
 */
export function mongoSnapshots(options: MongoSnapshotsOptions): SnapshotStore {
  requireGiven('keep sessions in MongoDB', options, {});
  const { prefix = 'twinline', clock = systemClock } = options;
  checkPrefix(prefix);
  const work = workOn(options);
  const rows = () => work.db().collection<Row>(`${prefix}.sessions`);
  let prepared: Promise<unknown> | undefined;

  function run<T>(action: string, act: () => Promise<T>): Promise<T> {
    return work.run(action, async () => {
      prepared ??= work.bounded(createIndexes(rows(), clock === systemClock)).catch((error: unknown) => {
        prepared = undefined;
        throw error;
      });
      await prepared;
      return act();
    });
  }

  async function readRevision(key: string): Promise<number> {
    const row = await rows().findOne({ _id: { $eq: key } }, { projection: { revision: 1, expiresAt: 1 } });
    return row && isLiving(row) ? row.revision : 0;
  }

  function isLiving({ expiresAt }: Pick<Row, 'expiresAt'>): boolean {
    return expiresAt.getTime() > clock.now();
  }

  // Returns whether it was written. Without a live session, replaces an expired one or inserts a new one.
  async function write(key: string, expected: number, next: SessionCommit): Promise<boolean> {
    const now = new Date(clock.now());
    const own = { _id: { $eq: key } };
    const row = makeRow(expected + 1, next);
    if (expected !== 0) {
      const living = { ...own, revision: { $eq: expected }, expiresAt: { $gt: now } };
      return (await retryConflicts(() => rows().replaceOne(living, row))).matchedCount > 0;
    }
    try {
      await retryConflicts(() => rows().replaceOne({ ...own, expiresAt: { $lte: now } }, row, { upsert: true }));
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  async function commit(key: string, expected: number, next: SessionCommit): Promise<CommitResult> {
    for (let tries = 0; tries < TRIES; tries++) {
      if (await write(key, expected, next)) return { kind: 'committed', revision: expected + 1 };
      const revision = await readRevision(key);
      if (revision !== expected) return { kind: 'conflict', revision };
    }
    throw new TwinlineError(
      'ERR_STORE',
      `MongoDB: a session changed ${TRIES} times while it was being written. Try again.`,
    );
  }

  async function sweepSome(now: number, limit: number): Promise<{ found: number; swept: number }> {
    const expired = { expiresAt: { $lte: new Date(now) } };
    const batch = await rows()
      .find(expired, { projection: { _id: 1 }, limit, sort: { expiresAt: 1 } })
      .toArray();
    if (!batch.length) return { found: 0, swept: 0 };
    const ids = batch.map(({ _id }) => _id);
    const { deletedCount } = await rows().deleteMany({ _id: { $in: ids }, ...expired });
    return { found: batch.length, swept: deletedCount };
  }

  return {
    name: 'mongo',
    durability: 'replicated',
    load: (key) =>
      run('load a session', async () => {
        checkKey(key);
        const row = await rows().findOne({ _id: { $eq: key } });
        return row && isLiving(row) ? makeSession(row) : undefined;
      }),
    commit: (key, expected, next) =>
      run('commit a session', async () => {
        checkKey(key);
        return commit(key, expected, next);
      }),
    remove: (key) =>
      run('remove a session', async () => {
        checkKey(key);
        const row = await rows().findOneAndDelete({ _id: { $eq: key } }, { projection: { expiresAt: 1 } });
        return row !== null && isLiving(row);
      }),
    list: ({ limit = 100, cursor } = {}) =>
      run('list sessions', async () => {
        if (cursor !== undefined) checkKey(cursor);
        checkLimit(limit);
        const living = { ended: false, _id: { $gt: cursor ?? '' }, expiresAt: { $gt: new Date(clock.now()) } };
        const options = { projection: { _id: 1 }, sort: { _id: 1 }, limit: limit + 1 } as const;
        const keys = (await rows().find(living, options).toArray()).map(({ _id }) => _id);
        return keys.length > limit ? { keys: keys.slice(0, limit), next: keys[limit - 1]! } : { keys };
      }),
    due: (now, limit) =>
      run('list due sessions', async () => {
        checkLimit(limit);
        const due = { dueAt: { $lte: now }, expiresAt: { $gt: new Date(now) } };
        const options = { projection: { _id: 1 }, sort: { dueAt: 1 }, limit } as const;
        return (await rows().find(due, options).toArray()).map(({ _id }) => _id);
      }),
    async sweep(now, limit) {
      checkLimit(limit);
      for (let total = 0; ; ) {
        const batch = Math.min(limit - total, COMMON_LIMITS.sweepBatch);
        const { found, swept } = await run('sweep sessions', () => sweepSome(now, batch));
        total += swept;
        if (found < batch || total === limit) return total;
      }
    },
    ping: work.ping,
    close: () => work.close(),
  };
}

function createIndexes(rows: Collection<Row>, expires: boolean): Promise<unknown> {
  const own = expires ? { expireAfterSeconds: GRACE_SECONDS } : {};
  return rows.createIndexes([
    { key: { expiresAt: 1 }, name: 'expiry', ...own },
    { key: { dueAt: 1 }, name: 'due', sparse: true },
    { key: { ended: 1, _id: 1 }, name: 'list' },
  ]);
}

function makeRow(
  revision: number,
  { record, turnKey, reply, ended, expiresAt, dueAt }: SessionCommit,
): Omit<Row, '_id'> {
  const due = dueAt === null ? {} : { dueAt };
  return { revision, record, turnKey, reply, ended, expiresAt: new Date(expiresAt), ...due };
}

function makeSession(row: Row): StoredSession {
  const { revision, record, turnKey, reply, ended, expiresAt, dueAt } = row;
  return { revision, record, turnKey, reply, ended, expiresAt: expiresAt.getTime(), dueAt: dueAt ?? null };
}
