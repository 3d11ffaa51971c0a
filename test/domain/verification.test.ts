// Verification by vote keeps its promises on the stores of one process.

import { join } from 'node:path';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { verificationPromises } from './verification-promises.ts';

verificationPromises('memory', ({ clock }) => memoryDocuments({ clock }));
verificationPromises('sqlite', ({ folder, clock }) => sqliteDocuments({ path: join(folder, 'documents.db'), clock }));
