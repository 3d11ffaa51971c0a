// How durable Redis is, read from the server's settings.

import type { Cluster, Redis } from 'ioredis';
import type { Durability } from '../store.ts';
import type { RedisConnection } from './connection.ts';
import { readRefusal } from './refusals.ts';

const WEAKEST_FIRST: readonly Durability[] = ['memory', 'process-crash', 'power-loss'];

/**
 * What an acknowledged commit survives under the server's current settings; in a cluster, under those of the weakest master:
 * - `memory`: `appendonly no`, as on Debian. Data is lost when Redis stops.
 * - `process-crash`: `appendfsync everysec` or `no`. About the last second may be lost on power failure, and on a busy disk
 *   even when only Redis is killed.
 * - `power-loss`: `appendfsync always`.
 *
 * Never `replicated`: Redis acknowledges a write before its replicas have it, so a failover may lose the most recent ones.
 * Where CONFIG is forbidden, as on managed services, INFO reveals less, and counts as `process-crash` at most. Rejects with
 * ERR_STORE when Redis does not answer.
 * @example
 * const connection = connectRedis({ url: process.env.REDIS_URL! });
 * await redisDurability(connection); // → 'memory'
 * await connection.close();
 */
export async function redisDurability(connection: RedisConnection): Promise<Durability> {
  const classes = await connection.run('read how durable it is', (client) =>
    Promise.all(('nodes' in client ? client.nodes('master') : [client]).map(readDurability)),
  );
  return WEAKEST_FIRST.find((one) => classes.includes(one)) ?? 'memory';
}

async function readDurability(client: Redis | Cluster): Promise<Durability> {
  try {
    const [, appendonly] = (await client.call('CONFIG', 'GET', 'appendonly')) as string[];
    const [, appendfsync] = (await client.call('CONFIG', 'GET', 'appendfsync')) as string[];
    if (appendonly !== undefined && appendfsync !== undefined)
      return appendonly !== 'yes' ? 'memory' : appendfsync === 'always' ? 'power-loss' : 'process-crash';
  } catch (error) {
    if (!isForbidden(error)) throw error;
  }
  try {
    return /^aof_enabled:1/m.test(await client.info('persistence')) ? 'process-crash' : 'memory';
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return 'memory';
  }
}

function isForbidden(error: unknown): boolean {
  return readRefusal(error).decision === 'do-without';
}
