// The SQLite store keeps the contract of all document stores, in a file and in memory.

import { join } from 'node:path';
import { sqliteDocuments } from '../../lib/store/sqlite.ts';
import { documentStoreContract } from '../contract/document-store.ts';

documentStoreContract('sqlite', ({ folder, clock }) => sqliteDocuments({ path: join(folder, 'documents.db'), clock }));
documentStoreContract('sqlite in memory', ({ clock }) => sqliteDocuments({ path: ':memory:', clock }));
