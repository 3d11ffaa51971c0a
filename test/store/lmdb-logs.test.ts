// Frame logs in LMDB keep the contract of all logs.

import { join } from 'node:path';
import { lmdbLogs } from '../../lib/store/lmdb.ts';
import { logStoreContract } from '../contract/log-store.ts';

logStoreContract('lmdb', ({ folder, clock }) => lmdbLogs({ path: join(folder, 'logs'), clock }));
