// What a node may send that is no answer, counted in frames until it is cut off; and how it waits for slow readers.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Stop } from '../../lib/gateway/channel/channel.ts';
import { Sender } from '../../lib/gateway/http2/flow-control.ts';
import type { FrameWriter } from '../../lib/gateway/http2/frames.ts';
import { ERROR, FLAG, FRAME, SETTING } from '../../lib/gateway/http2/protocol.ts';
import { Stream, type StreamHandler, StreamTable } from '../../lib/gateway/http2/stream-table.ts';
import { GATEWAY_LIMITS } from '../../lib/gateway/limits.ts';
import {
  against,
  answer,
  blockOf,
  CALL,
  data,
  END,
  end,
  GREETING,
  goaway,
  head,
  heard,
  messageOf,
  type Peer,
  rawFrame,
  repeated,
  type Script,
  settings,
} from './raw-node.ts';

const test = suite('http2 floods');
// What is counted is forgiven after a while, so each flood is several times as long as is allowed at once.
const MANY = 100_000;
const changing = (count: number) =>
  repeated(Buffer.concat([settings([SETTING.window, 70_000]), settings([SETTING.window, 80_000])]), count / 2);
const answered = ({ frames }: Peer) =>
  frames.filter(({ type, flags }) => type === FRAME.settings && flags === FLAG.ack).length;
const isGoaway = ({ type }: { type: number }) => type === FRAME.goaway;

/** What a node sends, frames of it; whether it takes no request meanwhile. */
const FLOODS: {
  readonly [name: string]: { readonly frames: (id: number) => Buffer; readonly isBlocked?: boolean };
} = {
  'changes of the first window': { frames: () => changing(10_000) },
  'DATA with nothing but padding': {
    frames: (id) => Buffer.concat([head(id), repeated(rawFrame(FRAME.data, FLAG.padded, id, '00'), MANY)]),
  },
  'headers before the answer, again and again': {
    frames: (id) => repeated(head(id, 4, blockOf(':status', '103')), MANY),
  },
  'last words that are none': { frames: () => repeated(goaway(2 ** 31 - 1), 20_000) },
  'PING while the node takes no request': {
    frames: () => repeated(rawFrame(FRAME.ping, FLAG.ack, 0, '0102030405060708'), 3 * MANY),
    isBlocked: true,
  },
  'SETTINGS while the node takes no request': { frames: () => repeated(GREETING, 20_000), isBlocked: true },
  'PRIORITY while the node takes no request': {
    frames: () => repeated(rawFrame(FRAME.priority, 0, 77, '0000000000'), 3 * MANY),
    isBlocked: true,
  },
};

for (const [name, { frames, isBlocked = false }] of Object.entries(FLOODS))
  test(`a flood of ${name} ends the connection`, () => {
    const script: Script = isBlocked
      ? { greet: (peer) => peer.send(settings([SETTING.window, 0])) }
      : { request: (peer, id) => peer.send(frames(id)) };
    return against(script, async ({ channel, peer }) => {
      const call = channel.unary(CALL);
      await peer.until(({ type }) => type === FRAME.headers);
      if (isBlocked) peer.send(frames(1));
      assert.is((await call).status.code, 14);
      assert.is((await peer.until(isGoaway)).payload.readUInt32BE(4), ERROR.calm);
      assert.ok(answered(peer) < 10_000, 'not all of it was answered');
    });
  });

test('frames for calls that were given up are forgiven for a while, and no longer', () =>
  against({ request: (peer, id, nth) => (nth < 40 ? undefined : peer.send(answer(id))) }, async ({ channel, peer }) => {
    const stop = new Stop();
    const calls = Array.from({ length: 40 }, () => channel.unary({ ...CALL, signal: stop }));
    await peer.until(({ type, id, flags }) => type === FRAME.data && id === 79 && flags === FLAG.endStream);
    stop.abort();
    await Promise.all(calls);
    // As if each had been sending when it heard of it.
    const ids = Array.from({ length: 40 }, (_, nth) => nth * 2 + 1);
    peer.send(...ids.flatMap((id) => [head(id), repeated(data(id, Buffer.from([1])), 900)]));
    assert.is((await channel.unary(CALL)).status.code, 0, 'what was under way is no flood');
    peer.send(repeated(data(1, Buffer.from([1])), 40 * GATEWAY_LIMITS.grpcExcusedFrames + MANY));
    assert.is((await peer.until(isGoaway)).payload.readUInt32BE(4), ERROR.calm);
  }));

const EMPTIES = 3_000;
const FULL_WINDOW = Math.floor(GATEWAY_LIMITS.grpcWindowBytes / (EMPTIES * 5));
const widened = (peer: Peer) => peer.frames.filter(({ type, id }) => type === FRAME.window && id === 1).length;

/** A node that fills the window of each call with empty messages. */
const EMPTY: Script = {
  request: (peer, id) => peer.send(head(id), repeated(data(id, repeated(messageOf(''), EMPTIES)), FULL_WINDOW)),
};
const STREAM = { ...CALL, requests: [CALL.request] };

test('a node that sends empty messages waits for the reader, who gets every one of them', () =>
  against(
    EMPTY,
    async ({ channel, peer }) => {
      const { messages, end: ended } = channel.stream(STREAM);
      const reader = messages[Symbol.asyncIterator]();
      await reader.next();
      await heard(peer);
      assert.is(widened(peer), 0, 'the node was told to send on, though nobody reads');
      peer.send(end(1, END));
      let taken = 1;
      while (!(await reader.next()).done) taken++;
      assert.equal([taken, (await ended).status.code], [EMPTIES * FULL_WINDOW, 0]);
    },
    { heldBytes: 2 * GATEWAY_LIMITS.grpcWindowBytes },
  ));

test('a node that goes on when the reader has caught up is told so', () =>
  against(EMPTY, async ({ channel, peer }) => {
    const reader = channel.stream(STREAM).messages[Symbol.asyncIterator]();
    for (let taken = 0; taken < EMPTIES * FULL_WINDOW; taken++) await reader.next();
    void reader.next();
    await peer.until(({ type, id }) => type === FRAME.window && id === 1);
  }));

test('what is held for slow readers counts: beyond it their calls end, and it is given back', () =>
  against(
    EMPTY,
    async ({ channel }) => {
      const streams = [1, 2, 3].map(() => channel.stream(STREAM));
      const codes = await Promise.race(streams.map(({ end: ended }) => ended.then(({ status }) => status.code)));
      assert.is(codes, 14);
      for (const { messages } of streams) for await (const _ of messages) break;
      const again = channel.stream(STREAM);
      let taken = 0;
      for await (const _ of again.messages) if (++taken === EMPTIES * FULL_WINDOW) break;
      assert.is(taken, EMPTIES * FULL_WINDOW);
    },
    { heldBytes: 1.5 * GATEWAY_LIMITS.grpcWindowBytes },
  ));

test('large answers together have a bound; the call beyond it ends, the others go on', () => {
  const large = messageOf(Buffer.alloc(700_000, 'x'));
  const frames = (id: number, from: number, to: number) =>
    Array.from({ length: Math.ceil((to - from) / 16_000) }, (_, nth) =>
      data(id, large.subarray(from + nth * 16_000, Math.min(from + (nth + 1) * 16_000, to))),
    );
  return against(
    { request: (peer, id) => peer.send(head(id), ...frames(id, 0, 600_000)) },
    async ({ channel, peer }) => {
      const calls = [1, 2, 3].map(() => channel.unary(CALL));
      const first = await Promise.race(calls);
      assert.equal([first.status.code, first.status.from], [14, 'channel']);
      const reset = await peer.until(({ type }) => type === FRAME.reset);
      for (const id of [1, 3, 5].filter((one) => one !== reset.id))
        peer.send(...frames(id, 600_000, large.length), end(id));
      const all = await Promise.all(calls);
      assert.equal(all.map(({ status }) => status.code).sort(), [0, 0, 14]);
      // And all of it is given back.
      const next = [4, 5].map(() => channel.unary(CALL));
      await peer.until(({ type, id }) => type === FRAME.data && id === 9);
      for (const id of [7, 9]) peer.send(...frames(id, 600_000, large.length), end(id));
      assert.equal(
        (await Promise.all(next)).map(({ bytes }) => bytes.length),
        [700_000, 700_000],
      );
    },
    { heldBytes: 1_500_000 },
  );
});

const HANDLER: StreamHandler = {
  path: '/',
  metadata: [],
  requests: [Buffer.alloc(100)],
  readLeftMs: () => 1_000,
  onHeaders: () => {},
  onData: () => {},
  onEnd: () => {},
  onFailure: () => {},
  onReset: () => {},
  onLost: () => {},
};

test('room for the connection costs nothing for streams that have no room of their own', () => {
  const page = Buffer.alloc(100_000);
  const frames = { page, isFull: false, reserve: () => 0, commit: () => {} } as unknown as FrameWriter;
  const sender = new Sender(frames);
  sender.setInitialWindow(0, []);
  let looks = 0;
  const streams = Array.from({ length: 1_000 }, () => {
    const stream = new Stream(HANDLER);
    let window = 0;
    Object.defineProperty(stream, 'window', {
      get: () => {
        looks++;
        return window;
      },
      set: (value: number) => {
        window = value;
      },
    });
    sender.start(stream);
    return stream;
  });
  assert.ok(sender.isBlocked);
  looks = 0;
  for (let nth = 0; nth < 1_000; nth++) sender.addWindow(100);
  assert.is(looks, 0);
  sender.addStreamWindow(streams[500]!, 1_000);
  assert.is(streams[500]!.body.left, 0, 'one that gets room is sent');
  sender.setInitialWindow(200, streams);
  assert.equal([sender.isBlocked, streams.every(({ body }) => !body.left)], [false, true]);
});

test('calls that ended before their time are known for long, and what is known is bounded', () => {
  const table = new StreamTable();
  for (let nth = 0; nth < GATEWAY_LIMITS.grpcBrokenKept + 10; nth++) {
    const stream = new Stream(HANDLER);
    table.add(stream);
    table.remove(stream, 'client');
  }
  const last = 2 * (GATEWAY_LIMITS.grpcBrokenKept + 10) - 1;
  assert.equal(
    [table.findAborter(19), table.findAborter(21), table.findAborter(last)],
    [undefined, 'client', 'client'],
  );
});

test.run();
