// Where the account tests keep documents: every embedded store, and a store with something in its way.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACCOUNT_KINDS } from '../../lib/account/records.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';

/** The same store, where `around` decides what becomes of each call of one method, or of every one. */
export function intercepted(
  documents: DocumentStore,
  which: keyof DocumentStore | 'every',
  around: (act: () => Promise<unknown>, name: string) => Promise<unknown>,
): DocumentStore {
  return new Proxy(documents, {
    get: (store, name: keyof DocumentStore) => {
      const method: unknown = store[name];
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => {
        const act = () => method.apply(store, args) as Promise<unknown>;
        return which === 'every' || which === name ? around(act, name) : act();
      };
    },
  });
}

/** One place for documents. */
export interface Place {
  readonly name: string;
  /** Whether what was written is there after `open` is called again. */
  readonly lasting: boolean;
  open(): Promise<DocumentStore>;
  remove(): void;
}

/** Every embedded backend, each in a new place. */
export function places(): Place[] {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-account-'));
  const declared = async (documents: DocumentStore) => {
    await documents.declare(ACCOUNT_KINDS);
    return documents;
  };
  return [
    { name: 'memory', lasting: false, open: () => declared(memoryDocuments()), remove: () => {} },
    {
      name: 'sqlite',
      lasting: true,
      open: () => declared(sqliteDocuments({ path: join(folder, 'documents.db') })),
      remove: () => rmSync(folder, { recursive: true, force: true }),
    },
  ];
}
