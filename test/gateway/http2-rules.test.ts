// What the channel does with each thing that a node may do on HTTP/2 (RFC 9113), or may not.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ERROR, FLAG, FRAME, SETTING } from '../../lib/gateway/http2/protocol.ts';
import {
  against,
  answer,
  blockOf,
  CALL,
  data,
  END,
  end,
  GREETING,
  HEAD,
  head,
  messageOf,
  type Peer,
  rawFrame,
  repeated,
  settings,
} from './raw-node.ts';

interface Rule {
  /** What the node does when the request has come, on stream `id`. */
  does(peer: Peer, id: number): void;
  /** How the call ends. */
  readonly code: number;
  /** The code with which the channel ends the connection, or the stream; in neither case the connection goes on. */
  readonly goaway?: number;
  readonly reset?: number;
}

const { protocol, frameSize, flowControl, compression, calm, streamClosed, cancel } = ERROR;
const ends = (goaway: number, ...frames: readonly Buffer[]): Rule => ({
  code: 14,
  goaway,
  does: (peer) => peer.send(...frames),
});
const resets = (reset: number, frames: (id: number) => readonly Buffer[], code = 13): Rule => ({
  code,
  reset,
  does: (peer, id) => peer.send(...frames(id)),
});
const answers = (frames: (id: number) => readonly Buffer[], code = 0): Rule => ({
  code,
  does: (peer, id) => peer.send(...frames(id)),
});
const setting = (name: number, value: number) => settings([name, value]);
const headWith = (...fields: readonly string[]) => Buffer.concat([HEAD, blockOf(...fields)]);
// Frames of a flood are forgiven after a while: this is several times what is allowed at once.
const MANY = 100_000;

/** What the node does → what comes of it. The first stream has the number 1. */
const RULES: { readonly [name: string]: Rule } = {
  // What ends the connection.
  'DATA without a stream': ends(protocol, rawFrame(FRAME.data, 0, 0)),
  'HEADERS without a stream': ends(protocol, rawFrame(FRAME.headers, FLAG.endHeaders, 0, HEAD)),
  'DATA on a stream that was not begun': ends(protocol, data(99)),
  'HEADERS on a stream of the node': ends(protocol, head(2)),
  'RST_STREAM on a stream that was not begun': ends(protocol, rawFrame(FRAME.reset, 0, 5, '00000000')),
  'WINDOW_UPDATE on a stream that was not begun': ends(protocol, rawFrame(FRAME.window, 0, 5, '00000001')),
  PUSH_PROMISE: ends(protocol, rawFrame(FRAME.push, FLAG.endHeaders, 1, '0000000288')),
  'CONTINUATION without HEADERS': ends(protocol, rawFrame(FRAME.continuation, FLAG.endHeaders, 1)),
  'another frame before CONTINUATION': ends(protocol, head(1, 0), rawFrame(FRAME.ping, 0, 0, '0'.repeat(16))),
  'CONTINUATION of another stream': ends(protocol, head(1, 0), rawFrame(FRAME.continuation, 4, 3)),
  'SETTINGS on a stream': ends(protocol, rawFrame(FRAME.settings, 0, 1)),
  'SETTINGS of 5 bytes': ends(frameSize, rawFrame(FRAME.settings, 0, 0, '0000000000')),
  'SETTINGS that acknowledge and say something': ends(frameSize, rawFrame(FRAME.settings, FLAG.ack, 0, '000000000000')),
  'a node that pushes': ends(protocol, setting(SETTING.push, 1)),
  'a first window of 2^31': ends(flowControl, setting(SETTING.window, 2 ** 31)),
  'frames of 16,383 bytes': ends(protocol, setting(SETTING.frameBytes, 16_383)),
  'frames of 2^24 bytes': ends(protocol, setting(SETTING.frameBytes, 2 ** 24)),
  'PING of 7 bytes': ends(frameSize, rawFrame(FRAME.ping, 0, 0, '00000000000000')),
  'PING on a stream': ends(protocol, rawFrame(FRAME.ping, 0, 1, '0000000000000000')),
  'GOAWAY of 7 bytes': ends(frameSize, rawFrame(FRAME.goaway, 0, 0, '00000000000000')),
  'GOAWAY on a stream': ends(protocol, rawFrame(FRAME.goaway, 0, 1, '0000000000000000')),
  'GOAWAY with an error': ends(ERROR.none, rawFrame(FRAME.goaway, 0, 0, '0000000100000002')),
  'WINDOW_UPDATE of 3 bytes': ends(frameSize, rawFrame(FRAME.window, 0, 0, '000001')),
  'WINDOW_UPDATE by nothing for the connection': ends(protocol, rawFrame(FRAME.window, 0, 0, '00000000')),
  'WINDOW_UPDATE beyond 2^31 for the connection': ends(flowControl, rawFrame(FRAME.window, 0, 0, '7fffffff')),
  'SETTINGS that make the window of a stream too large': ends(
    flowControl,
    rawFrame(FRAME.window, 0, 1, '7fff0000'),
    setting(SETTING.window, 2 ** 31 - 1),
  ),
  'RST_STREAM of 3 bytes': ends(frameSize, rawFrame(FRAME.reset, 0, 1, '000000')),
  'RST_STREAM without a stream': ends(protocol, rawFrame(FRAME.reset, 0, 0, '00000000')),
  'PRIORITY without a stream': ends(protocol, rawFrame(FRAME.priority, 0, 0, '0000000000')),
  'DATA with more padding than room': ends(protocol, head(1), rawFrame(FRAME.data, FLAG.padded, 1, '0200')),
  'DATA with padding and no length of it': ends(protocol, head(1), rawFrame(FRAME.data, FLAG.padded, 1)),
  'HEADERS with more padding than room': ends(protocol, head(1, 0xc, Buffer.from([9, 0x88]))),
  'HEADERS too short for their priority': ends(frameSize, head(1, 0x24, Buffer.from([0, 0]))),
  'a frame of 16,385 bytes': ends(frameSize, head(1), data(1, Buffer.alloc(16_385))),
  'a field of the table that the node was not given': ends(compression, head(1, 4, Buffer.from([0x88, 0xbe]))),
  'a block with a broken code': ends(compression, head(1, 4, Buffer.from('880001618118', 'hex'))),
  'HEADERS without an end': ends(calm, head(1, 0), repeated(rawFrame(FRAME.continuation, 0, 1), 100)),
  'HEADERS of 300 kB': ends(calm, head(1, 0), repeated(rawFrame(FRAME.continuation, 0, 1, Buffer.alloc(15_000)), 20)),
  'a flood of PING': ends(calm, repeated(rawFrame(FRAME.ping, FLAG.ack, 0, '0'.repeat(16)), MANY)),
  'a flood of SETTINGS': ends(calm, repeated(GREETING, MANY)),
  'a flood of DATA without bytes': ends(calm, head(1), repeated(rawFrame(FRAME.data, 0, 1), MANY)),
  'a flood of frames that nobody knows': ends(calm, repeated(rawFrame(99, 0, 0), MANY)),
  'DATA after the end of the stream': {
    ...ends(streamClosed),
    code: 0,
    does: (peer, id) => peer.send(answer(id), data(id)),
  },
  'HEADERS after the end of the stream': {
    ...ends(streamClosed),
    code: 0,
    does: (peer, id) => peer.send(answer(id), head(id)),
  },

  // What ends the stream.
  'WINDOW_UPDATE by nothing': resets(protocol, (id) => [rawFrame(FRAME.window, 0, id, '00000000')]),
  'WINDOW_UPDATE beyond 2^31': resets(flowControl, (id) => [rawFrame(FRAME.window, 0, id, '7fffffff')]),
  'PRIORITY of 4 bytes': resets(frameSize, (id) => [rawFrame(FRAME.priority, 0, id, '00000000')]),
  'DATA before HEADERS': resets(protocol, (id) => [data(id)]),
  'trailers that are not the end': resets(protocol, (id) => [head(id), data(id), head(id, 4, END)]),
  'headers twice': resets(protocol, (id) => [head(id), head(id)]),
  'headers twice, then the end': resets(protocol, (id) => [head(id), end(id, HEAD)]),
  'no status of HTTP': resets(protocol, (id) => [head(id, 4, blockOf('content-type', 'application/grpc'))]),
  'two statuses of HTTP': resets(protocol, (id) => [head(id, 4, headWith(':status', '200'))]),
  'a status of HTTP after other fields': resets(protocol, (id) => [head(id, 4, blockOf('a', 'b', ':status', '200'))]),
  'a status of HTTP that is none': resets(protocol, (id) => [head(id, 4, blockOf(':status', '2xx'))]),
  'another field that begins with a colon': resets(protocol, (id) => [head(id, 4, headWith(':path', '/'))]),
  'a name in capitals': resets(protocol, (id) => [head(id, 4, headWith('X-Up', 'x'))]),
  'a name with a space': resets(protocol, (id) => [head(id, 4, headWith('x y', 'x'))]),
  'a name of no letters': resets(protocol, (id) => [head(id, 4, headWith('', 'x'))]),
  'a value of two lines': resets(protocol, (id) => [head(id, 4, headWith('x', 'a\r\nb'))]),
  'a value that begins with a space': resets(protocol, (id) => [head(id, 4, headWith('x', ' a'))]),
  'a header of HTTP/1': resets(protocol, (id) => [head(id, 4, headWith('transfer-encoding', 'chunked'))]),
  'HTTP 101': resets(protocol, (id) => [head(id, 4, blockOf(':status', '101'))]),
  'HTTP 100 and no more': resets(protocol, (id) => [end(id, blockOf(':status', '100'))]),
  'headers of 16 kB in one frame': resets(cancel, (id) => [head(id, 4, headWith('x', 'x'.repeat(16_300)))], 8),
  'headers of 40 kB in many': resets(
    cancel,
    (id) => [head(id, 0), repeated(rawFrame(9, 0, id, Buffer.alloc(10_000)), 4), rawFrame(9, 4, id)],
    8,
  ),
  'trailers of a byte more than 16 kB': resets(
    cancel,
    (id) => [head(id), data(id), end(id, blockOf('x', 'x'.repeat(16_352)))],
    8,
  ),
  'a message that is too large': resets(cancel, (id) => [head(id), data(id, Buffer.from('00ffffffff', 'hex'))], 8),
  'DATA after RST_STREAM of the node': {
    code: 13,
    reset: streamClosed,
    does: (peer, id) => peer.send(rawFrame(FRAME.reset, 0, id, '00000002'), data(id)),
  },

  // What it must bear.
  'an answer': answers((id) => [answer(id)]),
  padding: answers((id) => [
    head(id, 0xc, Buffer.concat([Buffer.from([3]), HEAD, Buffer.alloc(3)])),
    rawFrame(FRAME.data, FLAG.padded, id, Buffer.concat([Buffer.from([4]), messageOf('one'), Buffer.alloc(4)])),
    rawFrame(FRAME.data, FLAG.padded, id, '0200' + '00'),
    end(id),
  ]),
  'a priority within HEADERS': answers((id) => [
    head(id, 0x24, Buffer.concat([Buffer.alloc(5), HEAD])),
    data(id),
    end(id),
  ]),
  'PRIORITY, also for a stream that was not begun': answers((id) => [
    rawFrame(FRAME.priority, 0, id, '0000000000'),
    rawFrame(FRAME.priority, 0, 77, '0000000000'),
    answer(id),
  ]),
  'frames and settings that nobody knows': answers((id) => [
    rawFrame(99, 0xff, id, 'abcdef'),
    rawFrame(250, 0, 0),
    setting(0xabcd, 7),
    answer(id),
  ]),
  'headers in pieces': answers((id) => [
    head(id, 0, HEAD.subarray(0, 3)),
    rawFrame(FRAME.continuation, 0, id),
    rawFrame(FRAME.continuation, 0, id, HEAD.subarray(3, 9)),
    rawFrame(FRAME.continuation, FLAG.endHeaders, id, HEAD.subarray(9)),
    data(id),
    end(id),
  ]),
  'HTTP 100 and 103 before the answer': answers((id) => [
    head(id, 4, blockOf(':status', '100')),
    head(id, 4, blockOf(':status', '103', 'link', 'x')),
    answer(id),
  ]),
  'a length that is not the length': answers((id) => [head(id, 4, headWith('content-length', '1')), data(id), end(id)]),
  'RST_STREAM without an error after the answer': answers((id) => [
    answer(id),
    rawFrame(FRAME.reset, 0, id, '00000000'),
  ]),
  'WINDOW_UPDATE after the answer': answers((id) => [answer(id), rawFrame(FRAME.window, 0, id, '00000001')]),
  'RST_STREAM that refuses, twice': answers((id) => [rawFrame(FRAME.reset, 0, id, '00000007')], 14),
};

const test = suite('http2 rules');

for (const [name, { does, code, goaway, reset }] of Object.entries(RULES))
  test(`${name}: ${goaway !== undefined ? `ends the connection (${goaway})` : reset ? `ends the call (${reset})` : `is ${code}`}`, async () => {
    let isDone = false;
    const request = (peer: Peer, id: number) => (isDone ? peer.send(answer(id)) : does(peer, id));
    await against({ request }, async ({ channel, node, peer }) => {
      const first = await channel.unary(CALL);
      assert.is(first.status.code, code, first.status.message);
      if (goaway !== undefined) {
        const said = await peer.until(({ type }) => type === FRAME.goaway);
        assert.is(said.payload.readUInt32BE(4), goaway);
      }
      if (reset !== undefined) {
        const said = await peer.until(({ type }) => type === FRAME.reset);
        assert.equal([said.id, said.payload.readUInt32BE()], [1, reset]);
      }
      isDone = true;
      assert.is((await channel.unary(CALL)).bytes.toString(), 'one', 'the channel goes on');
      assert.is(node.peers.length, goaway === undefined ? 1 : 2);
    });
  });

test.run();
