// The end of a server: what is in flight is answered, idle connections do not hold it up, stuck ones are cut off. The clock stands
// still, so an end that needs no deadline is one that waits for nothing.

import { once } from 'node:events';
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { listen } from '../../../server/http/listen.ts';
import { until } from '../../support/until.ts';
import { DIAL, testRoutes, untilClosed, withServer } from '../support/serve.ts';

const test = suite('drain');

function latch(): { readonly promise: Promise<void>; readonly open: () => void } {
  let open = () => {};
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

test('a request in flight is answered, and then the connection is closed', async () => {
  const [arrived, mayAnswer] = [latch(), latch()];
  const slow = testRoutes({
    'GET /slow': async (ctx) => {
      arrived.open();
      await mayAnswer.promise;
      ctx.body = { done: true };
    },
  });
  await withServer({ routes: [slow], clock: new SimulatedClock() }, async (server) => {
    const agent = new Agent({ keepAlive: true });
    const answered = new Promise<string>((resolve, reject) => {
      const sent = request(`${server.url}/slow`, { agent }, (res) => {
        let body = '';
        res.on('data', (chunk) => {
          body += chunk;
        });
        res.on('end', () => resolve(body));
      });
      sent.on('error', reject);
      sent.end();
    });
    await arrived.promise;
    const closed = server.close({ drainDelayMs: 0 });
    assert.is(server.close({ drainDelayMs: 60_000 }), closed, 'closing again is the same closing');
    mayAnswer.open();
    assert.is(await answered, '{"done":true}');
    await closed;
    agent.destroy();
  });
});

test('while it drains, requests are still served, and readiness says that it ends', async () => {
  const clock = new SimulatedClock();
  await withServer({ clock }, async (server) => {
    const closing = server.close({ drainDelayMs: 300 });
    assert.match(await server.ussd(DIAL), /^CON /);
    await clock.advance(299);
    assert.match(await server.ussd({ ...DIAL, text: '1' }), /^CON Know more/);
    assert.is((await server.ask('/readyz')).status, 503);
    const late = connect(Number(new URL(server.url).port), '127.0.0.1').setEncoding('latin1');
    await once(late, 'connect');
    await clock.advance(1);
    // A proxy has opened a connection, and sends its request after the server has stopped to take more.
    await until('the server to take no more connections', () => refuses(server.url));
    late.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
    const [answer] = await once(late, 'data');
    assert.match(answer as string, /^HTTP\/1\.1 200 [\s\S]*Connection: close/);
    await untilClosed(closing, clock);
  });
});

async function refuses(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  try {
    await once(socket, 'connect');
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
}

test('connections that are kept alive or silent do not hold it up', () =>
  withServer({ clock: new SimulatedClock() }, async (server) => {
    const { port } = new URL(server.url);
    const silent = connect(Number(port), '127.0.0.1');
    const kept = connect(Number(port), '127.0.0.1');
    await new Promise((resolve) => silent.once('connect', resolve));
    kept.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => kept.once('data', resolve));
    await server.close({ drainDelayMs: 0 });
    silent.destroy();
    kept.destroy();
  }));

test('what does not end in time is cut off', async () => {
  const clock = new SimulatedClock();
  const arrived = latch();
  const door = await listen(() => arrived.open(), { host: '127.0.0.1', port: 0, connections: { clock } });
  let code: string | undefined;
  const cut = new Promise<void>((resolve) =>
    request(door.url)
      .on('error', (error: NodeJS.ErrnoException) => {
        code = error.code;
        resolve();
      })
      .end(),
  );
  await arrived.promise;
  const closed = door.close(200);
  await clock.advance(199);
  assert.is(code, undefined);
  await clock.advance(1);
  await Promise.all([cut, closed]);
  assert.is(code, 'ECONNRESET');
});

/** A client that asks, and what it was told. */
function dial(url: string, path = '/') {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
  const texts: string[] = [];
  socket.on('data', (text: string) => texts.push(text)).on('error', ({ message }) => texts.push(message));
  const ask = () => void socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  ask();
  return { socket, ask, said: () => texts.join(''), ended: new Promise((resolve) => socket.once('close', resolve)) };
}

test('what clients had sent is answered whole: to those who read late, are kept alive, or were not accepted yet', async () => {
  const large = 'x'.repeat(20_000_000);
  const answer = ({ url }: IncomingMessage, res: ServerResponse) => res.end(url === '/' ? 'done' : large);
  const door = await listen(answer, { host: '127.0.0.1', port: 0, connections: { clock: new SimulatedClock() } });
  const kept = Array.from({ length: 20 }, () => dial(door.url));
  const late = dial(door.url, '/large');
  late.socket.once('data', () => late.socket.pause());
  await until('the first answers', () => late.socket.isPaused() && kept.every(({ said }) => said().endsWith('done')));
  const fresh = Array.from({ length: 40 }, () => dial(door.url));
  await Promise.all(fresh.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve))));
  for (const { ask } of kept) ask();
  const closed = door.close(60_000);
  await Promise.all(fresh.map(({ ended }) => ended));
  late.socket.resume();
  await Promise.all([...kept, late].map(({ ended }) => ended));
  await closed;
  for (const { said } of fresh) assert.match(said(), /^HTTP\/1\.1 200 .*done$/s);
  for (const { said } of kept) assert.match(said(), /^HTTP\/1\.1 200 .*done.*HTTP\/1\.1 200 .*done$/s);
  assert.is(late.said().split('\r\n\r\n')[1]?.length, large.length);
});

test('a port that is taken, or that nobody has, is told in words', async () => {
  const door = await listen((_req, res) => res.end(), { host: '127.0.0.1', port: 0 });
  const refusal = (host: string, port: number) =>
    listen(() => {}, { host, port }).then(
      () => 'it listens',
      (error: Error & { code?: string }) => `${error.code} ${error.message}`,
    );
  const taken = await refusal('127.0.0.1', Number(new URL(door.url).port));
  assert.match(taken, /^ERR_CONFIG Cannot listen on 127\.0\.0\.1:\d+: another program uses it\./);
  await door.close(0);
  assert.match(await refusal('203.0.113.1', 0), /^ERR_CONFIG .*this machine has no such address/);
});

test.run();
