// The frame logs and the channel in memory keep the contracts of all logs and channels.

import { memoryChannel, memoryLogs } from '../../lib/store/memory/index.ts';
import { channelContract } from '../contract/channel.ts';
import { logMemoryContract, logStoreContract } from '../contract/stores.ts';

export const runs = 'fresh';

logStoreContract('memory', ({ clock }) => memoryLogs({ clock }));
logMemoryContract('memory', ({ clock }) => memoryLogs({ clock }));
channelContract('memory', () => memoryChannel());
