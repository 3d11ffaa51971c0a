// Machines that live in documents keep their promises on the stores of one process.

import { join } from 'node:path';
import { memoryDocuments } from '../../lib/store/memory.ts';
import { sqliteDocuments } from '../../lib/store/sqlite.ts';
import { lifecyclePromises } from './lifecycle-promises.ts';

lifecyclePromises('memory', ({ clock }) => memoryDocuments({ clock }));
lifecyclePromises('sqlite', ({ folder, clock }) => sqliteDocuments({ path: join(folder, 'documents.db'), clock }));
