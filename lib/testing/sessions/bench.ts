// What the promises of a SnapshotStore are shown with: a store, a clock that stands still, and short words.

import type { CommitResult, SessionCommit, SnapshotStore } from '../../store/store.ts';
import * as assert from '../assert.ts';
import type { Open, Promises } from '../bench.ts';

export { refuses } from '../calls.ts';

export type OpenSnapshots = Open<SnapshotStore>;
export type SnapshotPromises = Promises<SnapshotStore>;

export const MINUTE = 60_000;

/** A commit that expires in a minute. */
export function session(clock: { now(): number }, changes: Partial<SessionCommit> = {}): SessionCommit {
  const usual = { record: '{"state":"menu"}', turnKey: 'turn', reply: 'CON Hi', ended: false, dueAt: null };
  return { ...usual, expiresAt: clock.now() + MINUTE, ...changes };
}

export async function commitAll(store: SnapshotStore, key: string, nexts: readonly SessionCommit[]): Promise<void> {
  for (const [at, next] of nexts.entries()) assert.equal(await store.commit(key, at, next), committed(at + 1));
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
