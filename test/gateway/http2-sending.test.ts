// What the channel sends on HTTP/2: no more than the node takes, in its order, and no request twice that may have been seen.

import type { Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GRPC } from '../../lib/gateway/channel/channel.ts';
import { FrameWriter } from '../../lib/gateway/http2/frames.ts';
import { ERROR, FLAG, FRAME, SETTING } from '../../lib/gateway/http2/protocol.ts';
import { Stream, type StreamHandler, StreamTable } from '../../lib/gateway/http2/stream-table.ts';
import { GATEWAY_LIMITS } from '../../lib/gateway/limits.ts';
import {
  against,
  answer,
  CALL,
  data,
  end,
  goaway,
  grow,
  head,
  heard,
  messageOf,
  type Peer,
  rawFrame,
  repeated,
  reset,
  type Script,
  settings,
} from './raw-node.ts';

const test = suite('http2 sending');
/** A node that answers every call. */
const ANSWERS: Script = { request: (peer, id) => peer.send(answer(id)) };
const STREAM = { path: '/t.Node/Count', requests: [Buffer.alloc(0)] };

const dataOf = ({ frames }: Peer, id: number) => frames.filter((frame) => frame.type === FRAME.data && frame.id === id);
const bytesOf = (peer: Peer, id: number) => dataOf(peer, id).reduce((sum, { payload }) => sum + payload.length, 0);
test('a node that does not begin with SETTINGS is no node', async () => {
  for (const first of [
    rawFrame(FRAME.ping, 0, 0, Buffer.alloc(8)),
    rawFrame(FRAME.settings, FLAG.ack, 0),
    Buffer.from('HTTP/1.1 400 Bad\r\n\r\n'),
  ])
    await against({ greet: (peer) => peer.send(first) }, async ({ channel }) => {
      assert.is((await channel.unary(CALL)).status.code, GRPC.unavailable);
      assert.match(channel.health().trouble ?? '', /SETTINGS|longer than/);
    });
});

test('many requests share the windows: none waits for another to be sent whole', () =>
  against(ANSWERS, async ({ channel, peer }) => {
    const calls = Array.from({ length: 4 }, () => channel.unary({ ...CALL, request: Buffer.alloc(60_000) }));
    await peer.until(() => [1, 3, 5, 7].reduce((sum, id) => sum + bytesOf(peer, id), 0) === 65_535);
    peer.send(grow(0, 4 * 16_384));
    await peer.until(() => bytesOf(peer, 7) > 0);
    assert.ok(bytesOf(peer, 5) > 0);
    peer.send(grow(0, 1_000_000));
    assert.equal(
      (await Promise.all(calls)).map(({ status }) => status.code),
      [0, 0, 0, 0],
    );
  }));

test('what may be secret is marked as never to be kept', () =>
  against(ANSWERS, async ({ channel, peer }) => {
    await channel.unary({ ...CALL, metadata: [['authorization', 'Bearer x']] });
    const block = peer.frames.find(({ type }) => type === FRAME.headers)!.payload.toString('latin1');
    assert.ok(block.includes('\x10\x0dauthorization\x08Bearer x'));
  }));

test('the node that answers before it has the whole request gets no more of it', () =>
  against({}, async ({ channel, peer }) => {
    const done = channel.unary({ ...CALL, request: Buffer.alloc(100_000) });
    await peer.until(() => bytesOf(peer, 1) === 65_535);
    peer.send(answer(1));
    assert.is((await done).bytes.toString(), 'one');
    const reset = await peer.until(({ type }) => type === FRAME.reset);
    assert.equal([reset.id, reset.payload.readUInt32BE()], [1, 8]);
    peer.send(grow(0, 1_000_000), grow(1, 1_000_000), data(1));
    await heard(peer);
    assert.is(bytesOf(peer, 1), 65_535);
    assert.is(
      peer.frames.some(({ type }) => type === FRAME.goaway),
      false,
    );
  }));

test('what comes for a call that was given up is counted, and the node may go on', () =>
  against({}, async ({ channel, peer }) => {
    const late = await channel.unary({ ...CALL, deadlineMs: 30 });
    assert.is(late.status.code, GRPC.deadlineExceeded);
    await peer.until(({ type, id }) => type === FRAME.reset && id === 1);
    peer.send(head(1));
    const some = data(1, Buffer.alloc(16_384));
    peer.send(repeated(some, 520));
    peer.send(end(1));
    const grown = await peer.until(({ type, payload }) => type === FRAME.window && payload.readUInt32BE() < 9_000_000);
    assert.equal([grown.id, grown.payload.readUInt32BE() >= 8_000_000], [0, true]);
  }));

test('a node that sends more than the window of a stream is cut off from it', () =>
  against({}, async ({ channel, peer }) => {
    const stream = channel.stream(STREAM);
    await peer.until(({ type }) => type === FRAME.data);
    peer.send(head(1));
    const message = messageOf(Buffer.alloc(16_000));
    peer.send(repeated(data(1, message), 70));
    const reset = await peer.until(({ type }) => type === FRAME.reset);
    assert.equal([reset.payload.readUInt32BE(), (await stream.end).status.code], [3, GRPC.internal]);
  }));

test('a call with which the node did nothing goes to the next connection, once', async () => {
  const seen: number[] = [];
  const script = (isEver: boolean): Script => ({
    request: (peer, id, nth) => {
      seen.push(nth);
      peer.send(nth === 0 || isEver ? goaway(0) : answer(id));
    },
  });
  await against(script(false), async ({ channel, node }) => {
    assert.is((await channel.unary(CALL)).bytes.toString(), 'one');
    assert.is(node.peers.length, 2);
  });
  seen.length = 0;
  await against(script(true), async ({ channel }) => {
    assert.is((await channel.unary(CALL)).status.code, GRPC.unavailable);
    assert.equal(seen, [0, 1]);
  });
});

test('a node that says goodbye in two words ends what it has, and calls that waited go on', async () => {
  const ids: number[] = [];
  const script: Script = {
    greet: (peer) => peer.send(settings([SETTING.streams, 2])),
    request: (peer, id, nth) => {
      ids.push(id);
      if (nth > 1) peer.send(answer(id));
    },
  };
  await against(script, async ({ channel, node, peer }) => {
    const calls = Array.from({ length: 3 }, () => channel.unary(CALL));
    await peer.until(() => ids.length === 2);
    peer.send(goaway(2 ** 31 - 1));
    assert.is((await calls[2]!).status.code, GRPC.ok, 'on a new connection');
    peer.send(goaway(1));
    assert.is((await calls[1]!).status.code, GRPC.ok, 'again, there');
    peer.send(answer(1));
    assert.is((await calls[0]!).status.code, GRPC.ok, 'the one that it took');
    await peer.until(({ type }) => type === FRAME.goaway);
    assert.is(node.peers.length, 2);
  });
});

test('closing says goodbye after the last call', () =>
  against({}, async ({ channel, peer }) => {
    const done = channel.unary(CALL);
    await peer.until(({ type }) => type === FRAME.data);
    const closed = channel.close();
    await heard(peer);
    assert.is(
      peer.frames.some(({ type }) => type === FRAME.goaway),
      false,
    );
    peer.send(answer(1));
    assert.is((await done).status.code, GRPC.ok);
    const said = await peer.until(({ type }) => type === FRAME.goaway);
    assert.is(said.payload.readUInt32BE(4), 0);
    await closed;
  }));

test('after a body was sent piece by piece, windows that grow for nothing are too much at last', () =>
  against({}, async ({ channel, peer }) => {
    const done = channel.unary({ ...CALL, request: Buffer.alloc(70_000) });
    await peer.until(() => bytesOf(peer, 1) === 65_535);
    peer.send(grow(0, 10_000), grow(1, 10_000));
    await peer.until(() => bytesOf(peer, 1) === 70_005);
    peer.send(repeated(grow(0, 1), 100_000));
    assert.is((await done).status.code, GRPC.unavailable);
    const said = await peer.until(({ type }) => type === FRAME.goaway);
    assert.is(said.payload.readUInt32BE(4), ERROR.calm);
  }));

test('a node that asks and does not read the replies is cut off when many wait', () => {
  const socket = { writable: true, writableLength: GATEWAY_LIMITS.grpcUnsentBytes + 1, write: () => true };
  const frames = new FrameWriter(socket as unknown as Socket);
  const reply = () => frames.reply({ type: FRAME.ping, flags: FLAG.ack, id: 0 }, Buffer.alloc(8));
  for (let sent = 0; sent < GATEWAY_LIMITS.grpcRepliesWaiting; sent++) assert.is(reply(), undefined);
  assert.is(reply()?.code, ERROR.calm);
  socket.writableLength = 0;
  frames.flush();
  assert.is(reply(), undefined);
});

test('the number of a stream that lasts is left out when its turn comes again', () => {
  const table = new StreamTable();
  const begun = () => {
    const stream = new Stream({ requests: [] } as unknown as StreamHandler);
    table.add(stream);
    return stream;
  };
  const lasting = begun();
  for (let count = 1; count < GATEWAY_LIMITS.grpcStreamsAtOnce; count++) table.remove(begun());
  const next = begun();
  assert.equal([lasting.id, next.id], [1, 2 * GATEWAY_LIMITS.grpcStreamsAtOnce + 3]);
  assert.equal([table.get(1), table.get(next.id), table.get(next.id - 2)], [lasting, next, undefined]);
  assert.equal([table.all(), table.running], [[lasting, next], 2]);
});

for (const [what, ends] of [
  ['the node refuses after it has answered', (peer, id) => peer.send(head(id), reset(id, ERROR.refused))],
  ['was seen when the connection breaks', (peer) => peer.hangUp()],
] as const satisfies readonly (readonly [string, NonNullable<Script['request']>])[])
  test(`a call that ${what} is not sent again`, async () => {
    let seen = 0;
    const request: NonNullable<Script['request']> = (peer, id) => {
      seen++;
      ends(peer, id);
    };
    await against({ request }, async ({ channel }) => {
      assert.equal([(await channel.unary(CALL)).status.code, seen], [GRPC.unavailable, 1]);
    });
  });

test.run();
