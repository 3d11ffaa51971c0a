// What moving all of a store into another one needs beyond the contracts: reading what they hide, and writing revisions, times and
// numbers as they are. Stores whose data outlives the process have it; nobody else writes in either store meanwhile.

import type { Change, Kind, StoredDocument, StoredSession } from './store.ts';

/** A session with its key. */
export interface KeyedSession {
  readonly key: string;
  readonly session: StoredSession;
}

/** Opened beside a SnapshotStore on the same place. Refusals of the backend reject with ERR_STORE. */
export interface SessionTransfer {
  /**
   * Sessions that have not expired, also those that have ended, in an order of the backend's own. `next` is where the next page
   * begins, and missing on the last one; a page may have fewer than `limit`.
   */
  scan(limit: number, cursor?: string): Promise<{ readonly items: KeyedSession[]; readonly next?: string }>;
  /** Writes the session as it is, with its revision. False when another one that has not expired is in its place. */
  insert(key: string, session: StoredSession): Promise<boolean>;
  /** Other processes that have the store open, in words; undefined when the backend does not tell. */
  others(): Promise<readonly string[] | undefined>;
  close(): Promise<void>;
}

/** Opened beside a DocumentStore on the same place. Nothing that it writes is a change of the feed. Refusals reject with ERR_STORE. */
export interface DocumentTransfer {
  /** The kinds that have been declared, by whomever, with all their indexes. */
  kinds(): Promise<Kind[]>;
  /** Writes documents as they are, with their revisions. Rejects when one of the ids or unique values is taken. */
  insert(kind: Kind, documents: readonly StoredDocument[]): Promise<void>;
  remove(kind: Kind, ids: readonly string[]): Promise<void>;
  /** Writes entries of the feed under their numbers. Rejects when one of the numbers is taken. */
  insertChanges(changes: readonly Change[]): Promise<void>;
  removeChanges(seqs: readonly number[]): Promise<void>;
  close(): Promise<void>;
}
