// The circuit breaker and the bound on calls around a channel, on a simulated clock.

import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { type BreakerOptions, guardedChannel } from '../../lib/gateway/channel/breaker.ts';
import {
  CHANNEL_STATUS,
  type Channel,
  channelStatus,
  GRPC,
  type RpcAnswer,
  type Status,
} from '../../lib/gateway/channel/channel.ts';
import { http2Channel } from '../../lib/gateway/channel/http2-channel.ts';
import { testNode } from '../contract/grpc-node.ts';

const test = suite('breaker');
const CALL = { path: '/t.Node/Echo', request: Buffer.from('x') };
const AWAY = channelStatus(GRPC.unavailable, 'away');
const LATE = channelStatus(GRPC.deadlineExceeded, 'late');
const LEFT = channelStatus(GRPC.cancelled, 'left');
const fromNode = (code: number): Status => ({ code, message: '', from: 'node' });

/** A channel whose calls end when and how the test says. */
function puppet(options: BreakerOptions = {}) {
  const clock = new SimulatedClock();
  const calls: ((status: Status) => void)[] = [];
  const inner = {
    name: 'puppet',
    unary: () =>
      new Promise<RpcAnswer>((resolve) =>
        calls.push((status) => resolve({ status, bytes: Buffer.alloc(0), headers: [], trailers: [] })),
      ),
  } as Partial<Channel> as Channel;
  const channel = guardedChannel(inner, {
    clock,
    failures: 3,
    pauseMs: 100,
    pauseMaxMs: 400,
    deadlineMs: 50,
    ...options,
  });
  /** Makes a call that ends with `status`; gives the code that the caller got. */
  const ends = async (status: Status, deadlineMs?: number) => {
    const before = calls.length;
    const answer = channel.unary({ ...CALL, ...(deadlineMs && { deadlineMs }) });
    if (calls.length > before) calls.at(-1)!(status);
    return (await answer).status;
  };
  return { clock, channel, calls, ends };
}

test('failures in a row open it; while it is open nothing reaches the node', async () => {
  for (const failure of [AWAY, LATE, fromNode(14)]) {
    const { channel, calls, ends } = puppet();
    for (let at = 0; at < 3; at++) assert.is(await ends(failure), failure);
    assert.equal([channel.breaker().state, channel.breaker().retryMs], ['open', 100]);
    assert.equal([(await ends(fromNode(0))).code, calls.length], [GRPC.unavailable, 3]);
    assert.is(channel.breaker().refused.open, 1);
  }
});

test('answers for which this side has no room say that the node is there', async () => {
  const { channel, ends } = puppet();
  for (let at = 0; at < 10; at++) assert.is(await ends(CHANNEL_STATUS.crowded), CHANNEL_STATUS.crowded);
  assert.is(channel.breaker().state, 'closed');
});

test('any answer of the node between failures starts the count anew, a call given up does not', async () => {
  const { channel, ends } = puppet();
  for (const status of [AWAY, AWAY, fromNode(5), AWAY, AWAY]) await ends(status);
  assert.is(channel.breaker().state, 'closed');
  await ends(LEFT);
  await ends(AWAY);
  assert.is(channel.breaker().state, 'open');
});

test('a deadline shorter than usual that passes says nothing: callers cannot open it', async () => {
  const { channel, ends } = puppet();
  for (let at = 0; at < 10; at++) await ends(LATE, 1);
  assert.is(channel.breaker().state, 'closed');
});

test('after the pause one call is tried, the others wait for what becomes of it', async () => {
  const { clock, channel, calls, ends } = puppet();
  for (let at = 0; at < 3; at++) await ends(AWAY);
  await clock.advance(100);
  assert.is(channel.breaker().state, 'half-open');
  const trial = channel.unary(CALL);
  assert.equal([(await channel.unary(CALL)).status.code, calls.length], [GRPC.unavailable, 4]);
  calls.at(-1)!(fromNode(3));
  await trial;
  assert.is(channel.breaker().state, 'closed');
});

test('a failed trial doubles the pause up to its bound; a trial given up leaves the next one free', async () => {
  const { clock, channel, ends } = puppet();
  for (let at = 0; at < 3; at++) await ends(AWAY);
  for (const pause of [200, 400, 400]) {
    await clock.advance(channel.breaker().retryMs);
    await ends(AWAY);
    assert.is(channel.breaker().retryMs, pause);
  }
  await clock.advance(400);
  await ends(LEFT);
  assert.is(channel.breaker().state, 'half-open');
  await ends(fromNode(0));
  assert.is(channel.breaker().state, 'closed');
});

test('calls from before it opened, that come back later, change nothing', async () => {
  const { channel, calls, ends } = puppet();
  const early = [channel.unary(CALL), channel.unary(CALL)];
  for (let at = 0; at < 3; at++) await ends(AWAY);
  calls[0]!(fromNode(0));
  calls[1]!(AWAY);
  await Promise.all(early);
  assert.equal([channel.breaker().state, channel.breaker().retryMs], ['open', 100]);
});

test('more calls than its bound fail at once and do not count as failures', async () => {
  const { channel, calls } = puppet({ atOnce: 2 });
  const running = [channel.unary(CALL), channel.unary(CALL)];
  for (let at = 0; at < 5; at++) assert.is((await channel.unary(CALL)).status.code, GRPC.unavailable);
  assert.equal([channel.breaker().running, channel.breaker().state, calls.length], [2, 'closed', 2]);
  for (const end of calls) end(fromNode(0));
  await Promise.all(running);
  assert.is(channel.breaker().running, 0);
});

test('whatever happens, never more than one trial and never more calls than the bound', async () => {
  const step = fc.oneof(
    fc.constant('begin' as const),
    fc.record({ end: fc.nat(20), how: fc.constantFrom(AWAY, LATE, LEFT, fromNode(0), fromNode(5)) }),
    fc.record({ wait: fc.nat(300) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { clock, channel, calls } = puppet({ atOnce: 4 });
      const open = new Set<number>();
      for (const one of steps) {
        if (one === 'begin') {
          const [before, trials] = [channel.breaker(), calls.length];
          void channel.unary(CALL);
          if (calls.length > trials) open.add(trials);
          if (before.state === 'open') assert.is(calls.length, trials);
        } else if ('end' in one) {
          const at = [...open][one.end % Math.max(open.size, 1)];
          if (at !== undefined) calls[at]!(one.how);
          open.delete(at!);
          await new Promise(setImmediate);
        } else await clock.advance(one.wait);
        assert.is(channel.breaker().running, open.size);
        assert.ok(open.size <= 4);
      }
    }),
    { numRuns: 100 },
  );
});

test('streams count too, and a refused one is over at once', async () => {
  const node = await testNode();
  const inner = http2Channel({ upstream: `127.0.0.1:${node.port}` });
  const channel = guardedChannel(inner, { atOnce: 1 });
  const stream = channel.stream({ path: '/t.Node/Count', requests: [Buffer.from('1,4')] });
  const refused = channel.stream({ path: '/t.Node/Count', requests: [Buffer.from('1,4')] });
  for await (const _ of refused.messages) assert.unreachable();
  assert.is((await refused.end).status.code, GRPC.unavailable);
  for await (const _ of stream.messages);
  await stream.end;
  assert.equal([channel.breaker().running, channel.name, channel.health().state], [0, inner.name, 'ready']);
  await channel.close();
  await node.stop();
});

test('a clock that is set back or on leaves the pause as long as it is', async () => {
  for (const ms of [-7_200_000, 10 * 365 * 24 * 3_600_000]) {
    const { clock, channel, ends } = puppet();
    for (let n = 0; n < 3; n++) await ends(AWAY);
    clock.jump(ms);
    assert.equal([channel.breaker().state, channel.breaker().retryMs], ['open', 100]);
    await clock.advance(100);
    assert.is(channel.breaker().state, 'half-open');
  }
});

test.run();
