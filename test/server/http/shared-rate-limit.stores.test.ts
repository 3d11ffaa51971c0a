// One count for all instances, on a real Redis; and what happens to it while Redis is away.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../lib/clock.ts';
import { connectRedis, type RedisConnection } from '../../../lib/store/redis/connection.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { type Limiter, rateLimiter } from '../../../server/http/middleware/rate-limit.ts';
import { sharedRateLimiter } from '../../../server/http/middleware/shared-rate-limit.ts';
import { type FaultProxy, faultProxy, PASS } from '../../support/fault-proxy.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { timed } from '../../support/timed.ts';
import { DIAL, json, withServer } from '../support/serve.ts';

const test = suite('shared rate limit');

let server: RedisServer;
let proxy: FaultProxy;
const open: RedisConnection[] = [];

test.before(async () => {
  server = await startRedis();
  proxy = await faultProxy(server);
});

test.after.each(async () => {
  await proxy.set(PASS);
  await Promise.all(open.splice(0).map((redis) => redis.close()));
});

test.after(async () => {
  await proxy?.close();
  await server?.stop();
});

interface Instance {
  readonly ask: (bucket: string) => Promise<number>;
  readonly told: string[];
  readonly redis: RedisConnection;
}

/** A limiter as one instance has it, behind the proxy. */
async function instance(
  max: number,
  { windowMs = 60_000, patienceMs = SERVER_LIMITS.sharedCountMs as number } = {},
): Promise<Instance> {
  const redis = connectRedis({ url: `redis://127.0.0.1:${proxy.port}` });
  open.push(redis);
  await redis.ping();
  const told: string[] = [];
  const limits = { max, windowMs, clock: systemClock };
  const limiter: Limiter = sharedRateLimiter({
    ...limits,
    patienceMs,
    redis,
    local: rateLimiter(limits),
    onAway: () => told.push('away'),
    onBack: () => told.push('back'),
  });
  return { ask: (bucket) => limiter(bucket), told, redis };
}

test('two instances let exactly the limit pass together, whichever is asked', async () => {
  // Whatever this machine does besides.
  const patient = { patienceMs: 20_000 };
  const [one, other] = [await instance(50, patient), await instance(50, patient)];
  const waits = await Promise.all(Array.from({ length: 120 }, (_, at) => (at % 2 ? one : other).ask('both')));
  assert.is(waits.filter((wait) => wait === 0).length, 50);
  assert.ok(waits.every((wait) => wait >= 0 && wait <= 60));
  assert.is(await one.ask('somebody else'), 0);
});

test('two servers on one Redis share the count of a client and that of a phone behind an exempt gateway', async () => {
  const PIN_ENCRYPTION_KEY = '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13';
  const env = { REDIS_URL: server.url, PIN_ENCRYPTION_KEY, RATE_LIMIT_MAX: '6', RATE_LIMIT_EXEMPT: '203.0.113.7' };
  const trust = { TRUST_PROXY_ENABLED: 'true', TRUST_PROXY_CIDRS: '127.0.0.1' };
  const from = (address: string) => ({ 'x-forwarded-for': address });
  await withServer({ env: { ...env, ...trust } }, (one) =>
    withServer({ env: { ...env, ...trust } }, async (other) => {
      const both = [one, other, one, other, one, other, one, other] as const;
      const statuses = [];
      for (const each of both) statuses.push((await each.ask('/', { headers: from('198.51.100.1') })).status);
      assert.equal(statuses, [200, 200, 200, 200, 200, 200, 429, 429]);
      const dials = [];
      for (const [at, each] of both.entries())
        dials.push((await each.ask('/api/ussd', json({ ...DIAL, sessionId: `d${at}` }, from('203.0.113.7')))).status);
      assert.equal(dials, [200, 200, 200, 200, 200, 200, 429, 429]);
      // IPv6 by /64, over both.
      const six = [];
      for (const [at, each] of both.entries())
        six.push((await each.ask('/', { headers: from(`2001:db8:7:1::${at}`) })).status);
      assert.equal(six, [200, 200, 200, 200, 200, 200, 429, 429]);
    }),
  );
});

test('a window ends by the clock of Redis, and nothing is kept of it', async () => {
  const { ask, redis } = await instance(1, { windowMs: 200, patienceMs: 20_000 });
  assert.is(await ask('short'), 0);
  assert.is(await ask('short'), 1);
  await new Promise((resolve) => setTimeout(resolve, 230));
  assert.is(await ask('short'), 0);
  assert.is(await redis.client.strlen('twinline:rate:short'), 1, 'one number, whatever the limit');
  await new Promise((resolve) => setTimeout(resolve, 230));
  assert.is(await redis.client.exists('twinline:rate:short'), 0);
});

test('whoever must wait is refused without asking Redis again', async () => {
  const { ask, redis } = await instance(2, { patienceMs: 20_000 });
  for (let at = 0; at < 20; at++) await ask('flood');
  assert.is(await redis.client.get('twinline:rate:flood'), '3');
});

test('a frozen Redis holds one request up for a moment, the others not at all; this instance counts meanwhile', async () => {
  const { ask, told } = await instance(3);
  await ask('warm');
  await proxy.set({ kind: 'freeze' });
  const first = await timed(() => ask('x'));
  assert.is(first.result, 0);
  assert.ok(first.clockMs >= SERVER_LIMITS.sharedCountMs - 5 && first.ms < 250, `${first.clockMs} ms`);
  const { result: rest, ms } = await timed(() => Promise.all([ask('x'), ask('x'), ask('x'), ask('x')]));
  assert.ok(ms < 50, `${ms} ms`);
  assert.is(rest.filter((wait) => wait === 0).length, 2);
  assert.equal(told, ['away']);
  // A second later one request asks Redis again, and only that one waits for it.
  await new Promise((resolve) => setTimeout(resolve, 1_050));
  const late = await Promise.all(Array.from({ length: 8 }, () => timed(() => ask('y'))));
  assert.is(late.filter(({ clockMs }) => clockMs >= SERVER_LIMITS.sharedCountMs - 5).length, 1);
});

for (const kind of ['refuse', 'reset'] as const)
  test(`${kind}: counted here at once, and in Redis again within two seconds of its return`, async () => {
    const { ask, told } = await instance(2);
    await ask('warm');
    await proxy.set({ kind });
    const { result: waits, ms } = await timed(() => Promise.all([ask(kind), ask(kind), ask(kind)]));
    assert.ok(ms < 250, `${ms} ms`);
    assert.is(waits.filter((wait) => wait === 0).length, 2);
    await proxy.set(PASS);
    for (const end = performance.now() + 2_500; told.length < 2 && performance.now() < end; )
      await Promise.all([ask('probe'), new Promise((resolve) => setTimeout(resolve, 50))]);
    assert.equal(told, ['away', 'back']);
    assert.is(await ask(kind), 0, 'the count in Redis is another one');
  });

test('a count whose answer was lost is not made again in Redis', async () => {
  const { ask, redis } = await instance(5);
  await ask('lossy');
  await proxy.set({ kind: 'lose-reply', to: /EVALSHA/i, after: 'close' });
  assert.is(await ask('lossy'), 0);
  await proxy.set(PASS);
  await redis.close();
  const { redis: fresh } = await instance(5);
  assert.is(await fresh.client.get('twinline:rate:lossy'), '2');
});

test('of a large limit instances take lots: one question of Redis for many requests, and never more than the limit', async () => {
  const patient = { patienceMs: 20_000 };
  const [one, other] = [await instance(20_000, patient), await instance(20_000, patient)];
  const waits: number[] = [];
  const asked = async (times: number) => {
    const all = Array.from({ length: times }, (_, at) => (at % 2 ? one : other).ask('many'));
    waits.push(...(await Promise.all(all)));
  };
  await asked(100);
  // Each took a lot of 20, a thousandth, for the first of its 50, and then one for the 30 that still waited.
  assert.is(await one.redis.client.get('twinline:rate:many'), '100');
  await asked(20_000);
  assert.is(waits.filter((wait) => wait === 0).length, 20_000);
  assert.ok(waits.every((wait) => wait >= 0 && wait <= 60));
  // Each asked twice more, and one of them has been told that nothing is left.
  assert.is(await one.redis.client.get('twinline:rate:many'), '20100');
  for (const { ask } of [one, other]) assert.ok((await ask('many')) > 0);
  // Now both know it, and refuse without a question.
  const counted = await one.redis.client.get('twinline:rate:many');
  for (const { ask } of [one, other, one]) assert.ok((await ask('many')) > 0);
  assert.is(await one.redis.client.get('twinline:rate:many'), counted);
});

test('a lot ends with its window', async () => {
  const { ask, redis } = await instance(2_000, { windowMs: 300, patienceMs: 20_000 });
  assert.is(await ask('lot'), 0);
  assert.is(await redis.client.get('twinline:rate:lot'), '2');
  await new Promise((resolve) => setTimeout(resolve, 330));
  assert.is(await ask('lot'), 0);
  assert.is(await redis.client.get('twinline:rate:lot'), '2', 'counted in the new window');
});

test('an instance that holds a lot lets it pass while Redis is away', async () => {
  const { ask, told } = await instance(5_000, { patienceMs: 20_000 });
  await ask('held');
  await proxy.set({ kind: 'freeze' });
  const { result: waits, ms } = await timed(() => Promise.all(Array.from({ length: 4 }, () => ask('held'))));
  assert.equal(waits, [0, 0, 0, 0]);
  assert.ok(ms < 50, `${ms} ms`);
  assert.equal(told, []);
});

test.run();
