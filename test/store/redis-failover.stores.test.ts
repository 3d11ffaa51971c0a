// A master that dies: Sentinels or the cluster name another, and the same store goes on there, every turn once.

import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../lib/errors.ts';
import { connectRedis, openRedisSnapshots, redisSnapshots } from '../../lib/store/redis/index.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { session } from '../../lib/testing/sessions/bench.ts';
import { type RedisServer, startRedis, startRedisCluster, startRedisSentinel } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

const WRITERS = 20;

/** Sentinels and clusters take seconds to notice that a master is gone. */
export const runs = 'waits';

const test = suite('Redis failover');
const clock = { now: Date.now };

// Both wait for their nodes most of the time.
const [group, cluster] = await Promise.all([
  startRedisSentinel(),
  startRedisCluster({ args: ['--cluster-node-timeout', '500'] }),
]);
test.after(async () => {
  await group.stop();
  await cluster.stop();
});

test('an address without cluster says what to write instead', async () => {
  const connection = connectRedis({ url: cluster.nodes[0]!.url });
  const store = redisSnapshots({ connection, prefix: 'other:' });
  try {
    const commits = Array.from({ length: 50 }, (_, at) => store.commit(`k${at}`, 0, session(clock)));
    const refused = (await Promise.allSettled(commits)).find((one) => one.status === 'rejected');
    assert.match((refused!.reason as TwinlineError).message, /MOVED .*redis\+cluster:\/\/host:port,host:port/);
  } finally {
    await connection.close();
  }
});

test('Sentinel and cluster: when a master dies, the counters go on where they were, every turn once', async () => {
  const watched = redisSnapshots({ url: group.url });
  const spread = await openRedisSnapshots({ url: cluster.url });
  try {
    assert.is(spread.durability, 'memory');
    await Promise.all([countThrough(watched, group.master), countThrough(spread, cluster.nodes[1]!)]);
  } finally {
    await watched.close();
    await spread.close();
  }
});

test('a server behind one address that becomes a replica is left at once, and the writers go on at the new master', async () => {
  const [old, next] = await Promise.all([startRedis(), startRedis()]);
  let target = old;
  // The address of a service: it leads to the master of the moment, and keeps the connections that there are.
  const address = createServer((wire) => {
    const upstream = connect(target.port, '127.0.0.1');
    for (const [from, to] of [
      [wire, upstream],
      [upstream, wire],
    ] as const)
      from.pipe(to).on('error', () => from.destroy());
  });
  await new Promise<void>((resolve) => address.listen(0, '127.0.0.1', resolve));
  const { port } = address.address() as AddressInfo;
  const store = redisSnapshots({ url: `redis://127.0.0.1:${port}` });
  const [admin, promoted] = [new Redis(old.url), new Redis(next.url)];
  try {
    assert.is(await countUp(store, 'counter', 0), 1);
    await promoted.replicaof('127.0.0.1', old.port);
    await until('it follows', async () => /master_link_status:up/.test(await promoted.info('replication')));
    await replicaIsInStep(old);
    target = next;
    await promoted.replicaof('NO', 'ONE');
    await admin.replicaof('127.0.0.1', next.port);
    assert.is(await countUp(store, 'counter', 1), 2);
    assert.is(await countUp(store, 'counter', 2), 3);
  } finally {
    admin.disconnect();
    promoted.disconnect();
    await store.close();
    address.close();
    await Promise.all([old.stop(), next.stop()]);
  }
});

test.run();

// Every writer counts up its own session, as a caller whose gateway repeats a turn until it is answered. A repeated turn
// is known by its key, so a lost answer counts once. The replica is in step when the master dies under writers that
// wait: what was acknowledged in the moment of death may be lost on real failovers, and is told apart here.
async function countThrough(store: SnapshotStore, master: RedisServer): Promise<void> {
  const told = Array.from({ length: WRITERS }, () => 0);
  const round = () =>
    Promise.all(told.map(async (count, at) => (told[at] = await countUp(store, `counter ${at}`, count))));
  for (let turn = 0; turn < 5; turn++) await round();
  await replicaIsInStep(master);
  await master.kill();
  for (let turn = 0; turn < 5; turn++) await round();
  assert.equal(
    told,
    told.map(() => 10),
  );
  for (let at = 0; at < WRITERS; at++) assert.is((await store.load(`counter ${at}`))?.record, '10');
  assert.is((await store.list()).keys.length, WRITERS);
}

/** Resolves when a replica has all that the master had when this was called. */
async function replicaIsInStep({ url }: RedisServer): Promise<void> {
  const admin = new Redis(url);
  const read = async (what: RegExp) => Number(what.exec(await admin.info('replication'))?.[1] ?? Number.NaN);
  const offset = await read(/master_repl_offset:(\d+)/);
  await until('the replica to be in step', async () => (await read(/slave0:.*offset=(\d+)/)) >= offset);
  admin.disconnect();
}

async function countUp(store: SnapshotStore, key: string, from: number): Promise<number> {
  const turnKey = `${key} turn ${from}`;
  for (; ; await pause(50)) {
    try {
      const seen = await store.load(key);
      if (seen?.turnKey === turnKey) return Number(seen.record);
      assert.is(Number(seen?.record ?? 0), from);
      const next = session(clock, { turnKey, record: String(from + 1) });
      const result = await store.commit(key, seen?.revision ?? 0, next);
      if (result.kind === 'committed') return from + 1;
    } catch (error) {
      assert.instance(error, TwinlineError);
    }
  }
}
