// Calls at random to a real gRPC server: the channel on our HTTP/2 and the one on grpc-js give the same answers.

import { createHash } from 'node:crypto';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Channel, RpcAnswer, Status } from '../../lib/gateway/channel/channel.ts';
import { grpcChannel } from '../../lib/gateway/channel/grpc-channel.ts';
import { http2Channel } from '../../lib/gateway/channel/http2-channel.ts';
import type { Metadata } from '../../lib/gateway/channel/metadata.ts';
import { type TestNode, testNode } from '../contract/grpc-node.ts';
import { LONG_MS } from './raw-node.ts';

/** One thing to ask of a channel, told as something that can be compared. */
type Asked = (channel: Channel, node: TestNode) => Promise<unknown>;

const test = suite('http2 differential');
const hash = (bytes: Buffer) => `${bytes.length} ${createHash('sha1').update(bytes).digest('hex')}`;
// The node says when it answered.
const plain = (metadata: Metadata) =>
  metadata
    .filter(([name]) => name !== 'date')
    .map(([name, value]) => `${name}=${value.toString('base64' as never)}`)
    .sort();
// grpc-js does not tell the text of OK.
const how = (status: Status) => (status.code === 0 ? { ...status, message: '' } : status);
const told = ({ status, bytes, headers, trailers }: RpcAnswer) => ({
  ...how(status),
  bytes: hash(bytes),
  headers: plain(headers),
  trailers: plain(trailers),
});

// Around frames, windows and what a page of the frame writer holds.
const EDGES = [
  0, 1, 16_374, 16_379, 16_380, 16_384, 65_525, 65_530, 65_531, 65_536, 131_072, 1_048_571, 1_048_576, 2_000_000,
];
const size = fc.oneof(fc.constantFrom(...EDGES), fc.nat(80_000));
const value = fc.string({ unit: fc.constantFrom(...'abc ,;=%"~'), maxLength: 200 }).map((text) => text.trim());
const metadata = fc.record({
  text: fc.option(value, { nil: undefined }),
  bytes: fc.array(
    fc.uint8Array({ maxLength: 300 }).filter(({ length }) => length > 0),
    { maxLength: 3 },
  ),
});

const asked: fc.Arbitrary<Asked> = fc.oneof(
  fc.tuple(size, metadata, fc.nat(255)).map(([length, { text, bytes }, fill]): Asked => {
    const sent: [string, string | Buffer][] = bytes.map((one) => ['x-echo-bin', Buffer.from(one)]);
    if (text) sent.push(['x-echo', text]);
    const call = { path: '/t.Node/Echo', request: Buffer.alloc(length, fill), metadata: sent };
    return async (channel) => told(await channel.unary(call));
  }),
  size.map(
    (length): Asked =>
      async (channel) =>
        told(await channel.unary({ path: '/t.Node/Big', request: Buffer.from(`${length}`) })),
  ),
  fc
    .record({ code: fc.integer({ min: 1, max: 16 }), details: fc.string({ maxLength: 300 }), hasHeaders: fc.boolean() })
    .map(
      (wish): Asked =>
        async (channel) =>
          told(await channel.unary({ path: '/t.Node/Fail', request: Buffer.from(JSON.stringify(wish)) })),
    ),
  fc
    .array(fc.tuple(fc.nat(20), fc.oneof(fc.integer({ min: 4, max: 40_000 }), fc.constantFrom(65_531, 1_048_576))), {
      maxLength: 3,
    })
    .map(
      (wishes): Asked =>
        async (channel) => {
          const requests = wishes.map((wish) => Buffer.from(wish.join()));
          const stream = channel.stream({ path: '/t.Node/Count', requests });
          const messages: string[] = [];
          for await (const message of stream.messages) messages.push(hash(message));
          const { status, trailers } = await stream.end;
          return { messages, status: how(status), trailers: plain(trailers) };
        },
    ),
  fc.nat(3).map(
    (left): Asked =>
      async (channel) => {
        const stream = channel.stream({ path: '/t.Node/Count', requests: [Buffer.from('100000,5000')] });
        let seen = 0;
        for await (const _ of stream.messages) if (seen++ === left) break;
        return (await stream.end).status;
      },
  ),
  fc.constant<Asked>(async (channel, node) => {
    const stop = new AbortController();
    const { begun } = node.seen;
    const running = channel.unary({ path: '/t.Node/Hang', request: Buffer.alloc(0), signal: stop.signal });
    await node.until((seen) => seen.begun > begun);
    stop.abort();
    return told(await running);
  }),
);

test('what a proxy answers in the place of the node is no answer of the node, on both channels alike', async () => {
  let page: (stream: ServerHttp2Stream) => void = () => {};
  const proxy = createServer().on('stream', (stream) => page(stream));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const upstream = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const channels = [http2Channel({ upstream, deadlineMs: LONG_MS }), grpcChannel({ upstream, deadlineMs: LONG_MS })];
  const bodies = ['', 'ok', '<html>a page of a proxy</html>', 'x'.repeat(100_000), '\0\0\0\0\x02ok'];
  for (const [status, code] of [
    [200, 2],
    [404, 12],
    [502, 14],
  ] as const)
    for (const body of bodies)
      for (const channel of channels) {
        page = (stream) => {
          stream.on('error', () => {});
          stream.respond({ ':status': status, 'content-type': 'text/html' });
          stream.end(body);
        };
        const words =
          status === 200 ? 'The node did not answer with gRPC.' : `The node answered with HTTP status ${status}.`;
        const call = { path: '/t.Node/Echo', request: Buffer.alloc(0) };
        const unary = await channel.unary(call);
        const stream = channel.stream({ path: call.path, requests: [call.request] });
        for await (const _ of stream.messages);
        for (const { code: its, message } of [unary.status, (await stream.end).status])
          assert.equal([its, message], [code, words], `${body.slice(0, 9)} ${status}`);
      }
  for (const channel of channels) await channel.close();
  await new Promise((resolve) => proxy.close(resolve));
});

test('the same calls have the same answers', async () => {
  const node = await testNode();
  const upstream = `127.0.0.1:${node.port}`;
  const channels = [http2Channel({ upstream, deadlineMs: LONG_MS }), grpcChannel({ upstream, deadlineMs: LONG_MS })];
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 1, maxLength: 8 }), async (all) => {
      const [ours, theirs] = await Promise.all(
        channels.map((channel) => Promise.all(all.map((one) => one(channel, node)))),
      );
      assert.equal(ours, theirs);
    }),
    { numRuns: 40 },
  );
  await Promise.all(channels.map((channel) => channel.close()));
  await node.stop();
});

test.run();
