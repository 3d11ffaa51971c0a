// The SQLite file under the document store: its tables, the statements on them, and which kinds and indexes it knows.

import Database from 'libsql';
import {
  type Declared,
  declareIndexes,
  type Index,
  type IndexEntry,
  listEntries,
  requireKind,
  sameIndex,
} from '../index/kinds.ts';
import type { Kind } from '../store.ts';
import { takenError } from '../update.ts';
import { isBusy } from './group-writer.ts';

/** An index that the file knows, under its number there. */
export interface SqlIndex extends Index {
  readonly n: number;
}

/** A kind that the file knows, under its number there. */
export interface SqlKind extends Declared<SqlIndex> {
  readonly n: number;
}

/** The kinds and indexes of the file, also those that other processes declared: every writer keeps all of them up to date. */
export interface KindRegistry {
  /** Read again when another process has changed them. */
  current(): ReadonlyMap<string, SqlKind>;
  /** The number of a kind, which stays: the file is asked for new kinds alone. Throws ERR_INPUT when it is not declared. */
  kindNumber(kind: Kind): number;
  /** What was read is read again at the next look. */
  forget(): void;
  /** Adds what is missing, with the documents that are there; throws ERR_EXISTS, and changes nothing, when two of them have one value of a unique index. */
  declare(kinds: readonly Kind[]): void;
}

/** "twl1": this application, and the form of its tables. */
const APPLICATION_ID = 0x74776c31;
const OPEN_MS = 5_000;
const OPEN_PAUSE_MS = 5;
const BACKFILL_ROWS = 500;
const MAPPED_BYTES = 2 ** 30;

// No name and no value of a caller is ever part of a statement: kinds and indexes are rows, values are key bytes.
// Ids are blobs, because the driver cuts texts off at a NUL.
const TABLES = `
CREATE TABLE IF NOT EXISTS kind (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS kind_index (
  n INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, name TEXT NOT NULL, fields TEXT NOT NULL,
  is_unique INTEGER NOT NULL, UNIQUE (kind, name));
CREATE TABLE IF NOT EXISTS document (
  n INTEGER PRIMARY KEY, kind INTEGER NOT NULL, id BLOB NOT NULL, revision INTEGER NOT NULL, body TEXT NOT NULL,
  UNIQUE (kind, id));
CREATE TABLE IF NOT EXISTS entry (ix INTEGER NOT NULL, key BLOB NOT NULL, document INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS entry_key ON entry (ix, key, document);
CREATE TABLE IF NOT EXISTS claim (ix INTEGER NOT NULL, key BLOB NOT NULL, id BLOB NOT NULL, UNIQUE (ix, key));
CREATE TABLE IF NOT EXISTS change (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, id BLOB NOT NULL, revision INTEGER NOT NULL,
  at INTEGER NOT NULL);
`;

/** Opens or creates the file; throws what the driver throws, or an Error that says whose file it is. */
export function openDatabase(path: string): Database.Database {
  const db = new Database(path, { timeout: OPEN_MS });
  try {
    const isNew = checkOwner(db);
    keepLog(db);
    db.pragma('synchronous = FULL');
    // Reads through the kernel's cache: a find among 200,000 documents costs 1.1 to 1.2 times one among 1,000, not 1.4.
    db.pragma(`mmap_size = ${MAPPED_BYTES}`);
    db.exec('BEGIN IMMEDIATE');
    db.exec(TABLES);
    if (isNew) db.pragma(`application_id = ${APPLICATION_ID}`);
    db.exec('COMMIT');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

// For this lock SQLite does not wait, in spite of its timeout: of two processes that begin a file at once, one would fail.
function keepLog(db: Database.Database): void {
  const until = performance.now() + OPEN_MS;
  for (;;)
    try {
      db.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
      Atomics.wait(NOBODY, 0, 0, OPEN_PAUSE_MS);
    }
}

// Opening is synchronous, so it waits standing still.
const NOBODY = new Int32Array(new SharedArrayBuffer(4));

// True when the file is empty; both looks in one transaction, since another process may be filling it right now.
function checkOwner(db: Database.Database): boolean {
  db.exec('BEGIN');
  const [[owner], [tables]] = ['PRAGMA application_id', 'SELECT count(*) FROM sqlite_master'].map((sql) =>
    db.prepare(sql).raw(true).get([]),
  ) as [[number], [number]];
  db.exec('COMMIT');
  if (owner !== APPLICATION_ID && (owner !== 0 || tables !== 0))
    throw new Error('the file belongs to another application or version');
  return owner === 0;
}

// What reads gives rows as lists.
function preparer(db: Database.Database) {
  return { reading: (sql: string) => db.prepare(sql).raw(true), writing: (sql: string) => db.prepare(sql) };
}

/** The registry of an open file. */
export function openRegistry(db: Database.Database): KindRegistry {
  const { reading, writing } = preparer(db);
  const version = reading('PRAGMA user_version');
  const allKinds = reading('SELECT n, name FROM kind');
  const allIndexes = reading('SELECT n, kind, name, fields, is_unique FROM kind_index ORDER BY n');
  const addKind = writing('INSERT INTO kind (name) VALUES (?) ON CONFLICT DO NOTHING');
  const addIndex = writing('INSERT INTO kind_index (kind, name, fields, is_unique) VALUES (?, ?, ?, ?)');
  const dropIndex = ['kind_index WHERE n', 'entry WHERE ix', 'claim WHERE ix'].map((rows) =>
    writing(`DELETE FROM ${rows} = ?`),
  );
  const documents = reading('SELECT n, id, body FROM document WHERE kind = ? AND n > ? ORDER BY n LIMIT ?');
  const indexEntries = openIndexEntries(db);
  let cache: { version: number; kinds: Map<string, SqlKind> } | undefined;

  function read(): Map<string, SqlKind> {
    const [now] = version.get([]) as [number];
    if (cache?.version === now) return cache.kinds;
    const kinds = new Map<string, SqlKind>();
    const indexes = allIndexes.all([]) as [number, number, string, string, number][];
    for (const [n, name] of allKinds.all([]) as [number, string][]) {
      const own = indexes.filter(([, kind]) => kind === n);
      const entries = own.map(([ix, , index, fields, unique]) => {
        return [index, { n: ix, name: index, fields: JSON.parse(fields), unique: unique === 1 }] as const;
      });
      kinds.set(name, { n, name, indexes: new Map<string, SqlIndex>(entries) });
    }
    cache = { version: now, kinds };
    return kinds;
  }

  function build(kind: SqlKind, { name, fields, unique }: Index): void {
    const old = kind.indexes.get(name);
    if (old) for (const drop of dropIndex) drop.run([old.n]);
    const { lastInsertRowid } = addIndex.run([kind.n, name, JSON.stringify(fields), unique ? 1 : 0]);
    const index: SqlIndex = { n: Number(lastInsertRowid), name, fields, unique };
    for (let after = 0; ; ) {
      const rows = documents.all([kind.n, after, BACKFILL_ROWS]) as [number, ArrayBuffer, string][];
      for (const [n, bytes, text] of rows) {
        const id = Buffer.from(bytes).toString();
        const entries = listEntries([index], id, JSON.parse(text));
        if (indexEntries.findTaken(entries, id) !== undefined) throw takenError(kind.name, id, name);
        indexEntries.add(entries, { n, id });
        after = n;
      }
      if (rows.length < BACKFILL_ROWS) return;
    }
  }

  function declareOne(kind: Kind): boolean {
    const indexes = declareIndexes(kind);
    const isNew = addKind.run([kind.name]).changes > 0;
    if (isNew) cache = undefined;
    const declared = read().get(kind.name)!;
    const missing = indexes.filter((index) => {
      const old = declared.indexes.get(index.name);
      return !old || !sameIndex(old, index);
    });
    for (const index of missing) build(declared, index);
    if (missing.length) cache = undefined;
    return isNew || missing.length > 0;
  }

  return {
    current: read,
    forget() {
      cache = undefined;
    },
    kindNumber: (kind) => (cache?.kinds.get(kind.name) ?? requireKind(read(), kind)).n,
    declare(kinds) {
      db.exec('SAVEPOINT declaring');
      try {
        const [before] = version.get([]) as [number];
        const hasChanged = kinds.map(declareOne).some(Boolean);
        if (hasChanged) db.pragma(`user_version = ${before + 1}`);
        db.exec('RELEASE declaring');
      } catch (error) {
        db.exec('ROLLBACK TO declaring');
        db.exec('RELEASE declaring');
        throw error;
      } finally {
        cache = undefined;
      }
    },
  };
}

/** A stored document. */
export interface DocumentRow {
  readonly n: number;
  readonly revision: number;
  readonly text: string;
}

type Statement = Database.Statement<unknown[]>;
type Entries = readonly IndexEntry<SqlIndex>[];

/** Documents and changes. */
export interface Rows {
  read(kind: number, id: string): DocumentRow | undefined;
  readonly insert: Statement;
  readonly update: Statement;
  readonly delete: Statement;
  readonly addChange: Statement;
  readonly changes: Statement;
  readonly newestChange: Statement;
  /** Key, id, revision and body of the documents of one range. */
  readonly walks: Readonly<Record<'id' | 'index', Readonly<Record<'up' | 'down', Statement>>>>;
  readonly counters: Readonly<Record<'id' | 'index', Statement>>;
}

/** Index entries and unique claims of documents. */
export interface IndexEntries {
  /** The name of the unique index in which another document than `id` holds one of the values. */
  findTaken(entries: Entries, id: string): string | undefined;
  add(entries: Entries, document: { n: number; id: string }): void;
  drop(entries: Entries): void;
}

export function openRows(db: Database.Database): Rows {
  const { reading, writing } = preparer(db);
  const one = reading('SELECT n, revision, body FROM document WHERE kind = ? AND id = ?');
  const walkIds = (order: string) =>
    reading(
      `SELECT id, id, revision, body FROM document WHERE kind = ? AND id >= ? AND id < ? ORDER BY id ${order} LIMIT ?`,
    );
  const walkIndex = (order: string) =>
    reading(
      `SELECT entry.key, document.id, document.revision, document.body
       FROM entry CROSS JOIN document ON document.n = entry.document
       WHERE entry.ix = ? AND entry.key >= ? AND entry.key < ? ORDER BY entry.key ${order} LIMIT ?`,
    );
  return {
    read(kind, id) {
      const row = one.get([kind, Buffer.from(id)]) as [number, number, string] | undefined;
      return row && { n: row[0], revision: row[1], text: row[2] };
    },
    insert: writing('INSERT INTO document (kind, id, revision, body) VALUES (?, ?, 1, ?)'),
    update: writing('UPDATE document SET revision = ?, body = ? WHERE n = ?'),
    delete: writing('DELETE FROM document WHERE n = ?'),
    addChange: writing('INSERT INTO change (kind, id, revision, at) VALUES (?, ?, ?, ?)'),
    changes: reading('SELECT seq, kind, id, revision, at FROM change WHERE seq > ? ORDER BY seq LIMIT ?'),
    newestChange: reading('SELECT max(seq) FROM change'),
    walks: {
      id: { up: walkIds('ASC'), down: walkIds('DESC') },
      index: { up: walkIndex('ASC'), down: walkIndex('DESC') },
    },
    counters: {
      id: reading('SELECT count(*) FROM document WHERE kind = ? AND id >= ? AND id < ?'),
      index: reading('SELECT count(*) FROM entry WHERE ix = ? AND key >= ? AND key < ?'),
    },
  };
}

export function openIndexEntries(db: Database.Database): IndexEntries {
  const { reading, writing } = preparer(db);
  const holder = reading('SELECT id FROM claim WHERE ix = ? AND key = ?');
  const addEntry = writing('INSERT INTO entry (ix, key, document) VALUES (?, ?, ?)');
  const addClaim = writing('INSERT INTO claim (ix, key, id) VALUES (?, ?, ?)');
  const dropEntry = writing('DELETE FROM entry WHERE ix = ? AND key = ?');
  const dropClaim = writing('DELETE FROM claim WHERE ix = ? AND key = ?');
  return {
    findTaken(entries, id) {
      const rival = entries.find(({ index, claim }) => {
        const row = claim && (holder.get([index.n, claim]) as [Uint8Array] | undefined);
        return row && Buffer.from(row[0]).toString() !== id;
      });
      return rival?.index.name;
    },
    add(entries, { n, id }) {
      for (const { index, key, claim } of entries) {
        addEntry.run([index.n, key, n]);
        if (claim) addClaim.run([index.n, claim, Buffer.from(id)]);
      }
    },
    drop(entries) {
      for (const { index, key, claim } of entries) {
        dropEntry.run([index.n, key]);
        if (claim) dropClaim.run([index.n, claim]);
      }
    },
  };
}
