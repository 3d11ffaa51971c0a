// The end of a server: what is in flight is answered, idle connections do not hold it up, stuck ones are cut off.

import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { listen } from '../../../server/http/listen.ts';
import { timed } from '../../support/timed.ts';
import { DIAL, testRoutes, withServer } from '../support/serve.ts';

const test = suite('drain');

const slow = (ms: number) =>
  testRoutes({
    'GET /slow': async (ctx) => {
      await pause(ms);
      ctx.body = { done: true };
    },
  });

test('a request in flight is answered, and then the connection is closed', () =>
  withServer({ routes: [slow(300)] }, async (server) => {
    const agent = new Agent({ keepAlive: true });
    const answered = new Promise<{ body: string; connection: string | undefined }>((resolve, reject) => {
      const sent = request(`${server.url}/slow`, { agent }, (res) => {
        let body = '';
        res.on('data', (chunk) => {
          body += chunk;
        });
        res.on('end', () => resolve({ body, connection: res.headers.connection }));
      });
      sent.on('error', reject);
      sent.end();
    });
    await pause(100);
    const { ms } = await timed(() => server.close({ drainDelayMs: 0 }));
    assert.ok(ms < 1_500, `it waits for the answer and no longer: ${ms} ms`);
    assert.is((await answered).body, '{"done":true}');
    agent.destroy();
  }));

test('while it drains, requests are still served', () =>
  withServer({}, async (server) => {
    const closing = server.close({ drainDelayMs: 300 });
    assert.match(await server.ussd(DIAL), /^CON /);
    await pause(150);
    assert.match(await server.ussd({ ...DIAL, text: '1' }), /^CON Know more/);
    await closing;
  }));

test('connections that are kept alive or silent do not hold it up', () =>
  withServer({}, async (server) => {
    const { port } = new URL(server.url);
    const silent = connect(Number(port), '127.0.0.1');
    const kept = connect(Number(port), '127.0.0.1');
    kept.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => kept.once('data', resolve));
    const { ms } = await timed(() => server.close({ drainDelayMs: 0 }));
    assert.ok(ms < 1_000, `${ms} ms`);
    silent.destroy();
    kept.destroy();
  }));

test('closing again is the same closing', () =>
  withServer({}, async (server) => {
    const first = server.close({ drainDelayMs: 0 });
    assert.is(server.close({ drainDelayMs: 60_000 }), first);
    await first;
  }));

test('what does not end in time is cut off', async () => {
  const door = await listen(() => {}, { host: '127.0.0.1', port: 0 });
  const cut = new Promise((resolve) =>
    request(door.url)
      .on('error', (error) => resolve((error as { code?: string }).code))
      .end(),
  );
  await pause(50);
  const { ms } = await timed(() => door.close(200));
  assert.ok(ms < 700, `${ms} ms`);
  assert.is(await cut, 'ECONNRESET');
});

test('a port that is taken, or that nobody has, is told in words', async () => {
  const door = await listen((_req, res) => res.end(), { host: '127.0.0.1', port: 0 });
  const port = Number(new URL(door.url).port);
  await assertRejects(
    listen(() => {}, { host: '127.0.0.1', port }),
    /^Cannot listen on 127\.0\.0\.1:\d+: another program uses it\./,
  );
  await door.close(0);
  await assertRejects(
    listen(() => {}, { host: '203.0.113.1', port: 0 }),
    /this machine has no such address/,
  );
});

async function assertRejects(work: Promise<unknown>, message: RegExp): Promise<void> {
  const error = await work.then(
    () => undefined,
    (thrown: Error & { code?: string }) => thrown,
  );
  assert.is(error?.code, 'ERR_CONFIG');
  assert.match(error!.message, message);
}

test.run();
