// What the promises of a SnapshotStore are shown with: a store, a clock that stands still, and short words.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { CommitResult, SessionCommit, SnapshotStore } from '../../lib/store/store.ts';

/** Where a store is opened: the same folder means the same data, another folder other data. */
export interface Where {
  readonly folder: string;
  readonly clock: SimulatedClock;
}

/** Opens the store under test, again and again. */
export type OpenSnapshots = (where: Where) => SnapshotStore | Promise<SnapshotStore>;

/** A new store for one promise. */
export interface SnapshotBench {
  readonly store: SnapshotStore;
  readonly clock: SimulatedClock;
  /** Another store on the same data. */
  again(): Promise<SnapshotStore>;
}

/** Sentence → what shows that it is kept. */
export type SnapshotPromises = { readonly [sentence: string]: (bench: SnapshotBench) => Promise<void> };

export const MINUTE = 60_000;

/** Opens a store in a new folder and cleans up behind `keep`, whatever it did. */
export async function withStore(open: OpenSnapshots, keep: (bench: SnapshotBench) => Promise<void>): Promise<void> {
  const where = { folder: mkdtempSync(join(tmpdir(), 'twinline-store-')), clock: new SimulatedClock() };
  const opened: SnapshotStore[] = [];
  const again = async () => {
    opened.push(await open(where));
    return opened.at(-1)!;
  };
  try {
    await keep({ store: await again(), clock: where.clock, again });
  } finally {
    for (const store of opened) await store.close();
    rmSync(where.folder, { recursive: true, force: true });
  }
}

/** A commit that expires in a minute. */
export function session(clock: { now(): number }, changes: Partial<SessionCommit> = {}): SessionCommit {
  const usual = { record: '{"state":"menu"}', turnKey: 'turn', reply: 'CON Hi', ended: false, dueAt: null };
  return { ...usual, expiresAt: clock.now() + MINUTE, ...changes };
}

export async function commitAll(store: SnapshotStore, key: string, nexts: readonly SessionCommit[]): Promise<void> {
  for (const [at, next] of nexts.entries()) assert.equal(await store.commit(key, at, next), committed(at + 1));
}

/** Fails unless `act` throws or rejects with a TwinlineError of this code. */
export async function refuses(code: string, act: () => unknown): Promise<TwinlineError> {
  try {
    await act();
  } catch (error) {
    assert.instance(error, TwinlineError);
    assert.is((error as TwinlineError).code, code);
    return error as TwinlineError;
  }
  return assert.unreachable(`expected ${code}`) as never;
}

export function committed(revision: number): CommitResult {
  return { kind: 'committed', revision };
}

export function conflict(revision: number): CommitResult {
  return { kind: 'conflict', revision };
}

export function byBytes(texts: readonly string[]): string[] {
  return [...texts].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
