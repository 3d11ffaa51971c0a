// What `import … from 'twinline/store/sqlite'` gives: documents in SQLite, shared by every process of one host that opens the same
// file. SQLite and what works with it are loaded when a store is opened.

import { requireGiven } from '../../given.ts';
import { loadNative, openLater } from '../opening.ts';
import type { DocumentStore } from '../store.ts';
import type { SqliteOptions } from './documents.ts';

export type { SqliteOptions } from './documents.ts';

/**
 * Documents in SQLite; all changes are kept. The file is opened at once: calls wait for it, and reject with ERR_STORE where it cannot
 * be used, or with ERR_CONFIG where SQLite is not installed; `ping` tells.
 * @example
 * const NOTE = { name: 'note', indexes: {} };
 * const documents = sqliteDocuments({ path: ':memory:' });
 * await documents.declare([NOTE]);
 * await documents.insert(NOTE, 'n1', { text: 'Tea' });
 * (await documents.get(NOTE, 'n1'))?.revision; // → 1
 * await documents.close();
 */
export function sqliteDocuments(options: SqliteOptions): DocumentStore {
  requireGiven('open SQLite', options, { path: 'text' });
  const opening = open(options);
  return openLater(opening, {
    name: 'sqlite',
    durability: options.path === ':memory:' ? 'memory' : 'power-loss',
    declare: async (kinds) => (await opening).declare(kinds),
    insert: async (kind, id, body) => (await opening).insert(kind, id, body),
    get: async (kind, id) => (await opening).get(kind, id),
    replace: async (kind, id, expected, body) => (await opening).replace(kind, id, expected, body),
    remove: async (kind, id, expected) => (await opening).remove(kind, id, expected),
    find: async (kind, query) => (await opening).find(kind, query),
    count: async (kind, query) => (await opening).count(kind, query),
    changes: async (after, limit) => (await opening).changes(after, limit),
    lastChange: async () => (await opening).lastChange(),
    ping: async () => (await opening).ping(),
  });
}

async function open(options: SqliteOptions): Promise<DocumentStore> {
  await loadNative('SQLite', () => import('libsql'));
  const { openDocuments } = await import('./documents.ts');
  return openDocuments(options);
}
