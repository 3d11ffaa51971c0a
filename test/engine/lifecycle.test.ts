// Machines that live in documents keep their promises on the stores of one process.

import { join } from 'node:path';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { lifecyclePromises } from './lifecycle-promises.ts';

lifecyclePromises('memory', ({ clock }) => memoryDocuments({ clock }));
lifecyclePromises('sqlite', ({ folder, clock }) => sqliteDocuments({ path: join(folder, 'documents.db'), clock }));
