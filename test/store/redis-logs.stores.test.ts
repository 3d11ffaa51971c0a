// Frame logs in Redis keep the contract of all logs, on one server and on a cluster, through kills and restarts.

import { setTimeout as pause } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../lib/errors.ts';
import type { LogStore } from '../../lib/store/log-store.ts';
import { openRedisLogs, redisLogs } from '../../lib/store/redis/logs.ts';
import type { Where } from '../../lib/testing/bench.ts';
import { followAll, numbered, readAll, refuses } from '../../lib/testing/logs/bench.ts';
import { ownersAreReplaced, writersAreKilled } from '../contract/log-processes.ts';
import { logMemoryContract, logStoreContract } from '../contract/stores.ts';
import { startRedis, startRedisCluster } from '../support/redis-server.ts';
import { suite } from '../support/suites.ts';
import { until } from '../support/until.ts';

const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

const server = await startRedis({ args: DURABLE });
const cluster = await startRedisCluster();
const openAt =
  (url: string) =>
  ({ folder, clock }: Where) =>
    redisLogs({ url, prefix: `${folder.slice(-6)}:`, clock });

export const runs = 'fresh';

for (const [name, { url }] of Object.entries({ redis: server, 'redis cluster': cluster })) {
  logStoreContract(name, openAt(url));
  logMemoryContract(name, openAt(url));
}

const test = suite('Redis logs');
const FRAMES = 300;

test.after(async () => {
  await server.stop();
  await cluster.stop();
});

for (const [name, place] of [
  ['one server', server.url],
  ['a cluster', cluster.url],
] as const) {
  test(`whatever a killed writer had acknowledged is there once, in order, and was followed: ${name}`, () =>
    within(place, (store) => writersAreKilled({ store, place })));

  test(`a writer in another process stops when its log is taken over: ${name}`, () =>
    within(place, (store) => ownersAreReplaced({ store, place })));
}

test('writing and following survive kills of Redis without a loss', () =>
  survives(server.url, async () => {
    await server.kill();
    await server.restart();
  }));

test('following survives the loss of a master of the cluster, as far as its replica has it', () =>
  survives(cluster.url, () => cluster.nodes[0]!.kill()));

test('the durability class is that of the server', async () => {
  const store = await openRedisLogs({ url: server.url });
  assert.is(store.durability, 'power-loss');
  await store.close();
  await refuses('ERR_CONFIG', () => redisLogs({ url: server.url, prefix: '{' }));
});

test.run();

async function within(url: string, keep: (store: LogStore) => Promise<void>): Promise<void> {
  const store = redisLogs({ url });
  try {
    await keep(store);
  } finally {
    await store.close();
  }
}

// Three logs, so that a cluster has some on each master; `trouble` comes twice while they are written.
async function survives(url: string, trouble: () => Promise<void>): Promise<void> {
  const logs = ['survivor 1', 'survivor 2', 'survivor 3', 'survivor 4'];
  await within(url, (writing) =>
    within(url, async (reading) => {
      for (const log of logs) await writing.open(log, claim());
      const followed = logs.flatMap((log) => Array.from({ length: 10 }, () => followAll(reading, log)));
      let appended = 0;
      const written = Promise.all(logs.map((log) => writeAll(writing, log, () => appended++)));
      for (const share of [1 / 4, 1 / 2]) {
        await until('a part of the frames to be written', () => appended >= share * FRAMES * logs.length);
        await trouble();
      }
      await written;
      const frames = numbered(Array.from({ length: FRAMES }, (_, at) => `frame ${at + 1}`));
      for (const log of logs) assert.equal(await readAll(writing, log), frames);
      for (const seen of await Promise.all(followed)) assert.equal(seen, frames);
    }),
  );
}

// Repeats every append that was not acknowledged.
async function writeAll(store: LogStore, log: string, onAppended: () => void): Promise<void> {
  for (let last = 0; last < FRAMES; ) {
    const options = { ...claim(), expected: last, end: last + 1 === FRAMES };
    try {
      const result = await store.append(log, [`frame ${last + 1}`], options);
      if (result.kind !== 'appended') assert.unreachable(JSON.stringify(result));
      last++;
      onAppended();
    } catch (error) {
      if (!(error instanceof TwinlineError && error.code === 'ERR_STORE')) throw error;
      await pause(20);
    }
  }
}

function claim() {
  return { fence: 1, expiresAt: Date.now() + 600_000 };
}
