// One count for all instances, on a real Redis; and what happens to it while Redis is away.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { connectRedis, type RedisConnection } from '../../../lib/store/redis/connection.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { type Limiter, rateLimiter } from '../../../server/http/middleware/rate-limit.ts';
import { sharedRateLimiter } from '../../../server/http/middleware/shared-rate-limit.ts';
import { type FaultProxy, faultProxy, PASS } from '../../support/fault-proxy.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
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
  /** How often Redis was asked to count. */
  readonly counted: () => number;
  readonly clock: SimulatedClock;
}

const WINDOW_MS = 60_000;

/** A limiter as one instance has it, behind the proxy, on a clock that stands still: Redis may take as long as it needs. */
async function instance(max: number): Promise<Instance> {
  const redis = connectRedis({ url: `redis://127.0.0.1:${proxy.port}` });
  open.push(redis);
  await redis.ping();
  const [told, clock] = [[] as string[], new SimulatedClock()];
  const limits = { max, windowMs: WINDOW_MS, clock };
  let counted = 0;
  const run: RedisConnection['run'] = (what, work) => {
    counted++;
    return redis.run(what, work);
  };
  const ask: Limiter = sharedRateLimiter({
    ...limits,
    redis: { run, script: redis.script },
    local: rateLimiter(limits),
    onAway: () => told.push('away'),
    onBack: () => told.push('back'),
  });
  return { ask, told, redis, counted: () => counted, clock };
}

const passing = (waits: readonly number[]) => waits.filter((wait) => wait === 0).length;
/** Ends the window of a bucket in Redis and at these instances. */
async function endWindow(bucket: string, ...instances: readonly Instance[]): Promise<void> {
  await instances[0]!.redis.client.del(`twinline:rate:${bucket}`);
  for (const { clock } of instances) await clock.advance(WINDOW_MS);
}

test('two instances let exactly the limit pass together, whichever is asked', async () => {
  const [one, other] = [await instance(50), await instance(50)];
  const waits = await Promise.all(Array.from({ length: 120 }, (_, at) => (at % 2 ? one : other).ask('both')));
  assert.is(passing(waits), 50);
  assert.ok(waits.every((wait) => wait >= 0 && wait <= 60));
  assert.is(await one.ask('somebody else'), 0);
});

test('two servers on one Redis share the count of a client and that of a phone behind an exempt gateway', async () => {
  const PIN_ENCRYPTION_KEY = '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13';
  const env = {
    REDIS_URL: server.url,
    PIN_ENCRYPTION_KEY,
    RATE_LIMIT_MAX: '6',
    RATE_LIMIT_WINDOW_MS: '600000',
    RATE_LIMIT_EXEMPT: '203.0.113.7',
  };
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

test('a window ends in Redis, which keeps one number of it until then; who must wait is refused without asking again', async () => {
  const here = await instance(2);
  const waits = [];
  for (let at = 0; at < 20; at++) waits.push(await here.ask('flood'));
  assert.is(passing(waits), 2);
  const key = 'twinline:rate:flood';
  assert.equal([await here.redis.client.get(key), here.counted()], ['3', 3]);
  const leftMs = await here.redis.client.pttl(key);
  assert.ok(leftMs > 0 && leftMs <= WINDOW_MS, `${leftMs} ms`);
  await here.clock.advance(WINDOW_MS);
  await here.redis.client.pexpire(key, 1);
  await until('the end of the window', async () => !(await here.redis.client.exists(key)));
  assert.is(await here.ask('flood'), 0);
});

test('every window ends, also one that Redis lost while an instance knew it, or whose end was lost', async () => {
  const [here, other] = [await instance(5), await instance(5)];
  const key = 'twinline:rate:lost';
  const { client } = here.redis;
  assert.is(await here.ask('lost'), 0);
  await client.del(key);
  assert.is(await here.ask('lost'), 0);
  assert.equal([await client.get(key), (await client.pttl(key)) > 0], ['1', true]);
  await client.persist(key);
  assert.is(await other.ask('lost'), 0);
  assert.equal([await client.get(key), (await client.pttl(key)) > 0], ['2', true]);
});

test('a frozen Redis holds one request up for a moment, the others not at all; this instance counts meanwhile', async () => {
  const { ask, told, clock, counted } = await instance(3);
  await ask('warm');
  await proxy.set({ kind: 'freeze' });
  const asked = counted();
  const first = ask('x');
  await clock.advance(SERVER_LIMITS.sharedCountMs - 1);
  assert.equal(told, []);
  await clock.advance(1);
  assert.is(await first, 0);
  assert.is(passing(await Promise.all([ask('x'), ask('x'), ask('x'), ask('x')])), 2);
  assert.equal([told, counted() - asked], [['away'], 1]);
  // A second later one request asks Redis again, and the others do not wait for it.
  await clock.advance(1_000);
  const late = ask('y');
  assert.is(passing(await Promise.all([ask('y'), ask('y'), ask('y'), ask('y')])), 3);
  assert.is(counted() - asked, 2);
  await clock.advance(SERVER_LIMITS.sharedCountMs);
  assert.ok((await late) > 0);
});

for (const kind of ['refuse', 'reset'] as const)
  test(`${kind}: counted here, and in Redis again when it is back`, async () => {
    const { ask, told, clock } = await instance(2);
    await ask('warm');
    await proxy.set({ kind });
    const waits = Promise.all([ask(kind), ask(kind), ask(kind)]);
    // In case the connection takes what it is told, and waits for Redis with it.
    await clock.advance(SERVER_LIMITS.sharedCountMs);
    assert.is(passing(await waits), 2);
    await proxy.set(PASS);
    await until('Redis to count again', async () => {
      await clock.advance(1_000);
      await ask('probe');
      return told.length === 2;
    });
    assert.equal(told, ['away', 'back']);
    assert.is(await ask(kind), 0, 'the count in Redis is another one');
  });

test('a count whose answer was lost is not made again in Redis', async () => {
  const { ask, redis } = await instance(5);
  await ask('lossy');
  await proxy.set({ kind: 'lose-reply', to: /INCRBY/i, after: 'close' });
  assert.is(await ask('lossy'), 0);
  await proxy.set(PASS);
  await redis.close();
  const { redis: fresh } = await instance(5);
  assert.is(await fresh.client.get('twinline:rate:lossy'), '2');
});

test('of a large limit instances take lots: one question of Redis for many requests, and never more than the limit', async () => {
  const [one, other] = [await instance(20_000), await instance(20_000)];
  const waits: number[] = [];
  const asked = async (times: number) => {
    const all = Array.from({ length: times }, (_, at) => (at % 2 ? one : other).ask('many'));
    waits.push(...(await Promise.all(all)));
  };
  const inRedis = () => one.redis.client.get('twinline:rate:many');
  await asked(100);
  // Each took a lot of 20, a thousandth, for the first of its 50, and then one for the 30 that still waited.
  assert.is(await inRedis(), '100');
  await asked(20_000);
  assert.is(passing(waits), 20_000);
  assert.ok(waits.every((wait) => wait >= 0 && wait <= 60));
  // Each asked twice more, and one of them has been told that nothing is left.
  assert.is(await inRedis(), '20100');
  for (const { ask } of [one, other]) assert.ok((await ask('many')) > 0);
  // Now both know it, and refuse without a question.
  const counted = await inRedis();
  for (const { ask } of [one, other, one]) assert.ok((await ask('many')) > 0);
  assert.is(await inRedis(), counted);
});

test('a lot ends with its window, and passes while Redis is away', async () => {
  const here = await instance(5_000);
  const inRedis = () => here.redis.client.get('twinline:rate:lot');
  assert.equal([await here.ask('lot'), await inRedis()], [0, '5']);
  await endWindow('lot', here);
  assert.equal([await here.ask('lot'), await inRedis()], [0, '5'], 'counted in the new window');
  await proxy.set({ kind: 'freeze' });
  const asked = here.counted();
  assert.equal(await Promise.all(Array.from({ length: 4 }, () => here.ask('lot'))), [0, 0, 0, 0]);
  assert.equal([here.told, here.counted() - asked], [[], 0]);
});

test.run();
