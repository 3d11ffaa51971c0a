// The memory stores keep the contracts of all stores.

import { memorySnapshots } from '../../lib/store/memory.ts';
import { snapshotStoreContract } from '../contract/snapshot-store.ts';

snapshotStoreContract('memory', ({ clock }) => memorySnapshots({ clock }));
