// The Redis store keeps the contract of all session stores, on one server and on a cluster.

import { suite } from 'uvu';
import { openRedisSnapshots } from '../../lib/store/redis.ts';
import type { Where } from '../contract/snapshot-bench.ts';
import { snapshotStoreContract } from '../contract/snapshot-store.ts';
import { startRedis, startRedisCluster } from '../support/redis-server.ts';

const server = await startRedis({ args: ['--appendonly', 'yes'] });
const cluster = await startRedisCluster({ args: ['--appendonly', 'yes'] });
const openAt =
  (url: string) =>
  ({ folder, clock }: Where) =>
    openRedisSnapshots({ url, prefix: `${folder.slice(-6)}:`, clock });

snapshotStoreContract('redis', openAt(server.url));
snapshotStoreContract('redis cluster', openAt(cluster.url));

const test = suite('Redis');
test.after(async () => {
  await server.stop();
  await cluster.stop();
});
test('x', () => {});
test.run();
