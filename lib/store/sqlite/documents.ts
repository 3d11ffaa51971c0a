// Documents in SQLite: durable to power loss, shared by every process of one host that opens the same file.
//
// What it does not do: network file systems (WAL needs shared memory). Reads and writes run in this thread; a write
// takes the time of one disk flush, shared by all that were called in the same turn of the event loop.

import { type Clock, systemClock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import { checkKey, checkLimit, closedError } from '../../given.ts';
import type { JsonObject } from '../../json/json.ts';
import { bodyText, listEntries, missingIn, requireKind } from '../index/kinds.ts';
import { planQuery } from '../index/query.ts';
import type { Change, DocumentStore, Exists, Kind, ReplaceResult, StoredDocument } from '../store.ts';
import { groupWriter, sqliteRefusal } from './group-writer.ts';
import { openDatabase, openIndexEntries, openRegistry, openRows, type SqlKind } from './schema.ts';

/** Where the SQLite store is, and its clock. */
export interface SqliteOptions {
  /** The database file, created when missing (its folder is not), or `:memory:`. */
  readonly path: string;
  /** Dates the changes. @default the system's clock */
  readonly clock?: Pick<Clock, 'now'>;
}

/** Opens the store, synchronously; throws ERR_STORE when the file cannot be used. */
export function openDocuments({ path, clock = systemClock }: SqliteOptions): DocumentStore {
  /** What was met; reads are still tried, for most pages may be well. */
  let damage: TwinlineError | undefined;
  const refuse = (action: string, error: unknown) => {
    const storeError = sqliteRefusal(action, path, error);
    if (storeError.reason === 'damaged') damage = storeError;
    return storeError;
  };
  const database = attempt('open', () => {
    const db = openDatabase(path);
    return { db, registry: openRegistry(db), indexEntries: openIndexEntries(db), rows: openRows(db) };
  });
  const { db, registry, indexEntries, rows } = database;
  const writer = groupWriter(db, (error) => {
    // It may be of a declaration that was rolled back.
    registry.forget();
    return refuse('write', error);
  });
  let isClosed = false;

  function attempt<T>(action: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw error instanceof TwinlineError ? error : refuse(action, error);
    }
  }

  function check(id?: string): void {
    if (isClosed) throw closedError('SQLite');
    if (id !== undefined) checkKey(id, 'document id');
  }

  function checkWrite(id?: string): void {
    check(id);
    if (damage) throw damage;
  }

  function findKind(kind: Kind): SqlKind {
    return requireKind(registry.current(), kind);
  }

  function record(kind: SqlKind, id: string, revision: number): void {
    rows.addChange.run([kind.name, Buffer.from(id), revision, clock.now()]);
  }

  // In one transaction, and nothing is written before all is checked.
  function insert(kind: SqlKind, id: string, text: string): Exists | undefined {
    if (rows.read(kind.n, id)) return { kind: 'exists' };
    const entries = listEntries(kind.indexes.values(), id, JSON.parse(text));
    const index = indexEntries.findTaken(entries, id);
    if (index !== undefined) return { kind: 'exists', index };
    const { lastInsertRowid } = rows.insert.run([kind.n, Buffer.from(id), text]);
    indexEntries.add(entries, { n: Number(lastInsertRowid), id });
    record(kind, id, 1);
    return undefined;
  }

  function replace(kind: SqlKind, id: string, { expected, text }: { expected: number; text: string }): ReplaceResult {
    const old = rows.read(kind.n, id);
    if (!old || old.revision !== expected) return { kind: 'conflict', revision: old?.revision ?? 0 };
    const before = listEntries(kind.indexes.values(), id, JSON.parse(old.text));
    const after = listEntries(kind.indexes.values(), id, JSON.parse(text));
    const index = indexEntries.findTaken(after, id);
    if (index !== undefined) return { kind: 'exists', index };
    rows.update.run([expected + 1, text, old.n]);
    indexEntries.drop(missingIn(after, before));
    indexEntries.add(missingIn(before, after), { n: old.n, id });
    record(kind, id, expected + 1);
    return { kind: 'replaced', revision: expected + 1 };
  }

  function remove(kind: SqlKind, id: string, expected: number | undefined): boolean {
    const old = rows.read(kind.n, id);
    if (!old || (expected ?? old.revision) !== old.revision) return false;
    indexEntries.drop(listEntries(kind.indexes.values(), id, JSON.parse(old.text)));
    rows.delete.run([old.n]);
    record(kind, id, 0);
    return true;
  }

  return {
    name: 'sqlite',
    durability: path === ':memory:' ? 'memory' : 'power-loss',
    async declare(kinds) {
      checkWrite();
      await writer.write(() => registry.declare(kinds));
    },
    async insert(kind, id, body) {
      checkWrite(id);
      const text = bodyText(kind.name, id, body);
      const conflict = await writer.write(() => insert(findKind(kind), id, text));
      return conflict ?? { kind: 'inserted', id, revision: 1, body: JSON.parse(text) };
    },
    async get(kind, id) {
      check(id);
      return attempt('get', () => {
        const row = rows.read(registry.kindNumber(kind), id);
        return row && { id, revision: row.revision, body: JSON.parse(row.text) };
      });
    },
    async replace(kind, id, expected, body) {
      checkWrite(id);
      const text = bodyText(kind.name, id, body);
      return writer.write(() => replace(findKind(kind), id, { expected, text }));
    },
    async remove(kind, id, expected) {
      checkWrite(id);
      return writer.write(() => remove(findKind(kind), id, expected));
    },
    async find<B extends JsonObject>(kind: Kind, query = {}) {
      check();
      return attempt('find', () => {
        const own = findKind(kind);
        const { index, stretches, descending, limit, cursorAt } = planQuery(own, query);
        const items: StoredDocument<B>[] = [];
        let last: ArrayBuffer | undefined;
        for (const { from, to } of stretches) {
          const scope = index ? index.n : own.n;
          const walk = rows.walks[index ? 'index' : 'id'][descending ? 'down' : 'up'];
          const page = walk.all([scope, from, to, limit + 1 - items.length]) as [
            ArrayBuffer,
            ArrayBuffer,
            number,
            string,
          ][];
          for (const [key, id, revision, text] of page) {
            if (items.length === limit) return { items, next: cursorAt(Buffer.from(last!)) };
            items.push({ id: Buffer.from(id).toString(), revision, body: JSON.parse(text) });
            last = key;
          }
        }
        return { items };
      });
    },
    async count(kind, query = {}) {
      check();
      return attempt('count', () => {
        const own = findKind(kind);
        const { index, stretches } = planQuery(own, query);
        const counter = rows.counters[index ? 'index' : 'id'];
        const counts = stretches.map(({ from, to }) => counter.get([index ? index.n : own.n, from, to]) as [number]);
        return counts.reduce((sum, [count]) => sum + count, 0);
      });
    },
    async changes(after, limit) {
      check();
      checkLimit(limit);
      const page = attempt('changes', () => rows.changes.all([after, limit]));
      return (page as [number, string, ArrayBuffer, number, number][]).map(([seq, kind, id, revision, at]): Change => {
        return { seq, kind, id: Buffer.from(id).toString(), revision, at };
      });
    },
    async lastChange() {
      check();
      const [newest] = attempt('lastChange', () => rows.newestChange.get([])) as [number | null];
      return newest ?? 0;
    },
    async ping() {
      checkWrite();
      attempt('ping', () => rows.changes.all([0, 1]));
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      await writer.waitUntilSettled();
      // The driver closes the file when its statements have been collected: what is in the log is moved to the file before.
      try {
        db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } catch {
        // The next one that opens the file does it.
      }
      db.close();
    },
  };
}
