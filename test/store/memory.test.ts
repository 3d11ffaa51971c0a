// The memory stores keep the contracts of all stores.

import { memoryDocuments, memorySnapshots } from '../../lib/store/memory/index.ts';
import { documentStoreContract } from '../contract/document-store.ts';
import { snapshotStoreContract } from '../contract/snapshot-store.ts';

snapshotStoreContract('memory', ({ clock }) => memorySnapshots({ clock }));
documentStoreContract('memory', ({ clock }) => memoryDocuments({ clock }));
