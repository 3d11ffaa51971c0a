// The three writes of documents in MongoDB: each one atomic write of one row, tried again when the world has moved on.

import { TwinlineError } from '../../errors.ts';
import type { Exists, Kind, ReplaceResult } from '../store.ts';
import { isDuplicate } from './errors.ts';
import type { Registry } from './registry.ts';
import { type Keys, keysOf, type MongoKind, type Waiting } from './rows.ts';

export interface Writer {
  /** True when it is written. */
  insert(kind: Kind, id: string, text: string): Promise<true | Exists>;
  replace(kind: Kind, id: string, next: { expected: number; text: string }): Promise<ReplaceResult>;
  remove(kind: Kind, id: string, expected: number | undefined): Promise<boolean>;
}

export interface Recorder {
  /** A new change after which the document has this revision. */
  change(revision: number): Waiting;
  /** A stamp was read. */
  saw(stamp: number): void;
  /** A change waits in a row. */
  done(): void;
}

interface Write {
  readonly kind: MongoKind;
  readonly id: string;
  readonly keys: Keys;
  readonly text: string;
}

/** Times that a write looks again when what refused it was gone at the second look. */
const TRIES = 20;

export function openWriter(registry: Registry, recorder: Recorder): Writer {
  // The step's result, or undefined to try again, with the kind as it is then.
  async function trying<T>(kind: Kind, step: (own: MongoKind) => Promise<T | undefined>): Promise<T> {
    for (let tries = 0; tries < TRIES; tries++) {
      const done = await step(await registry.kindOf(kind));
      if (done !== undefined) return done;
    }
    throw new TwinlineError(
      'ERR_STORE',
      `MongoDB: a document of kind "${kind.name}" or one that it collides with changed ${TRIES} times. Try again.`,
    );
  }

  // True when `act` wrote; false when it wrote nothing, or was refused by what has changed already; or what a replace met.
  async function attempt(
    write: Write,
    act: (change: Waiting) => Promise<boolean>,
    revision: number,
  ): Promise<boolean | Exists> {
    try {
      const written = await act(recorder.change(revision));
      if (written) recorder.done();
      return written;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      if (await registry.isOld(write.kind)) return false;
      return (revision > 1 && (await findTaken(write))) || false;
    }
  }

  async function revisionOf({ rows }: MongoKind, id: string): Promise<{ v: number; t: number } | undefined> {
    const row = await rows.findOne({ _id: { $eq: id } }, { projection: { v: 1, t: 1 } });
    if (row) recorder.saw(row.t);
    return row ?? undefined;
  }

  async function insertOnce(write: Write): Promise<true | Exists | undefined> {
    const { kind, id } = write;
    const { rows } = kind;
    const inserted = await attempt(
      write,
      async (change) => {
        await rows.insertOne({ _id: id, ...rowOf(write, change), out: [change] });
        return true;
      },
      1,
    );
    if (inserted) return inserted;
    const there = await revisionOf(kind, id);
    if (there && there.v > 0) return { kind: 'exists' };
    const taken = await findTaken(write);
    if (taken || !there) return taken;
    // The row of a removal that is not relayed yet: it becomes the document, and keeps the removal.
    const revived = await attempt(
      write,
      async (change) => {
        const update = { $set: rowOf(write, change), $push: { out: change } };
        return (await rows.updateOne({ _id: { $eq: id }, v: 0, t: there.t }, update)).matchedCount > 0;
      },
      1,
    );
    return revived || undefined;
  }

  async function replaceOnce(write: Write, expected: number): Promise<ReplaceResult | undefined> {
    const { kind, id } = write;
    // A removed document has revision 0, and is not to be replaced.
    const replaced =
      expected > 0 &&
      (await attempt(
        write,
        async (change) => {
          const update = { $set: rowOf(write, change), $push: { out: change } };
          return (await kind.rows.updateOne({ _id: { $eq: id }, v: { $eq: expected } }, update)).matchedCount > 0;
        },
        expected + 1,
      ));
    if (replaced) return replaced === true ? { kind: 'replaced', revision: expected + 1 } : replaced;
    const revision = (await revisionOf(kind, id))?.v ?? 0;
    return revision === expected && revision > 0 ? undefined : { kind: 'conflict', revision };
  }

  return {
    insert: (kind, id, text) => trying(kind, (own) => insertOnce({ kind: own, id, text, keys: keysOf(own, id, text) })),
    replace: (kind, id, { expected, text }) =>
      trying(kind, (own) => replaceOnce({ kind: own, id, text, keys: keysOf(own, id, text) }, expected)),
    async remove(kind, id, expected) {
      const { rows } = await registry.kindOf(kind);
      if (expected !== undefined && !(expected > 0)) return false;
      const change = recorder.change(0);
      const { matchedCount } = await rows.updateOne(
        { _id: { $eq: id }, v: expected === undefined ? { $gt: 0 } : { $eq: expected } },
        { $set: { v: 0, t: change.t }, $unset: { body: '', k: '', l: '', u: '' }, $push: { out: change } },
      );
      if (matchedCount) recorder.done();
      return matchedCount > 0;
    },
  };
}

function rowOf({ kind, keys, text }: Write, { r, t }: Waiting) {
  return { v: r, e: kind.epoch, t, body: text, ...keys };
}

/** The index in which another document holds one of the unique values, if one does. */
async function findTaken({ kind, id, keys }: Write): Promise<Exists | undefined> {
  for (const index of kind.written) {
    const claims = keys.u[index.field];
    const holders = claims && { [`u.${index.field}`]: { $in: claims }, _id: { $ne: id } };
    if (holders && (await kind.rows.findOne(holders, { projection: { _id: 1 } })))
      return { kind: 'exists', index: index.name };
  }
  return undefined;
}
