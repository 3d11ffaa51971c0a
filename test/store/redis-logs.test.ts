// Frame logs in Redis keep the contract of all logs, on one server and on a cluster.

import { redisLogs } from '../../lib/store/redis-logs.ts';
import { logStoreContract } from '../contract/log-store.ts';
import type { Where } from '../contract/snapshot-bench.ts';
import { startRedis, startRedisCluster } from '../support/redis-server.ts';
import { suite } from '../support/suites.ts';

const server = await startRedis();
const cluster = await startRedisCluster();
const openAt =
  (url: string) =>
  ({ folder, clock }: Where) =>
    redisLogs({ url, prefix: `${folder.slice(-6)}:`, clock });

logStoreContract('redis', openAt(server.url));
logStoreContract('redis cluster', openAt(cluster.url));

const test = suite('servers');
test('end', async () => {
  await server.stop();
  await cluster.stop();
});
test.run();
