// What a Redis and a MongoDB say about themselves: version, clock, and what decides how much they keep.

import type { Redis } from 'ioredis';
import type { MongoConnection } from '../../lib/store/mongo/connection.ts';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import { storeClock } from './store-clock.ts';

/** Of one server; what it does not tell is missing (managed ones hide CONFIG). Texts are as Redis writes them. */
export interface RedisFacts {
  readonly version: string | undefined;
  readonly settings: { readonly [name in StoreFact]?: string };
  /** Bytes in use. */
  readonly usedMemory: number | undefined;
  /** Its clock minus ours, in milliseconds; good to half a round trip. */
  readonly skewMs: number;
}

const ASKED = ['appendonly', 'appendfsync', 'maxmemory', 'maxmemory-policy'] as const;
type StoreFact = (typeof ASKED)[number];

/** Asks the server, or every master of a cluster. Rejects with ERR_STORE when one does not answer. */
export function redisFacts(redis: RedisConnection): Promise<RedisFacts[]> {
  return redis.run('ask what it is', (client) => {
    const nodes = 'nodes' in client ? client.nodes('master') : [client];
    return Promise.all(nodes.map(readFacts));
  });
}

/** Its time of day, in milliseconds; of a cluster that of one master. Rejects with ERR_STORE when it does not answer. */
export function readRedisTime(redis: RedisConnection): Promise<number> {
  return redis.run('ask for its time', (client) => readTime('nodes' in client ? client.nodes('master')[0]! : client));
}

async function readTime(node: Redis): Promise<number> {
  const [seconds, micros] = await node.time();
  return Number(seconds) * 1e3 + Number(micros) / 1e3;
}

async function readFacts(node: Redis): Promise<RedisFacts> {
  const skewMs = (await storeClock(() => readTime(node))).offsetMs();
  const info = await node.info();
  const settings = await Promise.all(ASKED.map(async (name) => [name, await setting(node, name)] as const));
  const bytes = /^used_memory:(\d+)/m.exec(info)?.[1];
  return {
    version: /^redis_version:(\S+)/m.exec(info)?.[1],
    settings: {
      ...(/^aof_enabled:(\d)/m.test(info) && { appendonly: /^aof_enabled:1/m.test(info) ? 'yes' : 'no' }),
      ...Object.fromEntries(settings.filter(([, value]) => value !== undefined)),
    },
    usedMemory: bytes === undefined ? undefined : Number(bytes),
    skewMs,
  };
}

async function setting(node: Redis, name: StoreFact): Promise<string | undefined> {
  const answer = (await node.config('GET', name).catch(() => [])) as readonly string[];
  return answer[1];
}

export interface MongoFacts {
  readonly version: string;
  readonly topology: 'standalone' | 'replica set' | 'sharded';
  /** Members that hold data; 1 for one that stands alone. */
  readonly members: number;
  /** Its clock minus ours, in milliseconds; good to half a round trip. */
  readonly skewMs: number;
}

/** The time of day of the primary, in milliseconds. Rejects when it does not answer. */
export async function readMongoTime(mongo: MongoConnection): Promise<number> {
  const { localTime } = await mongo.db.command({ hello: 1 });
  return localTime instanceof Date ? localTime.getTime() : Date.now();
}

/** Asks the primary. Rejects when it does not answer. */
export async function mongoFacts(mongo: MongoConnection): Promise<MongoFacts> {
  const version = await mongo.version();
  const hello = await mongo.db.command({ hello: 1 });
  const { offsetMs } = await storeClock(() => readMongoTime(mongo));
  const hosts = [...((hello.hosts as unknown[]) ?? []), ...((hello.passives as unknown[]) ?? [])];
  return {
    version,
    topology: hello.msg === 'isdbgrid' ? 'sharded' : hello.setName ? 'replica set' : 'standalone',
    members: Math.max(1, hosts.length),
    skewMs: offsetMs(),
  };
}
