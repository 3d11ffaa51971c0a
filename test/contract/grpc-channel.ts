// What every channel to a node promises, held against a real gRPC server and against one that misbehaves.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as assert from 'uvu/assert';
import { type Channel, type ChannelOptions, GRPC, type RpcAnswer } from '../../lib/gateway/channel/channel.ts';
import type { Metadata } from '../../lib/gateway/channel/metadata.ts';
import { GATEWAY_LIMITS } from '../../lib/gateway/limits.ts';
import { faultProxy } from '../support/fault-proxy.ts';
import { suite } from '../support/suites.ts';
import { until } from '../support/until.ts';
import { type HostileNode, hostileNode, MISDEEDS, type TestNode, testNode, well } from './grpc-node.ts';

export type OpenChannel = (options: ChannelOptions) => Channel;

interface Bench {
  readonly node: TestNode;
  readonly channel: Channel;
  open(port: number, options?: Partial<ChannelOptions>): Channel;
  hostile(misdeed: Parameters<typeof hostileNode>[0]): Promise<HostileNode>;
}

const bytes = (text: string) => Buffer.from(text);
const call = (name: string, text = '', more: object = {}) => ({
  path: `/t.Node/${name}`,
  request: bytes(text),
  ...more,
});
const values = (metadata: Metadata, name: string) =>
  metadata.filter(([other]) => other === name).map(([, value]) => value.toString('latin1' as never));
const code = ({ status }: Pick<RpcAnswer, 'status'>) => status.code;
const FAST = { backoffMs: 20, backoffMaxMs: 50 };
/** A deadline that no test waits for. */
const LONG_MS = 600_000;

/** Sentence → what shows that it is kept. */
const PROMISES: { readonly [sentence: string]: (bench: Bench) => Promise<void> } = {
  'the bytes of a message arrive and come back as they are': async ({ channel }) => {
    for (const request of [Buffer.alloc(0), Buffer.from([0, 1, 255]), Buffer.alloc(300_000, 'é')]) {
      const answer = await channel.unary({ path: '/t.Node/Echo', request });
      assert.equal([code(answer), answer.status.from, answer.bytes.equals(request)], [0, 'node', true]);
    }
  },

  'a request that is a plain Uint8Array within a larger buffer is sent alone': async ({ channel }) => {
    const request = new Uint8Array(new Uint8Array([9, 1, 2, 9]).buffer, 1, 2);
    assert.equal([...(await channel.unary({ path: '/t.Node/Echo', request })).bytes], [1, 2]);
  },

  'metadata go there and come back, bytes and repeated ones too': async ({ channel, node }) => {
    const metadata: Metadata = [
      ['x-echo', 'a, b'],
      ['x-cosmos-block-height', '12'],
      ['x-echo-bin', Buffer.from([0, 200])],
      ['x-echo-bin', Buffer.from([1])],
    ];
    const answer = await channel.unary(call('Echo', '', { metadata }));
    assert.equal(node.seen.metadata.get('x-cosmos-block-height'), ['12']);
    assert.equal(values(answer.headers, 'x-echo'), ['a, b']);
    assert.equal(values(answer.headers, 'x-echo-bin'), ['\0\xc8', '\x01']);
    assert.equal(values(answer.headers, 'x-cosmos-block-height'), ['12']);
    assert.equal([values(answer.trailers, 'x-end'), values(answer.trailers, 'x-end-bin')], [['bye'], ['\0\xff']]);
    const names = [...answer.headers, ...answer.trailers].map(([name]) => name);
    assert.equal(
      names.filter((name) => /^:|^grpc-|content-type/.test(name)),
      [],
    );
  },

  'metadata that would speak for the gateway, or break a header, are not sent': async ({ channel, node }) => {
    const wrong: Metadata = [
      ['grpc-status', '0'],
      ['grpc-timeout', '1H'],
      [':authority', 'evil'],
      ['host', 'evil'],
      ['te', 'x'],
      ['content-type', 'text/html'],
      ['user-agent', 'x'],
      ['X-Upper', 'x'],
      ['x y', 'x'],
      ['x-line', 'a\r\nb: c'],
      ['x-text', 'é'],
      ['x-text-bin', 'text'],
      ['x-bytes', Buffer.from('x')],
      ['x-large', 'x'.repeat(GATEWAY_LIMITS.grpcMetadataBytes)],
    ];
    for (const entry of wrong) {
      const answer = await channel.unary(call('Echo', '', { metadata: [entry] }));
      assert.is(code(answer), GRPC.invalidArgument, entry[0]);
      assert.not.match(answer.status.message, /evil|c:|é/);
    }
    assert.is(node.seen.begun, 0);
  },

  'a status of the node arrives with its text and details, with headers before it or without': async ({ channel }) => {
    for (const hasHeaders of [true, false]) {
      const wish = JSON.stringify({ code: 5, details: 'no “entity” 100% \n', hasHeaders });
      const answer = await channel.unary(call('Fail', wish));
      assert.equal(answer.status, { code: 5, message: 'no “entity” 100% \n', from: 'node' });
      assert.equal(values(answer.trailers, 'grpc-status-details-bin'), ['rich']);
      assert.is(answer.bytes.length, 0);
    }
    assert.is(code(await channel.unary(call('Nowhere'))), GRPC.unimplemented);
  },

  'the node is told the deadline, and a call ends there': async ({ channel, node }) => {
    await channel.unary(call('Echo', '', { deadlineMs: LONG_MS }));
    assert.ok(node.seen.deadlineMs > 0 && node.seen.deadlineMs <= LONG_MS, `${node.seen.deadlineMs}`);
    // The node ends it, too, and may be first to say so.
    const answer = await until('the channel ends the call by itself', async () => {
      const ended = await channel.unary(call('Hang', '', { deadlineMs: 60 }));
      assert.is(code(ended), GRPC.deadlineExceeded);
      return ended.status.from === 'channel' && ended;
    });
    assert.not.match(answer.status.message, /127\.0\.0\.1|:\d/);
    await node.until(({ cancelled }) => cancelled > 0);
  },

  'a channel has a deadline of its own for calls that name none': async ({ open, node }) => {
    const channel = open(node.port, { deadlineMs: 50 });
    assert.is(code(await channel.unary(call('Hang'))), GRPC.deadlineExceeded);
  },

  'an abort ends the call at once and cancels it at the node': async ({ channel, node }) => {
    const stop = new AbortController();
    const answer = channel.unary(call('Hang', '', { signal: stop.signal }));
    await node.until(({ begun }) => begun === 1);
    stop.abort();
    assert.equal([code(await answer), (await answer).status.from], [GRPC.cancelled, 'channel']);
    await node.until(({ cancelled }) => cancelled === 1);
    assert.is(code(await channel.unary(call('Echo', '', { signal: stop.signal }))), GRPC.cancelled);
    assert.is(node.seen.begun, 1, 'an aborted call is not begun');
  },

  'an answer larger than the limit is RESOURCE_EXHAUSTED, one of that size is not': async ({ open, node }) => {
    const channel = open(node.port, { answerBytes: 100_000 });
    assert.is((await channel.unary(call('Big', '100000'))).bytes.length, 100_000);
    const large = await channel.unary(call('Big', '100001'));
    assert.equal([code(large), large.bytes.length], [GRPC.resourceExhausted, 0]);
    assert.is(code(await channel.unary(call('Echo'))), 0, 'the connection goes on');
  },

  'a request larger than the limit is not sent': async ({ channel, node }) => {
    const request = Buffer.alloc(GATEWAY_LIMITS.grpcRequestBytes + 1);
    assert.is(code(await channel.unary({ path: '/t.Node/Echo', request })), GRPC.resourceExhausted);
    assert.is(node.seen.begun, 0);
  },

  'a thousand calls at once are all answered, each with its own answer': async ({ channel }) => {
    const asked = Array.from({ length: 1_000 }, (_, at) => `call ${at}`);
    const answers = await Promise.all(asked.map((text) => channel.unary(call('Echo', text))));
    assert.equal(
      answers.map((answer) => answer.bytes.toString()),
      asked,
    );
  },

  'more calls than the node takes at a time wait for their turn, and may be given up': async ({ open }) => {
    const node = await testNode({ server: { 'grpc.max_concurrent_streams': 2 } });
    const channel = open(node.port);
    await channel.ready(LONG_MS);
    const stop = new AbortController();
    const kept = Array.from({ length: 6 }, () => channel.unary(call('Slow')));
    const left = Array.from({ length: 4 }, () => channel.unary(call('Slow', '', { signal: stop.signal })));
    await node.until(({ begun }) => begun > 0);
    stop.abort();
    assert.equal((await Promise.all(left)).map(code), [1, 1, 1, 1]);
    assert.equal((await Promise.all(kept)).map(code), [0, 0, 0, 0, 0, 0]);
    await channel.close();
    await node.stop();
  },

  'nobody there is UNAVAILABLE long before the deadline, and the text names no address': async ({ open, node }) => {
    await node.stop();
    const channel = open(node.port, FAST);
    const answer = await channel.unary(call('Echo'));
    assert.is(code(answer), GRPC.unavailable);
    assert.not.match(answer.status.message, /127\.0\.0\.1|ECONN|:\d/);
    assert.is(channel.health().state, 'failing');
    assert.match(channel.health().trouble ?? '', /ECONNREFUSED/);
    assert.is(await channel.ready(100), false);
  },

  'it connects again after the node was restarted': async ({ channel, open, node }) => {
    const other = open(node.port, FAST);
    for (const one of [channel, other]) assert.is(code(await one.unary(call('Echo'))), 0);
    await node.stop();
    assert.is(code(await other.unary(call('Echo'))), GRPC.unavailable);
    const again = await testNode({ port: node.port });
    await readyAgain(other);
    assert.is(code(await other.unary(call('Echo'))), 0);
    assert.is(other.health().state, 'ready');
    await other.close();
    await again.stop();
  },

  'a node that says goodbye finishes the calls it has, and new ones go to its successor': async ({ open, node }) => {
    const channel = open(node.port, FAST);
    const running = channel.unary(call('Slow', 'last'));
    await node.until(({ begun }) => begun === 1);
    const drained = node.drain();
    assert.is((await running).bytes.toString(), 'last');
    await drained;
    const again = await testNode({ port: node.port });
    await readyAgain(channel);
    assert.is(code(await channel.unary(call('Echo'))), 0);
    await channel.close();
    await again.stop();
  },

  'a call that the node refused to begin is sent again once, no other is': async ({ open, hostile }) => {
    const refusing = await hostile((at) => (at === 0 ? (stream) => stream.close(7) : well()));
    assert.is((await open(refusing.port).unary(call('Echo'))).bytes.toString(), 'one');
    assert.is(refusing.calls, 2);
    const broken = await hostile(() => (stream) => stream.close(2));
    await open(broken.port).unary(call('Echo'));
    assert.is(broken.calls, 1);
  },

  'whatever a node does wrong has its code, long before the deadline': async ({ open, hostile }) => {
    for (const [name, { does, code: expected }] of Object.entries(MISDEEDS)) {
      const node = await hostile(() => does);
      const codes = [expected].flat();
      const deadlineMs = codes.includes(GRPC.deadlineExceeded) ? 800 : LONG_MS;
      const answer = await open(node.port).unary(call('Echo', '', { deadlineMs }));
      assert.ok(codes.includes(code(answer)), `${name}: ${answer.status.message}`);
      assert.is(answer.bytes.length, 0, name);
    }
  },

  'an answer that comes byte by byte is put together': async ({ open, hostile }) => {
    const node = await hostile(() => well(1));
    assert.is((await open(node.port).unary(call('Echo'))).bytes.toString(), 'one');
  },

  'a server that speaks no HTTP/2 is UNAVAILABLE, and a silent one no later than the deadline': async ({ open }) => {
    const server = createServer((_request, answer) => answer.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const answer = await open(port, FAST).unary(call('Echo'));
    assert.is(code(answer), GRPC.unavailable);
    const silent = await faultProxy({ port });
    await silent.set({ kind: 'freeze' });
    assert.is(code(await open(silent.port).unary(call('Echo', '', { deadlineMs: 60 }))), GRPC.deadlineExceeded);
    await silent.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  },

  'a stream gives its messages in order, then its end and trailers': async ({ channel }) => {
    const stream = channel.stream({ path: '/t.Node/Count', requests: [bytes('3,4'), bytes('2,8')] });
    const sizes: number[][] = [];
    for await (const message of stream.messages) sizes.push([message.readUInt32BE(), message.length]);
    assert.equal(sizes, [
      [0, 4],
      [1, 4],
      [2, 4],
      [0, 8],
      [1, 8],
    ]);
    const end = await stream.end;
    assert.equal([code(end), values(end.trailers, 'x-end')], [0, ['bye']]);
    await stream.headers;
  },

  'a stream that breaks gives what came before, then the status': async ({ channel }) => {
    const stream = channel.stream({ path: '/t.Node/Break', requests: [bytes('')] });
    const got: string[] = [];
    for await (const message of stream.messages) got.push(message.toString());
    assert.equal([got, (await stream.end).status], [['one'], { code: 10, message: 'broke', from: 'node' }]);
  },

  'a reader who takes nothing stops the node, and gets all when he goes on': async ({ channel, node }) => {
    const [count, size] = [2_000, 20_000];
    const stream = channel.stream({ path: '/t.Node/Count', requests: [bytes(`${count},${size}`)] });
    const reader = stream.messages[Symbol.asyncIterator]();
    const orderOf = ({ value }: IteratorResult<Buffer>) => value.readUInt32BE() as number;
    assert.is(orderOf(await reader.next()), 0);
    const held = await standstill(node);
    assert.ok(held * size < 12_000_000, `${held} of ${count} messages of ${size} bytes were sent ahead`);
    let got = 1;
    for (let next = await reader.next(); !next.done; next = await reader.next()) assert.is(orderOf(next), got++);
    assert.equal([got, code(await stream.end)], [count, 0]);
  },

  'a stream that the node has ended gives all of its messages to a reader who comes late': async ({
    channel,
    node,
  }) => {
    // More than a stream takes ahead of its reader, and few enough for the node to end the call at once.
    const open = async (ended: number) => {
      const stream = channel.stream({ path: '/t.Node/Count', requests: [bytes('20,10000')] });
      await node.until((seen) => seen.ended === ended);
      // What was sent before this answer has come.
      await channel.unary(call('Echo'));
      return stream;
    };
    const stream = await open(1);
    let got = 0;
    for await (const { length } of stream.messages) got += length;
    assert.equal([got, code(await stream.end)], [200_000, GRPC.ok]);
    const left = await open(2);
    for await (const _ of left.messages) break;
    // Whether the channel has heard the end before the reader leaves is a matter of time.
    assert.ok([GRPC.ok, GRPC.cancelled].includes(code(await left.end) as never));
  },

  'leaving a stream cancels it at the node': async ({ channel, node }) => {
    const stream = channel.stream({ path: '/t.Node/Count', requests: [bytes('100000,1000')] });
    for await (const _ of stream.messages) break;
    assert.is(code(await stream.end), GRPC.cancelled);
    await node.until(({ cancelled }) => cancelled === 1);
  },

  'a stream ends for a reader who leaves it while more messages wait than it takes ahead': async ({
    channel,
    node,
  }) => {
    const stream = channel.stream({ path: '/t.Node/Count', requests: [bytes('100000,5000')] });
    await standstill(node);
    for await (const _ of stream.messages) break;
    assert.is(code(await stream.end), GRPC.cancelled);
    await node.until(({ cancelled }) => cancelled === 1);
  },

  'a stream has a deadline too, and refuses what a call refuses': async ({ channel }) => {
    const endless = { path: '/t.Node/Count', requests: [bytes('100000000,10000')] };
    const late = channel.stream({ ...endless, deadlineMs: 80 });
    for await (const _ of late.messages);
    assert.is(code(await late.end), GRPC.deadlineExceeded);
    const refused = channel.stream({ ...endless, metadata: [['host', 'x']] });
    for await (const _ of refused.messages) assert.unreachable();
    assert.equal([code(await refused.end), await refused.headers], [GRPC.invalidArgument, []]);
  },

  'closing lets running calls end and takes no more': async ({ channel, node }) => {
    const running = channel.unary(call('Slow', 'last'));
    await node.until(({ begun }) => begun === 1);
    const closed = channel.close();
    const refused = await channel.unary(call('Echo'));
    assert.equal([code(refused), refused.status.from], [GRPC.unavailable, 'channel']);
    assert.is((await running).bytes.toString(), 'last');
    await Promise.all([closed, channel.close()]);
    assert.equal([channel.health().state, await channel.ready(10)], ['closed', false]);
  },

  'over TLS it speaks to a node whose authority it was given, and to no other': async ({ open }) => {
    const tls = LOCALHOST;
    const node = await testNode({ tls });
    const upstream = `localhost:${node.port}`;
    const trusting = open(node.port, { upstream, tls: { ca: tls.cert } });
    assert.is((await trusting.unary(call('Echo', 'safe'))).bytes.toString(), 'safe');
    const strict = open(node.port, { upstream, tls: true, ...FAST });
    const plain = open(node.port, { ...FAST, connectMs: 200 });
    for (const wary of [strict, plain]) assert.is(code(await wary.unary(call('Echo'))), GRPC.unavailable);
    for (const one of [trusting, strict, plain]) await one.close();
    await node.stop();
  },

  'an address that is none is refused when the channel is opened': async ({ open }) => {
    const opened = (upstream: string) => () => open(0, { upstream });
    for (const upstream of ['', 'node', 'node:0', 'node:99999', 'http://node:1', 'unix:/x', 'a:1/b', 'u@h:1'])
      assert.throws(opened(upstream), (error: { code?: string }) => error.code === 'ERR_CONFIG', upstream);
  },
};

/** Registers the contract for one kind of channel. */
export function channelContract(name: string, openChannel: OpenChannel): void {
  const test = suite(name);
  for (const [sentence, shown] of Object.entries(PROMISES))
    test(sentence, async () => {
      const node = await testNode();
      const channels: Channel[] = [];
      const hostile: HostileNode[] = [];
      const open = (port: number, options: Partial<ChannelOptions> = {}) => {
        const channel = openChannel({
          upstream: `127.0.0.1:${port}`,
          deadlineMs: LONG_MS,
          connectMs: LONG_MS,
          ...options,
        });
        channels.push(channel);
        return channel;
      };
      try {
        await shown({
          node,
          channel: open(node.port),
          open,
          hostile: async (misdeed) => {
            hostile.push(await hostileNode(misdeed));
            return hostile.at(-1)!;
          },
        });
      } finally {
        // What hangs at the node would be waited for.
        await Promise.all([node.stop(), ...hostile.map((one) => one.stop())]);
        await Promise.all(channels.map((channel) => channel.close()));
      }
    });
  test.run();
}

// A channel may be in the pause after a failed attempt.
function readyAgain(channel: Channel): Promise<boolean> {
  return until('the channel is ready', () => channel.ready(100));
}

// How many messages were written when no more are, for some looks.
async function standstill({ seen }: TestNode): Promise<number> {
  let [before, same] = [-1, 0];
  await until('the node stops writing', () => {
    same = seen.written === before ? same + 1 : 0;
    before = seen.written;
    return before > 0 && same === 10;
  });
  return before;
}

const pem = (name: string) => readFileSync(new URL(`../fixtures/tls/localhost.${name}.pem`, import.meta.url), 'utf8');

/** Key and certificate of `localhost`, which is its own authority. */
export const LOCALHOST = { key: pem('key'), cert: pem('cert') };
