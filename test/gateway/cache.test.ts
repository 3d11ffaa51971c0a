// The cache of answers and the sharing of calls, on a simulated clock and with a real node behind them.

import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { type CacheKey, type CacheOptions, entityTag, openCache } from '../../lib/gateway/channel/cache.ts';
import type { StopSignal } from '../../lib/gateway/channel/channel.ts';
import { http2Channel } from '../../lib/gateway/channel/http2-channel.ts';
import { GATEWAY_LIMITS } from '../../lib/gateway/limits.ts';
import { testNode } from '../contract/grpc-node.ts';

interface Reply {
  readonly body: string;
  readonly height?: string;
  readonly isError?: boolean;
}

const test = suite('cache');
const LONG_MS = 600_000;
const WAIT = { deadlineMs: LONG_MS };
const key = (name: string, more: Partial<CacheKey> = {}): CacheKey => ({
  path: '/t.Node/Echo',
  request: Buffer.from(name),
  ...more,
});

function cacheFor(options: Partial<CacheOptions<Reply>> = {}) {
  const clock = new SimulatedClock();
  const cache = openCache<Reply>({
    ttlMs: 1_000,
    maxBytes: 100_000,
    countBytes: ({ body }) => body.length,
    isKept: ({ isError }) => !isError,
    readHeight: ({ height }) => height,
    clock,
    ...options,
  });
  let loads = 0;
  /** Asks; the node would answer `reply`. Gives where the answer came from, and its body. */
  const ask = async (what: CacheKey, reply: Reply) => {
    const result = await cache.answer(what, WAIT, async () => {
      loads++;
      return reply;
    });
    return result.kind === 'answer' ? `${result.from} ${result.answer.body}` : result.kind;
  };
  return { clock, cache, ask, loads: () => loads };
}

test('an answer is kept for its time, to the millisecond', async () => {
  const { clock, ask } = cacheFor();
  assert.is(await ask(key('a'), { body: '1' }), 'node 1');
  await clock.advance(999);
  assert.is(await ask(key('a'), { body: '2' }), 'cache 1');
  await clock.advance(2);
  assert.is(await ask(key('a'), { body: '3' }), 'node 3');
});

test('a new height in any answer makes answers of the latest height untrue, not those of a given one', async () => {
  const { ask } = cacheFor();
  await ask(key('a'), { body: 'a9', height: '9' });
  await ask(key('a', { height: '5' }), { body: 'a5', height: '5' });
  assert.is(await ask(key('a'), { body: 'new', height: '9' }), 'cache a9');
  await ask(key('b'), { body: 'b10', height: '10' });
  assert.is(await ask(key('a'), { body: 'a10', height: '10' }), 'node a10');
  assert.is(await ask(key('a', { height: '5' }), { body: 'never', height: '5' }), 'cache a5');
});

test('answers of a given height outlive the time of the latest ones', async () => {
  const { clock, ask } = cacheFor();
  await ask(key('a', { height: '5' }), { body: 'a5', height: '5' });
  await clock.advance(GATEWAY_LIMITS.cacheHeightMs - 1);
  assert.is(await ask(key('a', { height: '5' }), { body: 'never' }), 'cache a5');
});

test('an answer that was overtaken on its way is given, not kept; heights that fall for long are a new chain', async () => {
  const { clock, ask } = cacheFor();
  await ask(key('b'), { body: 'b10', height: '10' });
  assert.is(await ask(key('a'), { body: 'a9', height: '9' }), 'node a9');
  assert.is(await ask(key('a'), { body: 'a10', height: '10' }), 'node a10');
  await clock.advance(GATEWAY_LIMITS.cacheForgetMs);
  assert.is(await ask(key('a'), { body: 'a1', height: '1' }), 'node a1');
  assert.is(await ask(key('a'), { body: 'never', height: '1' }), 'cache a1');
});

test('errors are never kept, and their height moves nothing', async () => {
  const { ask } = cacheFor();
  await ask(key('a'), { body: 'a9', height: '9' });
  assert.is(await ask(key('e'), { body: 'wrong', isError: true, height: '999' }), 'node wrong');
  assert.is(await ask(key('e'), { body: 'right', height: '9' }), 'node right');
  assert.is(await ask(key('a'), { body: 'never' }), 'cache a9');
});

test('a malformed height is no height', async () => {
  const { ask, cache } = cacheFor();
  for (const height of ['', '-1', '1e9', '9'.repeat(30), 'x']) await ask(key(`h${height}`), { body: 'x', height });
  assert.is(cache.stats().height, 0);
});

test('what is kept never exceeds its bytes, the least recently used goes first, too large is not kept', async () => {
  const { ask, cache } = cacheFor({ maxBytes: 10_000 });
  for (let at = 0; at < 50; at++) {
    await ask(key(`k${at}`), { body: 'x'.repeat(700) });
    await ask(key('k0'), { body: 'x'.repeat(700) });
    assert.ok(cache.stats().bytes <= 10_000);
  }
  assert.match(await ask(key('k0'), { body: '' }), /^cache/);
  assert.match(await ask(key('k1'), { body: '' }), /^node/);
  await ask(key('large'), { body: 'x'.repeat(20_000) });
  assert.match(await ask(key('large'), { body: '' }), /^node/);
});

test('calls that differ in anything that goes to the node never share an answer', async () => {
  const bytes = fc.uint8Array({ maxLength: 6 });
  const keys = fc.record({
    path: fc.constantFrom('/a/B', '/a/C'),
    request: fc.oneof(
      bytes,
      bytes.map((few) => Buffer.concat([few, Buffer.alloc(600)])),
    ),
    height: fc.constantFrom('', '1', '12', '"', '\u0001'),
    forwarded: fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom('', '1', '"],["b","1')), { maxLength: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(keys, keys, async (one, other) => {
      const { ask } = cacheFor();
      await ask(one, { body: '1' });
      const isSame = JSON.stringify([one, [...one.request]]) === JSON.stringify([other, [...other.request]]);
      assert.is((await ask(other, { body: '2' })).startsWith('cache'), isSame);
    }),
    { numRuns: 300 },
  );
});

test('equal calls at the same time are one call; after it ended, the next is another', async () => {
  const node = await testNode();
  const channel = http2Channel({ upstream: `127.0.0.1:${node.port}`, deadlineMs: LONG_MS });
  const { cache } = cacheFor({ ttlMs: 0 });
  const ask = (name: string) =>
    cache.answer(key(name), WAIT, async (signal) => {
      const { bytes } = await channel.unary({ path: '/t.Node/Slow', request: Buffer.from(name), signal });
      return { body: bytes.toString() };
    });
  const results = await Promise.all(Array.from({ length: 100 }, (_, at) => ask(at % 2 ? 'odd' : 'even')));
  assert.is(node.seen.begun, 2);
  assert.equal(
    results.map((result) => result.kind === 'answer' && result.answer.body),
    results.map((_, at) => (at % 2 ? 'odd' : 'even')),
  );
  assert.is(cache.stats().shared, 98);
  await ask('odd');
  assert.is(node.seen.begun, 3);
  await channel.close();
  await node.stop();
});

test('each caller has his own deadline and may leave; the last one to leave cancels the call at the node', async () => {
  const node = await testNode();
  const channel = http2Channel({ upstream: `127.0.0.1:${node.port}`, deadlineMs: LONG_MS });
  const { cache } = cacheFor();
  const ask = (waiting: { deadlineMs: number; signal?: AbortSignal }) =>
    cache.answer(key('a'), waiting, async (signal) => {
      const { status } = await channel.unary({ path: '/t.Node/Hang', request: Buffer.alloc(0), signal });
      return { body: '', isError: status.code !== 0 };
    });
  const [stopOne, stopLast] = [new AbortController(), new AbortController()];
  const one = ask({ deadlineMs: LONG_MS, signal: stopOne.signal });
  const short = ask({ deadlineMs: 30 });
  const last = ask({ deadlineMs: LONG_MS, signal: stopLast.signal });
  await node.until(({ begun }) => begun === 1);
  stopOne.abort();
  assert.equal([(await one).kind, (await short).kind, node.seen.cancelled], ['left', 'late', 0]);
  stopLast.abort();
  assert.is((await last).kind, 'left');
  await node.until(({ cancelled }) => cancelled === 1);
  const gone = await ask({ deadlineMs: LONG_MS, signal: AbortSignal.abort() });
  assert.equal([gone.kind, node.seen.begun], ['left', 1]);
  await channel.close();
  await node.stop();
});

test('who asks after the last one left does not get the cancelled call', async () => {
  const { cache } = cacheFor();
  const stop = new AbortController();
  const never = cache.answer(key('a'), { ...WAIT, signal: stop.signal }, (signal) => aborted(signal, 'cancelled'));
  stop.abort();
  const fresh = cache.answer(key('a'), WAIT, async () => ({ body: 'fresh' }));
  assert.is((await never).kind, 'left');
  const result = await fresh;
  assert.is(result.kind === 'answer' && result.answer.body, 'fresh');
});

test('who asks after a new height was seen does not join a call that began before it', async () => {
  const { cache, ask } = cacheFor();
  let end = (_reply: Reply) => {};
  const early = cache.answer(key('a'), WAIT, () => new Promise<Reply>((resolve) => (end = resolve)));
  await ask(key('b'), { body: 'b10', height: '10' });
  assert.is(await ask(key('a'), { body: 'a10', height: '10' }), 'node a10');
  end({ body: 'a9', height: '9' });
  await early;
  assert.is(await ask(key('a'), { body: 'never' }), 'cache a10');
});

test('what the call throws reaches every caller, and nothing stays behind', async () => {
  const { cache, ask } = cacheFor();
  const fail = () =>
    cache.answer(key('a'), WAIT, async () => {
      throw new Error('broke');
    });
  const results = await Promise.allSettled([fail(), fail()]);
  assert.equal(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.is(await ask(key('a'), { body: '1' }), 'node 1');
});

test('an entity tag is one of its bytes', () => {
  assert.match(entityTag(Buffer.from('a')), /^"[\w-]{22}"$/);
  assert.is(entityTag(Buffer.from('a')), entityTag(new Uint8Array([97])));
  assert.is.not(entityTag(Buffer.from('a')), entityTag(Buffer.from('b')));
});

function aborted(signal: StopSignal, body: string): Promise<Reply> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ body, isError: true })));
}

test.run();
