// The Redis that sessions are kept in, whatever its shape, and what can be done to it.

import { Redis } from 'ioredis';
import type { Random } from '../simulation/random.ts';
import type { RedisProcess } from '../support/redis-process.ts';
import { type RedisServer, startRedis, startRedisCluster, startRedisSentinel } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

export interface Place {
  readonly url: string;
  /** Servers that hold data. */
  readonly nodes: readonly RedisServer[];
  /** Who tells instances where the master is. */
  readonly sentinels?: readonly RedisProcess[];
  stop(): Promise<void>;
}

/**
 * Milliseconds of silence after which a master counts as dead. One that only waits for a busy machine must not: until it
 * hears of its successor it takes turns that are lost then.
 */
const SILENT_MS = 4_000;

export const STORES = {
  one: async () => alone([]),
  always: async () => alone(['--appendonly', 'yes', '--appendfsync', 'always']),
  everysec: async () => alone(['--appendonly', 'yes', '--appendfsync', 'everysec']),
  cluster: async (): Promise<Place> => startRedisCluster({ args: ['--cluster-node-timeout', String(SILENT_MS)] }),
  sentinel: async (): Promise<Place> => {
    const { url, master, replica, sentinels, stop } = await startRedisSentinel();
    const patience = ['down-after-milliseconds', String(SILENT_MS)];
    for (const one of sentinels) await asking(one, (client) => client.call('SENTINEL', 'SET', 'twinline', ...patience));
    return { url, nodes: [master, replica], sentinels, stop };
  },
} satisfies { readonly [name: string]: () => Promise<Place> };

async function alone(args: readonly string[]): Promise<Place> {
  const server = await startRedis({ args });
  return { url: server.url, nodes: [server], stop: server.stop };
}

/** What the servers have said of masters that failed, and of connections between them. */
export function votesOf({ nodes }: Place): string[] {
  const lines = nodes.flatMap(({ port, printed }) =>
    printed()
      .split('\n')
      .map((line) => `${port} ${line}`),
  );
  return lines.filter((line) => /fail(ed|ing|over)|Cluster state|MASTER/.test(line));
}

/** Kills a master with -9 and resolves when all agree that another server has taken its place; gives the dead one. */
export async function failOver({ nodes, sentinels = [] }: Place, random: Random): Promise<RedisServer> {
  const roles = await rolesOf(nodes);
  const masters = nodes.filter((_, at) => roles[at] === 'master');
  const dead = masters[random.below(masters.length)]!;
  await dead.kill();
  const others = nodes.filter((node) => node !== dead);
  await until(
    'a new master',
    async () => (await rolesOf(others)).filter((role) => role === 'master').length === masters.length,
  );
  // A Sentinel that has not heard of it yet sends instances to the dead one, which comes back empty and as a master.
  await until('all Sentinels know the new master', async () => {
    const ports = await Promise.all(sentinels.map((sentinel) => asking(sentinel, masterPort)));
    return !ports.includes(dead.port);
  });
  return dead;
}

/** Starts a dead master again; resolves when it follows the new one and has all of its data. */
export async function rejoin({ nodes }: Place, dead: RedisServer): Promise<void> {
  await dead.restart();
  await until('the dead one follows', async () => (await rolesOf([dead]))[0] === 'replica');
  await until('all have the data of their master', async () =>
    (await rolesOf(nodes)).every((role) => role === 'master' || role === 'replica'),
  );
}

/** Throws away all that is kept. */
export async function empty({ nodes }: Place): Promise<void> {
  for (const node of nodes) await asking(node, (client) => client.flushall());
}

async function masterPort(client: Redis): Promise<number> {
  const [, port] = (await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'twinline')) as string[];
  return Number(port);
}

type Role = 'master' | 'replica' | 'behind' | 'dead';

function rolesOf(nodes: readonly RedisServer[]): Promise<Role[]> {
  return Promise.all(
    nodes.map(async (node) => {
      const said = await asking(node, (client) => client.info('replication')).catch(() => undefined);
      if (said === undefined) return 'dead';
      if (said.includes('role:master')) return 'master';
      return said.includes('master_link_status:up') ? 'replica' : 'behind';
    }),
  );
}

async function asking<T>({ port }: RedisProcess, ask: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis({
    port,
    host: '127.0.0.1',
    disableClientInfo: true,
    retryStrategy: null,
    lazyConnect: true,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return await ask(client);
  } finally {
    client.disconnect();
  }
}
