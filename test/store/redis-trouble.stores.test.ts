// A Redis that is away, frozen, restarted, full or forbidding: refused in plain words, and used again later.

import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  connectRedis,
  openRedisSnapshots,
  type RedisConnection,
  type RedisConnectionOptions,
  redisDurability,
  redisSnapshots,
} from '../../lib/store/redis/index.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { committed, conflict, refuses, session } from '../../lib/testing/sessions/bench.ts';
import { faultProxy, PASS } from '../support/fault-proxy.ts';
import { startRedis } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

/** For the one call that is to be given up; all others are patient. */
const HASTY = { commandMs: 200 };
const PATIENT = { commandMs: 600_000, firstConnectMs: 600_000 };

/** Commands that are never answered are given up after their time. */
export const runs = 'waits';

const test = suite('Redis in trouble');
const clock = { now: Date.now };
const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
const locked = await startRedis({ args: ['--requirepass', 'canary'] });
let admin: Redis;
let open: { close(): Promise<unknown> }[] = [];

test.before.each(async () => {
  open = [];
  admin = new Redis(server.url);
  admin.on('error', () => {});
  await admin.flushall();
});
test.after.each(async () => {
  for (const one of open) await one.close();
  admin.disconnect();
});
test.after(async () => {
  await server.stop();
  await locked.stop();
});

test('where nothing listens, the first command waits a moment, and later ones are refused at once', async () => {
  const proxy = keep(await faultProxy(server));
  await proxy.set({ kind: 'refuse' });
  const connection = connect(`redis://:canary@127.0.0.1:${proxy.port}/3`, { firstConnectMs: 300 });
  await refuses('ERR_STORE', () => connection.ping());
  let later: Error | undefined;
  void refuses('ERR_STORE', () => connection.ping()).then((error) => (later = error));
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  assert.match(later!.message, `Redis redis://:****@127.0.0.1:${proxy.port}/3: cannot ping: not connected`);
  assert.match(later!.message, 'ECONNREFUSED');
});

test('a frozen server: a commit is refused in time, is done nevertheless, and its turn key tells', async () => {
  const [patient, store] = [await openStore(), openHastyStore()];
  await patient.commit('k', 0, session(clock));
  await works(store);
  server.freeze();
  const next = session(clock, { turnKey: 'lost', record: 'second' });
  const error = await refuses('ERR_STORE', () => store.commit('k', 1, next));
  assert.match(error.message, 'cannot commit: Command timed out. It may still have been executed.');
  server.thaw();
  await works(store);
  assert.equal(await patient.load('k'), { ...next, revision: 2 });
  assert.equal(await patient.commit('k', 1, next), conflict(2));
});

test('a peer that went silent is given up, and the same store goes on over a new connection', async () => {
  const proxy = keep(await faultProxy(server));
  const store = openHastyStore(`redis://127.0.0.1:${proxy.port}`);
  await works(store);
  await proxy.set({ kind: 'lose-reply', to: /\r\nget\r\n/i, after: 'stall' });
  await refuses('ERR_STORE', () => store.load('k'));
  await works(store);
  await proxy.set(PASS);
});

test('what was sent is never sent again when the connection breaks before the answer', async () => {
  const proxy = keep(await faultProxy(server));
  const connection = connect(`redis://127.0.0.1:${proxy.port}`);
  await connection.ping();
  await proxy.set({ kind: 'lose-reply', to: /incr/i, after: 'close' });
  const error = await refuses('ERR_STORE', () => connection.run('count', (client) => client.incr('n')));
  assert.match(error.message, 'may still have been executed');
  await proxy.set(PASS);
  await works(connection);
  assert.is(await admin.get('n'), '1');
});

test('close does not hang: with a frozen server, with commands under way, before the first connection', async () => {
  const store = openHastyStore();
  await works(store);
  const waiting = connect('redis://127.0.0.1:9');
  const pings = [waiting.ping(), waiting.share().ping()].map((ping) => ping.catch((error) => error.code));
  server.freeze();
  const commit = refuses('ERR_STORE', () => store.commit('k', 0, session(clock)));
  await Promise.all([store.close(), waiting.close()]);
  server.thaw();
  await commit;
  assert.is(await pings[0], 'ERR_STORE');
  await store.close();
  await refuses('ERR_STORE', () => waiting.ping());
});

test('a shared connection stays open for the others', async () => {
  const connection = connect(server.url);
  const store = await openRedisSnapshots({ connection });
  await store.close();
  await refuses('ERR_STORE', () => store.ping());
  await connection.ping();
});

test('a further connection may block for longer than a command may take', async () => {
  const connection = connect(server.url, HASTY);
  const further = keep(connection.duplicate({ blockMs: 600_000 }));
  const seconds = (HASTY.commandMs * 2) / 1000;
  assert.is(await further.run('wait', (client) => client.blpop('empty', seconds)), null);
});

test('a wrong password is refused at once, a right one is taken, and neither is in any error', async () => {
  for (const [login, reason] of [
    [':canary-wrong@', 'WRONGPASS'],
    ['canary-user:canary@', 'WRONGPASS'],
    ['', 'NOAUTH'],
  ] as const) {
    const connection = connect(locked.url.replace('//', `//${login}`));
    for (let tries = 0; tries < 2; tries++) {
      const error = await refuses('ERR_STORE', () => connection.ping());
      assert.match(error.message, reason);
      assert.match(error.message, 'Check the user and the password in the URL.');
      assert.not.match(inspect(error, { depth: 9 }).replace('canary-user:', ''), /canary/);
    }
  }
  await connect(locked.url.replace('//', '//:canary@')).ping();
  await connect(locked.url.replace('//', '//default:canary@')).ping();
});

const REFUSALS: readonly [string, (commands: Redis) => Promise<unknown>, RegExp, string][] = [
  ['another type', (redis) => redis.lpush('twinline:{dp}s:a', 'x'), /WRONGTYPE/, 'use another database or prefix'],
  ['a full memory', (redis) => redis.config('SET', 'maxmemory', '1'), /OOM/, 'raise maxmemory'],
  ['a replica', (redis) => redis.replicaof('127.0.0.1', 9), /READONLY/, 'must lead to the master'],
  ['missing rights', (redis) => redis.call('ACL', 'SETUSER', 'default', '-evalsha'), /NOPERM/, 'ACL SETUSER'],
  ['too few replicas', (redis) => redis.config('SET', 'min-replicas-to-write', '1'), /NOREPLICAS/, 'min-replicas'],
];

for (const [what, prepare, reason, remedy] of REFUSALS)
  test(`${what}: the refusal names the reason and what to do, and nothing of the session`, async () => {
    const store = await openStore();
    await store.commit('b', 0, session(clock));
    await prepare(admin);
    try {
      const next = session(clock, { record: 'canary', reply: 'canary', turnKey: 'canary', dueAt: 1 });
      const error = await refuses('ERR_STORE', () => store.commit('a', 0, next));
      assert.match(error.message, reason);
      assert.match(error.message, remedy);
      assert.match(error.message, server.url);
      assert.not.match(inspect(error, { depth: 9 }), /canary/);
    } finally {
      await admin.replicaof('NO', 'ONE');
      await admin.call('ACL', 'SETUSER', 'default', '+@all');
      await admin.config('SET', 'maxmemory', '0');
      await admin.config('SET', 'min-replicas-to-write', '0');
      await admin.flushall();
    }
    await works(store);
    assert.equal(await store.commit('a', 0, session(clock)), committed(1));
  });

test('how durable Redis is, is read from it', async () => {
  const connection = connect(server.url);
  const set = (name: string, value: string) => admin.config('SET', name, value);
  assert.is(await redisDurability(connection), 'power-loss');
  assert.is((await openStore()).durability, 'power-loss');
  await set('appendfsync', 'everysec');
  assert.is(await redisDurability(connection), 'process-crash');
  await set('appendfsync', 'always');
  await admin.call('ACL', 'SETUSER', 'default', '-config');
  assert.is(await redisDurability(connection), 'process-crash', 'INFO does not tell how often');
  await admin.call('ACL', 'SETUSER', 'default', '-info');
  assert.is(await redisDurability(connection), 'memory');
  await admin.call('ACL', 'SETUSER', 'default', '+@all');
  await set('appendonly', 'no');
  assert.is(await redisDurability(connection), 'memory');
  await set('appendonly', 'yes');
});

test.run();

function keep<T extends { close(): Promise<unknown> }>(one: T): T {
  open.unshift(one);
  return one;
}

function connect(url: string, options: Partial<RedisConnectionOptions> = {}): RedisConnection {
  return keep(connectRedis({ ...PATIENT, ...options, url }));
}

async function openStore(url = server.url): Promise<SnapshotStore> {
  return keep(await openRedisSnapshots({ connection: connect(url) }));
}

function openHastyStore(url = server.url): SnapshotStore {
  return keep(redisSnapshots({ connection: connect(url, HASTY) }));
}

async function works(store: { ping(): Promise<unknown> }): Promise<void> {
  await until('Redis to answer', () =>
    store.ping().then(
      () => true,
      () => false,
    ),
  );
}
