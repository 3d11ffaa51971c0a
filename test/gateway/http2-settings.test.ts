// node:http2 at the other end, with any settings that change at any time: it ends a connection on which a client breaks one of them.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerHttp2Session, type Settings } from 'node:http2';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GRPC } from '../../lib/gateway/channel/channel.ts';
import { http2Channel } from '../../lib/gateway/channel/http2-channel.ts';
import { GATEWAY_LIMITS } from '../../lib/gateway/limits.ts';
import { LONG_MS, messageOf } from './raw-node.ts';

const test = suite('http2 settings');

const settings: fc.Arbitrary<Settings> = fc.record({
  initialWindowSize: fc.oneof(fc.constantFrom(65_535, 1_048_576), fc.integer({ min: 2_000, max: 200_000 })),
  maxConcurrentStreams: fc.integer({ min: 1, max: 6 }),
  maxFrameSize: fc.constantFrom(16_384, 20_000, 1_048_576),
  headerTableSize: fc.constantFrom(0, 100, 4_096, 65_536),
});
// A call under way when the node allows fewer streams may be refused. As gRPC has it, it is sent again once, so the number falls once.
const changes = fc.array(settings, { maxLength: 4 }).map(([lowest, ...later]) => {
  const streams = later.map(({ maxConcurrentStreams }) => maxConcurrentStreams!).sort((one, other) => one - other);
  const least = lowest?.maxConcurrentStreams ?? 1;
  const rest = later.map((one, at) => ({ ...one, maxConcurrentStreams: Math.max(least, streams[at]!) }));
  return lowest ? [lowest, ...rest] : [];
});
const sizes = fc.array(fc.oneof(fc.nat(2_000), fc.nat(200_000)), { minLength: 1, maxLength: 10 });

interface Echo {
  readonly upstream: string;
  /** What went wrong on any connection. */
  readonly troubles: readonly string[];
  /** The most calls at the same time. */
  readonly most: () => number;
  readonly sessions: readonly ServerHttp2Session[];
  stop(): Promise<unknown>;
}

/** Answers each call with the hash of its request, and takes the next of `changes` after each. */
async function echoNode(first: Settings, changes: readonly Settings[] = []): Promise<Echo> {
  const troubles: string[] = [];
  const sessions: ServerHttp2Session[] = [];
  const left = [...changes];
  let [running, most] = [0, 0];
  const server = createServer({ settings: first });
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', (error) => troubles.push(String(error)));
    session.on('frameError', (type, code) => troubles.push(`frame ${type}: ${code}`));
    session.on('goaway', (code) => code && troubles.push(`GOAWAY ${code}`));
  });
  server.on('stream', async (stream) => {
    stream.on('error', (error) => troubles.push(String(error)));
    most = Math.max(most, ++running);
    const hash = createHash('sha1');
    for await (const chunk of stream) hash.update(chunk as Buffer);
    const next = left.shift();
    if (next) stream.session?.settings(next);
    running--;
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(messageOf(hash.digest()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    upstream: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ troubles, sessions, most: () => most },
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

test('requests of any size arrive whole, within the windows, frames and streams that the node allows', () =>
  fc.assert(
    fc.asyncProperty(sizes, settings, changes, async (lengths, first, later) => {
      const node = await echoNode(first, later);
      const channel = http2Channel({ upstream: node.upstream, deadlineMs: LONG_MS });
      await channel.ready(LONG_MS);
      const requests = lengths.map((length, nth) => Buffer.alloc(length, nth + 1));
      const answers = await Promise.all(requests.map((request) => channel.unary({ path: '/t/T', request })));
      for (const [nth, { status, bytes }] of answers.entries()) {
        assert.equal([status.code, node.troubles], [GRPC.ok, []], status.message);
        const hash = createHash('sha1').update(messageOf(requests[nth]!)).digest();
        assert.ok(bytes.equals(hash), `${lengths[nth]} bytes came as others`);
      }
      const allowed = [first, ...later].map(({ maxConcurrentStreams }) => maxConcurrentStreams!);
      assert.ok(node.most() <= Math.max(...allowed), `${node.most()} at a time`);
      assert.is(node.sessions.length, 1, 'all share one connection');
      await channel.close();
      await node.stop();
      assert.equal(node.troubles, []);
    }),
    { numRuns: 40 },
  ));

test('the node is told what this side takes, and metadata that it does not take itself are not sent', async () => {
  const node = await echoNode({});
  const channel = http2Channel({ upstream: node.upstream, deadlineMs: LONG_MS });
  const call = { path: '/t/T', request: Buffer.alloc(0) };
  // In several frames.
  const long = { ...call, metadata: [['x-long-bin', Buffer.alloc(15_000, 'x')]] } as const;
  assert.is((await channel.unary(long)).status.code, GRPC.ok);
  const [session] = node.sessions;
  const { headerTableSize, enablePush, initialWindowSize, maxHeaderListSize } = session!.remoteSettings;
  assert.equal(
    [headerTableSize, enablePush, initialWindowSize, maxHeaderListSize],
    [0, false, GATEWAY_LIMITS.grpcWindowBytes, GATEWAY_LIMITS.grpcMetadataBytes],
  );
  const answered = messageOf(Buffer.alloc(20)).length;
  assert.is(session!.state.remoteWindowSize, GATEWAY_LIMITS.grpcConnectionWindowBytes - answered);
  session!.settings({ maxHeaderListSize: 10_000 });
  await once(session!, 'localSettings');
  const { status } = await channel.unary(long);
  assert.equal([status.code, status.from], [GRPC.resourceExhausted, 'channel']);
  assert.is((await channel.unary(call)).status.code, GRPC.ok);
  await channel.close();
  await node.stop();
});

test.run();
