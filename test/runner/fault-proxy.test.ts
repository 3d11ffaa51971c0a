// The proxy does what its faults say: what is proved behind it is proved against the real fault.

import { createServer, connect as dial, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Fault, type FaultProxy, faultProxy, PASS } from '../support/fault-proxy.ts';

const test = suite('fault proxy');

interface Bench {
  readonly proxy: FaultProxy;
  /** What the server was told, in order. */
  readonly heard: readonly string[];
  client(): Promise<Client>;
}

interface Client {
  say(text: string): void;
  /** What came back within a moment. */
  said(ms?: number): Promise<string>;
  /** What came back, when it is so many characters; fails after 5 s. */
  heard(characters: number): Promise<string>;
  /** Why the connection ended, or undefined while it lasts. */
  ended(): string | undefined;
  leave(): void;
}

/** A server that answers every text with the text in capitals, behind a proxy. */
async function withBench(work: (bench: Bench) => Promise<void>): Promise<void> {
  const heard: string[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      heard.push(String(bytes));
      socket.write(String(bytes).toUpperCase());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy = await faultProxy(server.address() as { port: number });
  try {
    await work({ proxy, heard, client: () => client(proxy.port, sockets) });
  } finally {
    await proxy.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}

function client(port: number, sockets: Socket[]): Promise<Client> {
  const socket = dial(port, '127.0.0.1');
  sockets.push(socket);
  let text = '';
  let end: string | undefined;
  socket.on('data', (bytes) => {
    text += bytes;
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    end = error.code;
  });
  socket.on('close', () => {
    end ??= 'closed';
  });
  const said = async (ms = 40) => {
    await pause(ms);
    const all = text;
    text = '';
    return all;
  };
  const heard = async (characters: number) => {
    const until = performance.now() + 5_000;
    while (text.length < characters && performance.now() < until) await pause(2);
    return said(0);
  };
  const say = (words: string) => void socket.write(words);
  return new Promise((resolve, reject) => {
    socket.on('connect', () => resolve({ say, said, heard, ended: () => end, leave: () => void socket.destroy() }));
    socket.on('error', reject);
  });
}

const refusal = (bench: Bench) => bench.client().catch((error: NodeJS.ErrnoException) => error.code);

test('pass: both ways', () =>
  withBench(async ({ client }) => {
    const one = await client();
    one.say('a');
    assert.is(await one.said(), 'A');
  }));

test('refuse: nobody listens, open connections end, and afterwards the same port answers', () =>
  withBench(async (bench) => {
    const one = await bench.client();
    await bench.proxy.set({ kind: 'refuse' });
    await pause(20);
    assert.is(one.ended(), 'closed');
    assert.is(await refusal(bench), 'ECONNREFUSED');
    await bench.proxy.set(PASS);
    const other = await bench.client();
    other.say('b');
    assert.is(await other.said(), 'B');
  }));

test('latency: later, in both directions, in order', () =>
  withBench(async ({ client, proxy }) => {
    const one = await client();
    await proxy.set({ kind: 'latency', ms: 60 });
    const begun = performance.now();
    one.say('a');
    await pause(5);
    one.say('b');
    assert.is(await one.heard(2), 'AB');
    assert.ok(performance.now() - begun > 2 * 60 - 5, 'late on the way there and back');
    one.say('c');
    await pause(5);
    await proxy.set(PASS);
    one.say('d');
    assert.is(await one.heard(2), 'CD', 'what is on its way when the fault is lifted is not overtaken');
  }));

test('freeze: connected and silent; what was said arrives afterwards, also from a client that has gone', () =>
  withBench(async ({ client, proxy, heard }) => {
    const one = await client();
    await proxy.set({ kind: 'freeze' });
    const late = await client();
    one.say('a');
    late.say('b');
    assert.is((await one.said()) + (await late.said()), '');
    assert.equal([heard.length, one.ended(), late.ended()], [0, undefined, undefined]);
    late.leave();
    await pause(20);
    await proxy.set(PASS);
    assert.is(await one.said(), 'A');
    assert.equal([...heard].sort(), ['a', 'b']);
  }));

test('reset: open and new connections are cut off', () =>
  withBench(async (bench) => {
    const one = await bench.client();
    await bench.proxy.set({ kind: 'reset' });
    await pause(20);
    assert.is(one.ended(), 'ECONNRESET');
    const other = await bench.client().catch(() => undefined);
    await pause(20);
    assert.ok(other === undefined || other.ended() !== undefined);
  }));

for (const after of ['close', 'stall'] as const)
  test(`lose-reply, ${after}: the request is carried out, its reply never comes, others are answered until then`, () =>
    withBench(async ({ client, proxy, heard }) => {
      const [one, other] = [await client(), await client()];
      const fault: Fault = { kind: 'lose-reply', to: /write/, after };
      await proxy.set(fault);
      one.say('read');
      assert.is(await one.said(), 'READ');
      one.say('write');
      assert.is(await one.said(), '');
      assert.equal(heard, ['read', 'write']);
      assert.is(proxy.lost, 1);
      assert.is(one.ended(), after === 'close' ? 'closed' : undefined);
      other.say('read');
      assert.is(await other.said(), 'READ');
      await proxy.set(PASS);
      await pause(20);
      assert.is(one.ended(), 'closed', 'nobody goes on after a reply that is missing');
    }));

test.run();
