// Building the indexes of one kind in MongoDB while others read and write, and taking them down again.

import type { Collection, IndexDescription } from 'mongodb';
import { TwinlineError } from '../../errors.ts';
import { takenError } from '../insert-new.ts';
import { STORE_LIMITS } from '../limits.ts';
import { isConflict, isDuplicate, isLate } from './errors.ts';
import type { IndexEntry, KindEntry } from './registry.ts';
import { keysOf, listed, type Row } from './rows.ts';

export interface Building {
  readonly kind: KindEntry;
  readonly rows: Collection<Row>;
  /** Called again and again; rejects when the work must end. */
  goOn(): Promise<void>;
}

const BATCH = 500;
/** Index of the changes that wait in rows. */
export const WAITING = { key: { 'out.t': 1 }, name: 'waiting', partialFilterExpression: { 'out.t': { $gt: 0 } } };

/**
 * Makes `kind` complete: every row has keys for all its indexes, and so has every row from now on. For that the rows of
 * older epochs are brought up to the new one, and then a guard refuses every write of an instance that does not know
 * the new indexes yet: a unique index over the epochs below the new one, all of which are taken. Rejects with
 * ERR_EXISTS when documents clash in a new unique index.
 */
export async function build({ kind, rows, goOn }: Building): Promise<void> {
  const fresh = kind.indexes.filter(({ state }) => state === 'building');
  await create(rows, [WAITING, ...fresh.map(keyIndex)]);
  if (kind.declared) {
    await takeEpochs(rows, kind.epoch);
    do await fill({ kind, rows, goOn });
    while (!(await isGuarded(rows, kind.epoch)));
  }
  for (const index of fresh.filter(({ unique }) => unique)) await claim({ kind, rows, index });
}

/** Takes the server's indexes down; those that are not there are no error. */
export async function takeDown(rows: Collection<Row>, doomed: (name: string) => boolean): Promise<void> {
  const there = await rows.indexes().catch(() => []);
  const names = there.map(({ name }) => String(name)).filter(doomed);
  for (const name of names) await rows.dropIndex(name).catch(() => {});
}

export function keyName({ field }: Pick<IndexEntry, 'field'>): string {
  return `key ${field}`;
}

export function claimName({ field }: Pick<IndexEntry, 'field'>): string {
  return `claim ${field}`;
}

function guardName(epoch: number): string {
  return `guard ${epoch}`;
}

// After equality on the element, the rest is in the order of the index.
function keyIndex(index: IndexEntry): IndexDescription {
  const { field } = index;
  const key: Record<string, 1> = listed(index) ? { [`l.${field}`]: 1, [`k.${field}`]: 1 } : { [`k.${field}`]: 1 };
  return { key, name: keyName(index) };
}

// Building may take longer than an answer; whoever asks again waits for the same work.
async function create(rows: Collection<Row>, indexes: IndexDescription[]): Promise<void> {
  for (const until = performance.now() + STORE_LIMITS.mongoDeclareMs; ; )
    try {
      await rows.createIndexes(indexes);
      return;
    } catch (error) {
      if (!isLate(error) || performance.now() > until) throw error;
    }
}

async function takeEpochs(rows: Collection<Row>, epoch: number): Promise<void> {
  for (let e = 1; e < epoch; e++)
    try {
      await rows.insertOne({ _id: e, v: 0, e, t: 0 });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
}

async function fill({ kind, rows, goOn }: Building): Promise<void> {
  const target = { ...kind, written: kind.indexes, indexes: new Map(), rows };
  const options = { projection: { e: 1, t: 1, body: 1 }, sort: { _id: 1 }, limit: BATCH } as const;
  for (let after = ''; ; ) {
    await goOn();
    const found = await rows.find({ _id: { $gt: after }, e: { $lt: kind.epoch } }, options).toArray();
    if (!found.length) return;
    after = String(found.at(-1)!._id);
    // A row that is written meanwhile has another stamp: the guard will find it.
    const updates = found.map(({ _id, e, t, body }) => {
      const keys = body === undefined ? {} : keysOf(target, String(_id), body);
      return { updateOne: { filter: { _id: { $eq: _id }, e, t }, update: { $set: { e: kind.epoch, ...keys } } } };
    });
    try {
      await rows.bulkWrite(updates, { ordered: false });
    } catch (error) {
      // Another instance's claim in a unique index that a killed declaration left behind.
      if (isDuplicate(error)) throw takenError(kind.name, String(found[0]!._id));
      if (!isConflict(error)) throw error;
    }
  }
}

async function isGuarded(rows: Collection<Row>, epoch: number): Promise<boolean> {
  const guard = { name: guardName(epoch), unique: true, partialFilterExpression: { e: { $lt: epoch } } };
  try {
    await create(rows, [{ key: { e: 1 }, ...guard }]);
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
  await takeDown(rows, (name) => name.startsWith('guard ') && name !== guard.name);
  return true;
}

async function claim({ kind, rows, index }: { kind: KindEntry; rows: Collection<Row>; index: IndexEntry }) {
  const path = `u.${index.field}`;
  const held = { [path]: { $gte: '' } };
  try {
    await create(rows, [{ key: { [path]: 1 }, name: claimName(index), unique: true, partialFilterExpression: held }]);
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    const shared = [
      { $match: held },
      { $unwind: `$${path}` },
      { $group: { _id: `$${path}`, id: { $first: '$_id' }, n: { $sum: 1 } } },
      { $match: { n: { $gt: 1 } } },
      { $limit: 1 },
    ];
    const [one] = await rows.aggregate<{ id: string }>(shared, { allowDiskUse: true }).toArray();
    if (one) throw takenError(kind.name, one.id, index.name);
    throw new TwinlineError('ERR_STORE', `Kind "${kind.name}" changed while "${index.name}" was built. Declare again.`);
  }
}
