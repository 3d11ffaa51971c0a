// All documents of a SQLite file and its feed, to be moved: written with their revisions and numbers.

import { requireGiven } from '../../given.ts';
import { bodyText, listEntries, requireKind, toKind } from '../index/kinds.ts';
import type { Change, Kind, StoredDocument } from '../store.ts';
import type { DocumentTransfer } from '../transfer.ts';
import { takenError } from '../update.ts';
import { groupWriter, sqliteRefusal } from './group-writer.ts';
import { openDatabase, openIndexEntries, openRegistry, openRows } from './schema.ts';

/** Opens or creates the file; throws ERR_STORE when it cannot be used. */
export function sqliteTransfer({ path }: { readonly path: string }): DocumentTransfer {
  requireGiven('open SQLite', { path }, { path: 'text' });
  const { db, registry, indexEntries, rows } = open(path);
  const writer = groupWriter(db, (error) => sqliteRefusal('write', path, error));
  const addDocument = db.prepare('INSERT INTO document (kind, id, revision, body) VALUES (?, ?, ?, ?)');
  const addChange = db.prepare('INSERT INTO change (seq, kind, id, revision, at) VALUES (?, ?, ?, ?, ?)');
  const dropChange = db.prepare('DELETE FROM change WHERE seq = ?');

  function insertOne(kind: Kind, { id, revision, body }: StoredDocument): void {
    const { n: kindNumber, indexes } = requireKind(registry.current(), kind);
    const entries = listEntries(indexes.values(), id, body);
    if (rows.read(kindNumber, id)) throw takenError(kind.name, id);
    const rival = indexEntries.findTaken(entries, id);
    if (rival !== undefined) throw takenError(kind.name, id, rival);
    const text = bodyText(kind.name, id, body);
    const { lastInsertRowid } = addDocument.run([kindNumber, Buffer.from(id), revision, text]);
    indexEntries.add(entries, { n: Number(lastInsertRowid), id });
  }

  function removeOne(kind: Kind, id: string): void {
    const { n: kindNumber, indexes } = requireKind(registry.current(), kind);
    const old = rows.read(kindNumber, id);
    if (!old) return;
    indexEntries.drop(listEntries(indexes.values(), id, JSON.parse(old.text)));
    rows.delete.run([old.n]);
  }

  /** Each in a write of its own, so that one that is refused leaves nothing half done; those of one call share a flush. */
  async function each<T>(items: readonly T[], work: (item: T) => void): Promise<void> {
    await Promise.all(items.map((item) => writer.write(() => work(item))));
  }

  return {
    async kinds() {
      return Array.from(registry.current().values(), toKind);
    },
    insert: (kind, documents) => each(documents, (document) => insertOne(kind, document)),
    remove: (kind, ids) => each(ids, (id) => removeOne(kind, id)),
    insertChanges: (changes) =>
      each(changes, ({ seq, kind, id, revision, at }: Change) => {
        addChange.run([seq, kind, Buffer.from(id), revision, at]);
      }),
    removeChanges: (seqs) =>
      each(seqs, (seq) => {
        dropChange.run([seq]);
      }),
    async close() {
      await writer.waitUntilSettled();
      db.close();
    },
  };
}

function open(path: string) {
  try {
    const db = openDatabase(path);
    return { db, registry: openRegistry(db), indexEntries: openIndexEntries(db), rows: openRows(db) };
  } catch (error) {
    throw sqliteRefusal('open', path, error);
  }
}

/**
 * Copies the file `path` into the new file `target`, while processes write to it: one transaction, with everything that was committed
 * before the call, and without free pages. Throws ERR_STORE.
 */
export function copySqlite(path: string, target: string): void {
  try {
    const db = openDatabase(path);
    try {
      db.prepare('VACUUM INTO ?').run([target]);
    } finally {
      db.close();
    }
  } catch (error) {
    throw sqliteRefusal('copy', path, error);
  }
}
