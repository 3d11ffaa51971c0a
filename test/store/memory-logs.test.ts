// The frame logs and the channel in memory keep the contracts of all logs and channels.

import { memoryLogs } from '../../lib/store/memory.ts';
import { logStoreContract } from '../contract/log-store.ts';

logStoreContract('memory', ({ clock }) => memoryLogs({ clock }));
