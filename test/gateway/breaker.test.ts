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

/** What an end says of the node, by the words of the contract. */
const VERDICTS = [
  [AWAY, 'failed'],
  [LATE, 'failed'],
  [fromNode(14), 'failed'],
  [fromNode(0), 'reached'],
  [fromNode(5), 'reached'],
  [CHANNEL_STATUS.crowded, 'reached'],
  [LEFT, 'unknown'],
] as const;

test('whatever happens, it is as a model of its states: failures in a row, pauses that double, one trial, a bound of calls', async () => {
  const step = fc.oneof(
    fc.constantFrom('begin' as const, 'haste' as const),
    fc.record({ end: fc.nat(20), how: fc.constantFrom(...VERDICTS) }),
    fc.record({ wait: fc.nat(400) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80, size: 'max' }), async (steps) => {
      const { clock, channel, calls } = puppet({ atOnce: 4, pauseMaxMs: 250 });
      const model = { inARow: 0, openings: 0, openUntil: 0, trial: -1 };
      const running = new Map<number, { readonly isHasty: boolean }>();
      const isOpen = () => clock.monotonic() < model.openUntil;
      const state = () => (!model.openings ? 'closed' : isOpen() ? 'open' : 'half-open');
      for (const one of steps) {
        if (one === 'begin' || one === 'haste') {
          const isTaken = (state() === 'closed' || (state() === 'half-open' && model.trial < 0)) && running.size < 4;
          const nth = calls.length;
          // A deadline shorter than usual that passes says nothing.
          const call = channel.unary({ ...CALL, ...(one === 'haste' && { deadlineMs: 1 }) });
          assert.is(calls.length - nth, isTaken ? 1 : 0);
          if (!isTaken) assert.is((await call).status.code, GRPC.unavailable);
          else if (state() === 'half-open') model.trial = nth;
          if (isTaken) running.set(nth, { isHasty: one === 'haste' });
        } else if ('end' in one && running.size) {
          const [nth, { isHasty }] = [...running][one.end % running.size]!;
          const [status, verdict] = one.how;
          running.delete(nth);
          calls[nth]!(status);
          await new Promise(setImmediate);
          const isTrial = nth === model.trial;
          if (isTrial) model.trial = -1;
          // Calls from before it opened that come back later change nothing.
          if (model.openings && !isTrial) continue;
          if (verdict === 'reached') Object.assign(model, { inARow: 0, openings: 0 });
          const isFailed = verdict === 'failed' && !(status === LATE && isHasty);
          if (isFailed && (++model.inARow >= 3 || isTrial))
            model.openUntil = clock.monotonic() + Math.min(250, 100 * 2 ** model.openings++);
        } else if ('wait' in one) await clock.advance(one.wait);
        const { retryMs, ...seen } = channel.breaker();
        assert.equal([seen.state, seen.running], [state(), running.size]);
        assert.is(retryMs, state() === 'open' ? model.openUntil - clock.monotonic() : 0);
      }
    }),
    { numRuns: 300 },
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
