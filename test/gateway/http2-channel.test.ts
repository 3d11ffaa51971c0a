// The channel on our HTTP/2 keeps the contract of channels, and notices by itself what its promises leave to it.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GRPC } from '../../lib/gateway/channel/channel.ts';
import { http2Channel } from '../../lib/gateway/channel/http2-channel.ts';
import { channelContract, LOCALHOST } from '../contract/grpc-channel.ts';
import { hostileNode, testNode, well } from '../contract/grpc-node.ts';
import { faultProxy } from '../support/fault-proxy.ts';
import { until } from '../support/until.ts';

channelContract('http2 channel', http2Channel);

const test = suite('http2 channel, its connection');
const LONG_MS = 600_000;
const hello = { path: '/t.Node/Echo', request: Buffer.from('hello'), deadlineMs: LONG_MS };

test('a connection that went dead is found by a ping after a call got no answer, and replaced', async () => {
  const node = await testNode();
  const proxy = await faultProxy(node);
  const channel = http2Channel({ upstream: `127.0.0.1:${proxy.port}`, pingMs: 50, backoffMs: 1 });
  assert.is((await channel.unary(hello)).status.code, GRPC.ok);
  await proxy.set({ kind: 'freeze' });
  const late = channel.unary({ ...hello, deadlineMs: 50 });
  const cut = channel.unary(hello);
  assert.is((await late).status.code, GRPC.deadlineExceeded);
  assert.is((await cut).status.code, GRPC.unavailable);
  assert.match(channel.health().trouble ?? '', /no answer to a ping/);
  await proxy.set({ kind: 'pass' });
  await until('the channel is ready', () => channel.ready(100));
  assert.is((await channel.unary(hello)).status.code, GRPC.ok);
  await channel.close();
  await proxy.close();
  await node.stop();
});

test('in the pause after a failed attempt calls fail without another attempt', async () => {
  const node = await hostileNode(() => well());
  await node.stop();
  const channel = http2Channel({ upstream: `127.0.0.1:${node.port}`, backoffMs: LONG_MS, backoffMaxMs: LONG_MS });
  await channel.unary(hello);
  const again = await hostileNode(() => well(), node.port);
  for (let tries = 0; tries < 5; tries++) assert.is((await channel.unary(hello)).status.code, GRPC.unavailable);
  assert.is(again.connections, 0);
  await channel.close();
  await again.stop();
});

test('a node that takes TLS but does not agree to HTTP/2 is told to the log, and is UNAVAILABLE', async () => {
  const tls = LOCALHOST;
  const server = createServer(tls, (socket) => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upstream = `localhost:${(server.address() as AddressInfo).port}`;
  const channel = http2Channel({ upstream, tls: { ca: tls.cert } });
  assert.is((await channel.unary(hello)).status.code, GRPC.unavailable);
  assert.match(channel.health().trouble ?? '', /did not agree to HTTP\/2/);
  await channel.close();
  server.close();
  await once(server, 'close');
});

test.run();
