// The LMDB store keeps the contract of all session stores.

import { join } from 'node:path';
import { lmdbSnapshots } from '../../lib/store/lmdb.ts';
import { snapshotStoreContract } from '../contract/snapshot-store.ts';

snapshotStoreContract('lmdb', ({ folder, clock }) => lmdbSnapshots({ path: join(folder, 'sessions'), clock }));
