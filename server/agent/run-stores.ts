// Where runs of the agent are logged, and over what instances tell each other of them.

import { join } from 'node:path';
import type { Channel } from '../../lib/store/channel.ts';
import { lmdbLogs } from '../../lib/store/lmdb/index.ts';
import type { LogStore } from '../../lib/store/log-store.ts';
import { memoryChannel, memoryLogs } from '../../lib/store/memory/index.ts';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import type { Config } from '../config/config.ts';
import { IN_MEMORY } from '../config/data-dir.ts';

export interface RunStores {
  readonly logs: LogStore;
  readonly channel: Channel;
}

/** Opens both: in Redis where there is one, else in `dataDir` and in this process. Throws ERR_STORE. */
export async function openRunStores(config: Config, redis: RedisConnection | undefined): Promise<RunStores> {
  if (redis) {
    const { openRedisLogs, redisChannel } = await import('../../lib/store/redis/index.ts');
    return { logs: await openRedisLogs({ connection: redis }), channel: redisChannel({ connection: redis }) };
  }
  if (config.dataDir === IN_MEMORY) return { logs: memoryLogs(), channel: memoryChannel() };
  return { logs: lmdbLogs({ path: join(config.dataDir, 'runs') }), channel: memoryChannel() };
}
