// The contracts of the stores: what a backend promises. The proof is lib/testing, run unchanged on every backend.

import type { JsonObject } from '../json/json.ts';

/** One stored session. The store never looks inside `record`. */
export interface StoredSession {
  /** 1 for the first commit, then +1 with every commit. */
  readonly revision: number;
  /** The machine at rest, as text; opaque to the store. */
  readonly record: string;
  /** Identifies the request that made this revision; a repeated request carries the same key. */
  readonly turnKey: string;
  /** What was answered to that request; given again, byte for byte, when it is repeated. */
  readonly reply: string;
  /** An ended session is kept only to answer retries: `list` leaves it out. */
  readonly ended: boolean;
  /** Milliseconds since 1970; from this moment on the session does not exist. */
  readonly expiresAt: number;
  /** Milliseconds since 1970 when the earliest timer fires, or null. */
  readonly dueAt: number | null;
}

/** What to write: everything of {@link StoredSession} but the revision, which the store counts. */
export type SessionCommit = Omit<StoredSession, 'revision'>;

/** Whether a session was written. */
export type CommitResult =
  /** Written, durably as the backend's class says, as this revision. */
  | { readonly kind: 'committed'; readonly revision: number }
  /** Not written: the stored revision is not the expected one (0: nothing is stored). Load again. */
  | { readonly kind: 'conflict'; readonly revision: number };

/** What survives what, once a commit has been acknowledged. */
export type Durability = 'memory' | 'process-crash' | 'power-loss' | 'replicated';

/**
 * Keeps sessions. Rules that every backend keeps:
 * - `commit` is one atomic compare-and-set of the whole {@link StoredSession}: it writes only if the stored revision is
 *   `expected` (0 = nothing stored, or expired), and it resolves after the write is as durable as `durability` says.
 * - `load` and `list` never show a session whose `expiresAt` has passed, even before it is swept; a new one may be
 *   committed in its place at once, with revision 1. The store's clock decides; in `due` and `sweep` it is `now`.
 * - A `load` that starts after a `commit` resolved sees that commit, in this and every other process.
 * - `commit` replaces the due-index entry of the session in the same write; `due` lists sessions with `dueAt ≤ now`,
 *   earliest first; a session that is gone or expired is never listed.
 * - Keys are 1 to LIMITS.keyChars characters of any text, in the order of their UTF-8 bytes. Records of different keys
 *   never mix. All texts are well-formed: a half surrogate pair is refused in a key, and elsewhere may become U+FFFD.
 * - Times are whole milliseconds up to 8.64e15, the last that a Date can hold.
 * - A malformed key, limit or cursor rejects with ERR_INPUT. Refusals of the backend reject with ERR_STORE, and so does
 *   every call after `close`. (A `load` that answers at once may throw at once.)
 */
export interface SnapshotStore {
  readonly name: string;
  readonly durability: Durability;
  load(key: string): Promise<StoredSession | undefined> | StoredSession | undefined;
  commit(key: string, expected: number, next: SessionCommit): Promise<CommitResult>;
  /** Removes a session at any revision; true if there was one, unless it had expired. */
  remove(key: string): Promise<boolean>;
  /**
   * Keys of living (not ended, not expired) sessions in key order, from after `cursor`. `next` is the cursor of the next
   * page, and missing on the last one. Sessions that come or go between two pages shift nothing. @default limit 100
   */
  list(options?: { limit?: number; cursor?: string }): Promise<{ keys: string[]; next?: string }>;
  /** Up to `limit` keys of sessions with a due timer, earliest first. */
  due(now: number, limit: number): Promise<string[]>;
  /** Deletes up to `limit` expired sessions; how many it deleted. */
  sweep(now: number, limit: number): Promise<number>;
  /** Resolves when the backend answers, rejects with ERR_STORE when it does not. */
  ping(): Promise<void>;
  /** Resolves when what was called before is done. Again: harmless. */
  close(): Promise<void>;
}

/** The values that can be indexed. */
export type IndexValue = string | number | boolean | null;

/** A kind of document, declared once: its name and which fields are indexed. Serves every backend. */
export interface Kind {
  /** Letters, digits and dashes, 1–64. */
  readonly name: string;
  /**
   * Index name (letters, digits, `_`, `-`, 1–64) → its 1 to LIMITS.fieldsPerIndex fields, compared in order. A field is
   * up to 8 such names joined by dots: a path through objects, not through arrays. A field that is missing or holds an
   * object or array counts as null. `unique`: no two documents have all these values equal and none of them null.
   * One field of an index may end with `[]`: then the index holds one entry for each different scalar of that list (up
   * to LIMITS.elementsPerIndex; none when the list is empty or missing, or is no list), and every query gives one element
   * to be equal to.
   */
  readonly indexes: { readonly [index: string]: { readonly fields: readonly string[]; readonly unique?: boolean } };
}

/** A document as it is stored. */
export interface StoredDocument<Body extends JsonObject = JsonObject> {
  readonly id: string;
  /** 1 for the insert, then +1 with every replace. */
  readonly revision: number;
  readonly body: Body;
}

/** Not written: the id is taken, or the value of the unique index that is named. */
export type Exists = { readonly kind: 'exists'; readonly index?: string };

/** Whether a document was inserted. */
export type InsertResult<Body extends JsonObject = JsonObject> =
  /** Written; the document as it is stored, at revision 1. */
  ({ readonly kind: 'inserted' } & StoredDocument<Body>) | Exists;

/** Whether a document was replaced. */
export type ReplaceResult =
  | { readonly kind: 'replaced'; readonly revision: number }
  /** Not written: the stored revision is not the expected one (0: there is no such document). */
  | { readonly kind: 'conflict'; readonly revision: number }
  | Exists;

/**
 * A comparison of one indexed field; a plain value means equality: `true`, `1` and `"1"` are three values. A range has
 * one or two bounds of one type and matches values of that type. `in` takes up to LIMITS.valuesPerIn values; `prefix`
 * is for strings. An object of any other form is no condition and refused.
 */
export type Condition =
  | IndexValue
  | { readonly gt?: IndexValue; readonly gte?: IndexValue; readonly lt?: IndexValue; readonly lte?: IndexValue }
  | { readonly in: readonly IndexValue[] }
  | { readonly prefix: string };

/** Which documents, by which index, in which order. */
export interface Query {
  /**
   * Which declared index serves the query; it gives the order too (then by id). Null comes first, then numbers, strings
   * by their UTF-8 bytes, false, true. Default: by id, in the order of UTF-8 bytes.
   */
  readonly index?: string;
  /** Conditions on the index's first fields, without a gap: equality on all, or another kind on the last of them. */
  readonly where?: { readonly [field: string]: Condition };
  readonly descending?: boolean;
  /** 1 to LIMITS.pageSizeMax. @default 100 */
  readonly limit?: number;
  /** Where the last page of the same query ended: opaque, from `next`. Documents that come or go shift nothing. */
  readonly cursor?: string;
}

/** An entry of the feed of changes: which document, at which revision, when. */
export interface Change {
  /** Numbers grow by commit order, without reuse; never 0. There may be gaps. */
  readonly seq: number;
  readonly kind: string;
  readonly id: string;
  /** The revision after the change; 0 for a removal. */
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Keeps documents with declared indexes. Rules that every backend keeps:
 * - `insert` answers `exists`, and changes nothing, when the id or a unique value is taken.
 * - `replace` writes only at the expected revision: otherwise it answers `conflict`. It answers `exists`, and changes
 *   nothing, when a unique value is taken.
 * - Document, indexes and change number are written in one atomic step, durable as `durability` says when it resolves.
 * - Bodies come back as JSON carries them, each time as a new object.
 * - Values are data, never operators: `{ "$gt": "" }` in a body is a value like any other.
 * - `find` uses declared fields only; another field, a bad cursor or a limit out of range rejects with ERR_INPUT, and so
 *   do an undeclared kind, an id that is not 1 to LIMITS.keyChars characters of well-formed text, and a body with a half
 *   surrogate pair or of more than LIMITS.documentBytes.
 * - Refusals of the backend reject with ERR_STORE, and so does every call after `close`.
 */
export interface DocumentStore {
  readonly name: string;
  readonly durability: Durability;
  /**
   * Declares kinds; builds indexes that are missing or have changed, from the documents that are there. Call before use;
   * repeating is harmless. Rejects with ERR_CONFIG when a declaration is malformed, with ERR_EXISTS when documents clash
   * in a new unique index; then nothing of it is declared. An index that is no longer declared is kept.
   */
  declare(kinds: readonly Kind[]): Promise<void>;
  insert<B extends JsonObject>(kind: Kind, id: string, body: B): Promise<InsertResult<B>>;
  get<B extends JsonObject>(kind: Kind, id: string): Promise<StoredDocument<B> | undefined>;
  replace<B extends JsonObject>(kind: Kind, id: string, expected: number, body: B): Promise<ReplaceResult>;
  /** True if there was such a document (at `expected`, when given). */
  remove(kind: Kind, id: string, expected?: number): Promise<boolean>;
  find<B extends JsonObject>(kind: Kind, query?: Query): Promise<{ items: StoredDocument<B>[]; next?: string }>;
  /** How many documents match, by index. */
  count(kind: Kind, query?: Pick<Query, 'index' | 'where'>): Promise<number>;
  /** Up to `limit` changes after the one numbered `after`, oldest first. */
  changes(after: number, limit: number): Promise<Change[]>;
  /** The number of the newest change, with every write that resolved before the call; 0 when there is none. */
  lastChange(): Promise<number>;
  /** Resolves when the backend answers, rejects with ERR_STORE when it does not. */
  ping(): Promise<void>;
  /** Resolves when what was called before is done. Again: harmless. */
  close(): Promise<void>;
}
