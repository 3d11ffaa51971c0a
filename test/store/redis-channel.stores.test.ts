// The channel over Redis keeps the contract of all channels, and comes back from whatever breaks its connections.

import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { redisChannel } from '../../lib/store/redis/channel.ts';
import { channelName } from '../../lib/store/redis/layout.ts';
import { channelContract, listen } from '../contract/channel.ts';
import { startRedis, startRedisCluster } from '../support/redis-server.ts';
import { suite } from '../support/suites.ts';
import { until } from '../support/until.ts';

const server = await startRedis();
const cluster = await startRedisCluster();

channelContract('redis', (prefix) => redisChannel({ url: server.url, prefix }));
channelContract('redis cluster', (prefix) => redisChannel({ url: cluster.url, prefix }));

const test = suite('Redis channel');
const TOPICS = Array.from({ length: 30 }, (_, at) => `topic ${at}`);

test.after(async () => {
  await server.stop();
  await cluster.stop();
});

// Redis answers a publisher before it delivers the message: the next subscription may exist by the time it comes.
test('who subscribes again hears nothing that was published before', async () => {
  const channel = redisChannel({ url: server.url });
  for (let round = 0; round < 20; round++) {
    const before = await listen(channel, 't');
    server.freeze();
    const published = channel.publish('t', 'between');
    await nextTurn();
    before.unsubscribe();
    await nextTurn();
    server.thaw();
    await published;
    const after = await listen(channel, 't');
    await channel.publish('t', 'again');
    await after.count(1);
    after.unsubscribe();
    assert.equal(after.heard, ['again'], `round ${round}`);
  }
  await channel.close();
});

test('a server that is killed and started again is told as a gap, and subscribed again', async () => {
  const channel = redisChannel({ url: server.url });
  const all = await Promise.all(TOPICS.map((topic) => listen(channel, topic)));
  await server.kill();
  await server.restart();
  await Promise.all(all.map((one) => one.count(0, 1)));
  await tellAll(channel, all);
  assert.ok(all.every((one) => one.gaps() > 0));
  await channel.close();
});

test('a topic whose slot moves to another master is followed there', async () => {
  const channel = redisChannel({ url: cluster.url });
  const all = await Promise.all(TOPICS.map((topic) => listen(channel, topic)));
  await moveSlot(channelName('twinline:', TOPICS[0]!));
  await all[0]!.count(0, 1);
  await tellAll(channel, all);
  await channel.close();
});

test('after a master was killed its replica carries its topics', async () => {
  const channel = redisChannel({ url: cluster.url });
  const all = await Promise.all(TOPICS.map((topic) => listen(channel, topic)));
  await cluster.nodes[0]!.kill();
  const told = () => all.filter((one) => one.gaps() > 0).length;
  await until('a topic to have a gap', () => told() > 0);
  assert.ok(told() < TOPICS.length, `${told()} topics had a gap`);
  await tellAll(channel, all);
  await channel.close();
});

test.run();

async function tellAll(channel: ReturnType<typeof redisChannel>, all: readonly Awaited<ReturnType<typeof listen>>[]) {
  for (const [at, topic] of TOPICS.entries()) {
    // The client may not know yet that a connection is back, or that a slot has moved.
    await until(`a message to ${topic} to be published`, () =>
      channel.publish(topic, `to ${topic}`).then(
        () => true,
        () => false,
      ),
    );
    await all[at]!.count(1);
    // What seemed to fail may have been done.
    assert.equal([...new Set(all[at]!.heard)], [`to ${topic}`]);
  }
}

// An empty slot needs no migration of keys.
async function moveSlot(key: string): Promise<void> {
  const clients = cluster.nodes
    .slice(0, 3)
    .map(({ port }) => new Redis({ port, host: '127.0.0.1', disableClientInfo: true }));
  const slot = (await clients[0]!.cluster('KEYSLOT', key)) as number;
  const from = Math.floor((slot * 3) / 16_384);
  const to = (from + 1) % 3;
  const id = (await clients[to]!.cluster('MYID')) as string;
  for (const at of [to, from, 3 - to - from]) await clients[at]!.call('CLUSTER', 'SETSLOT', slot, 'NODE', id);
  for (const client of clients) {
    client.disconnect();
    await once(client, 'end');
  }
}
