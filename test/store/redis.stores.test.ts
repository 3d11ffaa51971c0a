// The Redis store keeps the contract of all session stores, on one server and on a cluster, and leaves nothing behind.

import { Redis } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { STORE_LIMITS } from '../../lib/store/limits.ts';
import { connectRedis, openRedisSnapshots, redisSnapshots } from '../../lib/store/redis/index.ts';
import { placesUnder } from '../../lib/store/redis/layout.ts';
import { redisTransfer } from '../../lib/store/redis/transfer.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import type { Where } from '../../lib/testing/bench.ts';
import { committed, MINUTE, refuses, session } from '../../lib/testing/sessions/bench.ts';
import { noCountIsLost } from '../contract/snapshot-processes.ts';
import { snapshotStoreContract } from '../contract/stores.ts';
import { sessionTransferContract } from '../contract/transfers.ts';
import { startRedis, startRedisCluster } from '../support/redis-server.ts';

const server = await startRedis({ args: ['--appendonly', 'yes'] });
const cluster = await startRedisCluster({ args: ['--appendonly', 'yes'] });

const openAt =
  (url: string) =>
  ({ folder, clock }: Where) =>
    openRedisSnapshots({ url, prefix: `${folder.slice(-6)}:`, clock });

snapshotStoreContract('redis', openAt(server.url));
snapshotStoreContract('redis cluster', openAt(cluster.url));

for (const [name, { url }] of Object.entries({ redis: server, 'redis cluster': cluster }))
  sessionTransferContract(name, ({ folder, clock }) => {
    const connection = connectRedis({ url });
    const at = { connection, prefix: `${folder.slice(-6)}:`, clock };
    const transfer = redisTransfer(at);
    return { store: redisSnapshots({ ...at, claimMs: 0 }), transfer: { ...transfer, close: connection.close } };
  });

const PLACES = ['twinline:{dp}s:', 'twinline:{ap}s:', 'twinline:{rg}s:'];

const test = suite('Redis');
const clock = { now: Date.now };
let admin: Redis;
let opened: SnapshotStore[] = [];

test.before.each(async () => {
  opened = [];
  admin = new Redis(server.url);
  await admin.flushall();
});
test.after.each(async () => {
  for (const store of opened) await store.close();
  await admin.quit();
});
test.after(async () => {
  await server.stop();
  await cluster.stop();
});

for (const [name, { url }] of Object.entries({ server, cluster }))
  test(`two processes that count up the same keys lose no count (${name})`, () => noCountIsLost(url, open({ url })));

test('where a session lies never changes', () => {
  const { of } = placesUnder('twinline:');
  const places = ['a', 'ussd:+260971234567:ATUid_1', '😀'].map((key) => of(key).sessions);
  assert.equal(places, PLACES);
});

test('no key is left of sessions that are gone', async () => {
  const simulated = new SimulatedClock();
  const store = open({ clock: simulated, claimMs: 0 });
  for (let at = 0; at < 20; at++) {
    const next = session(simulated, { dueAt: simulated.now(), expiresAt: simulated.now() + 30 });
    await store.commit(`k${at}`, 0, next);
    await store.commit(`k${at}`, 1, { ...next, dueAt: simulated.now() + 1, ended: at % 2 === 0 });
    await store.commit(`k${at}`, 2, { ...next, dueAt: null, expiresAt: simulated.now() + (at < 10 ? 50 : 10) });
  }
  await store.remove('k0');
  await simulated.advance(10);
  assert.is(await store.sweep(simulated.now(), 100), 10);
  await simulated.advance(40);
  assert.is(await store.sweep(simulated.now(), 100), 9);
  assert.equal(await admin.keys('*'), []);
});

test('Redis forgets a session by itself, but long after its end by the store’s clock', async () => {
  const simulated = new SimulatedClock();
  const store = open({ clock: simulated });
  await store.commit('k', 0, session(simulated));
  await simulated.advance(MINUTE / 2);
  await store.commit('k', 1, session(simulated));
  const ttl = await admin.pttl((await admin.keys('*s:k'))[0]!);
  assert.ok(
    ttl > MINUTE + STORE_LIMITS.redisGraceMs - 10_000 && ttl <= MINUTE + STORE_LIMITS.redisGraceMs,
    `${ttl} ms`,
  );
});

test('what Redis forgot is swept from the indexes, and is never listed or due', async () => {
  const store = open({});
  await store.commit('k', 0, session(clock, { dueAt: 1 }));
  await admin.del((await admin.keys('*s:k'))[0]!);
  assert.equal(await store.list(), { keys: [] });
  assert.equal(await store.due(clock.now(), 10), []);
  assert.is(await store.sweep(clock.now() + MINUTE, 10), 1);
  assert.equal(await admin.keys('*'), []);
});

test('what is due is given to one instance, and to another soon after that one has died', async () => {
  const [one, other] = [open({ claimMs: MINUTE }), open({ claimMs: MINUTE })];
  for (let at = 0; at < 30; at++) await one.commit(`k${at}`, 0, session(clock, { dueAt: at }));
  const all = Array.from({ length: 30 }, (_, at) => `k${at}`);
  const [ones, others] = await Promise.all([one.due(clock.now(), 100), other.due(clock.now(), 100)]);
  assert.equal([...ones, ...others].sort(), all.toSorted());
  assert.equal(await one.due(clock.now(), 100), ones);
  await one.close();
  assert.equal(await other.due(clock.now(), 100), others, 'not while the claim lasts');
  // What Redis does when a claim has run out.
  const claims = await admin.keys('*claim*');
  assert.ok(claims.length > 0);
  await admin.del(...claims);
  assert.equal(await other.due(clock.now(), 100), all);
});

test('the earliest come first from many full buckets', async () => {
  const store = open({});
  const all = Array.from({ length: 600 }, (_, at) => ({ key: `k${at}`, dueAt: ((at * 7_919) % 600) + 1 }));
  await Promise.all(all.map(({ key, dueAt }) => store.commit(key, 0, session(clock, { dueAt }))));
  const sorted = all.toSorted((a, b) => a.dueAt - b.dueAt).map(({ key }) => key);
  for (const limit of [1, 7, 64, 300, 600, 1000])
    assert.equal(await store.due(clock.now(), limit), sorted.slice(0, limit));
});

test('scripts are sent again after Redis has forgotten them', async () => {
  const store = open({});
  for (let revision = 0; revision < 4; revision++) {
    await admin.script('FLUSH');
    assert.equal(await store.commit('k', revision, session(clock)), committed(revision + 1));
  }
  await admin.script('FLUSH');
  assert.equal(await store.list(), { keys: ['k'] });
});

test('prefixes keep stores apart, and a malformed one is refused', async () => {
  const [one, other] = [open({ prefix: 'a:' }), open({ prefix: 'b:' })];
  await one.commit('k', 0, session(clock));
  assert.is(await other.load('k'), undefined);
  assert.equal(await other.list(), { keys: [] });
  await refuses('ERR_CONFIG', () => redisSnapshots({ url: server.url, prefix: 'a{b}' }));
});

test.run();

function open(options: { url?: string; prefix?: string; clock?: SimulatedClock; claimMs?: number }): SnapshotStore {
  opened.push(redisSnapshots({ url: server.url, ...options }));
  return opened.at(-1)!;
}
