// Real Redis for tests: one server, a cluster of 3 masters and 3 replicas, a master and replica watched by 3 Sentinels.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type RedisProcess, startRedisProcess } from './redis-process.ts';
import { until } from './until.ts';

export interface RedisServer extends RedisProcess {
  /** `redis://127.0.0.1:port` */
  readonly url: string;
}

export interface RedisCluster {
  /** `redis+cluster://…`, all nodes */
  readonly url: string;
  /** Masters at 0, 1 and 2; at 3, 4 and 5 the replica of each, as long as none has failed. */
  readonly nodes: readonly RedisServer[];
  stop(): Promise<void>;
}

export interface RedisSentinels {
  /** `redis+sentinel://…/twinline`, all Sentinels */
  readonly url: string;
  readonly master: RedisServer;
  readonly replica: RedisServer;
  readonly sentinels: readonly RedisProcess[];
  stop(): Promise<void>;
}

const BASE = ['--port', '{port}', '--bind', '127.0.0.1', '--dir', '{folder}', '--save', '', '--appendonly', 'no'];
const REPLICATION = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'];
const SLOTS = 16_384;
const NODE_TIMEOUT_MS = 2_000;
const DOWN_AFTER_MS = 500;

/**
 * Starts a server that keeps nothing on disk. `args` go to redis-server and win over ours: `['--appendonly', 'yes']`;
 * `{port}` and `{folder}` in them stand for its own. Stop it in an `after` hook; a test process that dies takes it along.
 */
export async function startRedis({ args = [] }: { args?: readonly string[] } = {}): Promise<RedisServer> {
  const server = await startRedisProcess({ args: [...BASE, ...args] });
  return Object.assign(server, { url: `redis://127.0.0.1:${server.port}` });
}

/** About a second; resolves when every node knows the whole cluster and every replica holds its master's data. */
export async function startRedisCluster({ args = [] }: { args?: readonly string[] } = {}): Promise<RedisCluster> {
  const own = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(NODE_TIMEOUT_MS), ...REPLICATION, ...args];
  const nodes = await startAll(Array.from({ length: 6 }, () => () => startRedis({ args: own })));
  const stop = () => stopAll(nodes);
  try {
    await withClients(nodes, joinCluster);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `redis+cluster://${addresses(nodes)}`, nodes, stop };
}

async function joinCluster(clients: readonly Redis[], nodes: readonly RedisServer[]): Promise<void> {
  const masters = clients.slice(0, 3);
  const ids = (await Promise.all(masters.map((client) => client.cluster('MYID')))) as string[];
  const first = (at: number) => Math.floor((SLOTS * at) / 3);
  for (const [at, client] of masters.entries()) {
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', at + 1);
    await client.call('CLUSTER', 'ADDSLOTSRANGE', first(at), first(at + 1) - 1);
  }
  for (const { port } of nodes.slice(1)) await clients[0]!.call('CLUSTER', 'MEET', '127.0.0.1', port);
  await all(clients, (client) => client.cluster('INFO'), /cluster_known_nodes:6\b/);
  // It must have heard of its master first.
  for (const [at, client] of clients.slice(3).entries())
    await eventually(() => client.call('CLUSTER', 'REPLICATE', ids[at]!).catch(String), /OK/);
  await all(clients.slice(3), (client) => client.info('replication'), /master_link_status:up/);
  await all(clients, (client) => client.cluster('INFO'), /cluster_state:ok/);
  // Every node must see the replicas as such, or a client that asks it knows none of them.
  await all(clients, replicasSeen, /^3$/);
}

async function replicasSeen(client: Redis): Promise<string> {
  const list = (await client.cluster('NODES')) as string;
  return String(list.split('\n').filter((line) => /\bslave\b/.test(line)).length);
}

/** About three seconds; resolves when the replica is in step and every Sentinel knows it and the other Sentinels. */
export async function startRedisSentinel(): Promise<RedisSentinels> {
  const started: RedisProcess[] = [];
  const stop = () => stopAll(started);
  const keep = <T extends RedisProcess>(server: T): T => {
    started.push(server);
    return server;
  };
  try {
    const master = keep(await startRedis({ args: REPLICATION }));
    const following = ['--replicaof', `127.0.0.1 ${master.port}`, ...REPLICATION];
    const replica = keep(await startRedis({ args: following }));
    await withClients([replica], (clients) =>
      all(clients, (client) => client.info('replication'), /master_link_status:up/),
    );
    const sentinels = await startAll(Array.from({ length: 3 }, () => () => startSentinel(master.port).then(keep)));
    await withClients(sentinels, (clients) => all(clients, known, /^2 1$/));
    return { url: `redis+sentinel://${addresses(sentinels)}/twinline`, master, replica, sentinels, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

// A Sentinel writes what it learns into its configuration file, so it wants one.
async function startSentinel(masterPort: number): Promise<RedisProcess> {
  const words = [
    `sentinel monitor twinline 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds twinline ${DOWN_AFTER_MS}`,
    'sentinel failover-timeout twinline 5000',
  ];
  return startRedisProcess({
    prepare: (folder) => writeFileSync(join(folder, 'sentinel.conf'), `${words.join('\n')}\n`),
    args: ['{folder}/sentinel.conf', '--sentinel', '--port', '{port}', '--bind', '127.0.0.1', '--dir', '{folder}'],
  });
}

async function known(client: Redis): Promise<string> {
  const answer = (await client.call('SENTINEL', 'MASTER', 'twinline')) as string[];
  const at = (field: string) => answer[answer.indexOf(field) + 1];
  return `${at('num-other-sentinels')} ${at('num-slaves')}`;
}

async function startAll<T extends RedisProcess>(starts: readonly (() => Promise<T>)[]): Promise<T[]> {
  const outcomes = await Promise.allSettled(starts.map((start) => start()));
  const started = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (!failed) return started;
  await stopAll(started);
  throw failed.reason;
}

async function stopAll(servers: readonly RedisProcess[]): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()));
}

function addresses(servers: readonly RedisProcess[]): string {
  return servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
}

async function withClients<T extends RedisProcess>(
  servers: readonly T[],
  work: (clients: readonly Redis[], servers: readonly T[]) => Promise<void>,
): Promise<void> {
  const clients = servers.map(({ port }) => new Redis({ port, host: '127.0.0.1', disableClientInfo: true }));
  try {
    await work(clients, servers);
  } finally {
    for (const client of clients) client.disconnect();
  }
}

async function all(clients: readonly Redis[], ask: (client: Redis) => Promise<unknown>, wanted: RegExp): Promise<void> {
  await Promise.all(clients.map((client) => eventually(() => ask(client), wanted)));
}

// Redis tells nobody when its nodes agree.
async function eventually(ask: () => Promise<unknown>, wanted: RegExp): Promise<void> {
  await until(`Redis to say ${wanted}`, async () => wanted.test(String(await ask())));
}
