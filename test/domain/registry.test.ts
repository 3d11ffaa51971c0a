// The registry of twins keeps its promises on the stores of one process.

import { join } from 'node:path';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { registryPromises } from './registry-promises.ts';

registryPromises('memory', ({ clock }) => memoryDocuments({ clock }));
registryPromises('sqlite', ({ folder, clock }) => sqliteDocuments({ path: join(folder, 'documents.db'), clock }));
