// Sessions from one store into another one, as they are: revision, turn key, reply, timer and end. Backends have orders of their own, so
// each session is looked for by its key. What expires meanwhile counts on neither side.

import { createHash } from 'node:crypto';
import type { SnapshotStore, StoredSession } from '../../lib/store/store.ts';
import type { KeyedSession, SessionTransfer } from '../../lib/store/transfer.ts';
import { isMarkKey } from '../stores/move-mark.ts';
import type { Compared, Summary } from './aligned.ts';

/** One side of a move. */
export interface SessionSide {
  readonly store: SnapshotStore;
  readonly transfer: SessionTransfer;
}

const PAGE = 64;

/** Makes the target like the source. Killed anywhere in it, the next call goes on. */
export async function alignSessions(source: SessionSide, target: SessionSide, onItem: () => void): Promise<void> {
  // Until nothing is too much: what is removed may shift the pages that follow.
  while (await removeExcess(source, target));
  for await (const page of listSessions(source.transfer))
    await Promise.all(
      page.map(async ({ key, session }) => {
        onItem();
        if (await target.store.load(key)) return;
        if (await target.transfer.insert(key, session)) return;
        // One that has expired and was not swept is in its place.
        await target.store.remove(key);
        await target.transfer.insert(key, session);
      }),
    );
}

async function removeExcess(source: SessionSide, target: SessionSide): Promise<boolean> {
  let removed = false;
  for await (const page of listSessions(target.transfer))
    await Promise.all(
      page.map(async ({ key, session }) => {
        const original = await source.store.load(key);
        if (original && sessionText(original) === sessionText(session)) return;
        await target.store.remove(key);
        removed = true;
      }),
    );
  return removed;
}

/** Reads both stores to their ends. `now` is the time of both. */
export async function compareSessions(
  source: SessionSide,
  target: SessionSide,
  { now, onItem }: { readonly now: () => number; readonly onItem: () => void },
): Promise<Compared> {
  const [ours, theirs] = [anyOrder(), anyOrder()];
  const isOver = ({ expiresAt }: StoredSession) => expiresAt <= now();
  for await (const page of listSessions(source.transfer))
    for (const { key, session } of page) {
      onItem();
      const copy = await target.store.load(key);
      // Read before the copy was: only that may have missed it.
      if (!copy && isOver(session)) continue;
      ours.add(key, session);
      if (copy) theirs.add(key, copy);
    }
  for await (const page of listSessions(target.transfer))
    for (const { key, session } of page) {
      const isMissing = (await source.store.load(key)) === undefined;
      if (isMissing && !isOver(session)) theirs.add(key, session);
    }
  return { source: ours.read(), target: theirs.read() };
}

/** How many there are. */
export async function countSessions({ transfer }: Pick<SessionSide, 'transfer'>): Promise<number> {
  let count = 0;
  for await (const page of listSessions(transfer)) count += page.length;
  return count;
}

/** Pages of all sessions but the mark of a move. */
async function* listSessions(transfer: Pick<SessionTransfer, 'scan'>): AsyncGenerator<KeyedSession[]> {
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await transfer.scan(PAGE, cursor);
    yield page.items.filter(({ key }) => !isMarkKey(key));
    cursor = page.next;
  }
}

function sessionText({ revision, record, turnKey, reply, ended, expiresAt, dueAt }: StoredSession): string {
  return JSON.stringify([revision, record, turnKey, reply, ended, expiresAt, dueAt]);
}

const ALL = 2n ** 256n;

// The sum of the hashes of all: it is the same in any order.
function anyOrder() {
  let [count, sum] = [0, 0n];
  return {
    add(key: string, session: StoredSession): void {
      const hash = createHash('sha256').update(JSON.stringify(key)).update(sessionText(session)).digest('hex');
      sum = (sum + BigInt(`0x${hash}`)) % ALL;
      count++;
    },
    read: (): Summary => ({ count, hash: sum.toString(16).padStart(64, '0').slice(0, 16) }),
  };
}
