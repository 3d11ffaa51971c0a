// The statements of the SQLite document store, prepared once, each with the rows that it gives.

import type Database from 'libsql';
import type { IndexEntry } from '../index/kinds.ts';
import type { SqlIndex, SqlKind } from './schema.ts';

/** A stored document. */
export interface Row {
  readonly n: number;
  readonly revision: number;
  readonly text: string;
}

type Statement = Database.Statement<unknown[]>;
type Entries = readonly IndexEntry<SqlIndex>[];

/** Documents and changes. */
export interface Rows {
  read(kind: SqlKind, id: string): Row | undefined;
  readonly insert: Statement;
  readonly update: Statement;
  readonly delete: Statement;
  readonly addChange: Statement;
  readonly changes: Statement;
  readonly newestChange: Statement;
  /** Key, id, revision and body of the documents of one stretch. */
  readonly walks: Readonly<Record<'id' | 'index', Readonly<Record<'up' | 'down', Statement>>>>;
  readonly counters: Readonly<Record<'id' | 'index', Statement>>;
}

/** Index entries and unique claims of documents. */
export interface Filing {
  /** The name of the unique index in which another document than `id` holds one of the values. */
  clash(entries: Entries, id: string): string | undefined;
  add(entries: Entries, document: { n: number; id: string }): void;
  drop(entries: Entries): void;
}

export function openRows(db: Database.Database): Rows {
  const reading = (sql: string) => db.prepare(sql).raw(true);
  const writing = (sql: string) => db.prepare(sql);
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
      const row = one.get([kind.n, Buffer.from(id)]) as [number, number, string] | undefined;
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

export function openFiling(db: Database.Database): Filing {
  const reading = (sql: string) => db.prepare(sql).raw(true);
  const writing = (sql: string) => db.prepare(sql);
  const holder = reading('SELECT id FROM claim WHERE ix = ? AND key = ?');
  const addEntry = writing('INSERT INTO entry (ix, key, document) VALUES (?, ?, ?)');
  const addClaim = writing('INSERT INTO claim (ix, key, id) VALUES (?, ?, ?)');
  const dropEntry = writing('DELETE FROM entry WHERE ix = ? AND key = ?');
  const dropClaim = writing('DELETE FROM claim WHERE ix = ? AND key = ?');
  return {
    clash(entries, id) {
      const taken = entries.find(({ index, claim }) => {
        const row = claim && (holder.get([index.n, claim]) as [Uint8Array] | undefined);
        return row && Buffer.from(row[0]).toString() !== id;
      });
      return taken?.index.name;
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
