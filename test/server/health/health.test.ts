// Alive, ready, healthy: the exact shapes, HEAD, and what they say while the server stops.

import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AwayReason, type StoreHealth, type Watched, watchHealth } from '../../../server/health/health.ts';
import { withServer } from '../support/serve.ts';

const test = suite('health');

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test('/health has exactly status, environment, timestamp, uptime and database', () =>
  withServer({ env: { NODE_ENV: 'test' } }, async (server) => {
    const answer = await server.ask('/health');
    assert.is(answer.status, 200);
    const { timestamp, uptime, ...rest } = answer.json() as { timestamp: string; uptime: number };
    assert.equal(rest, { status: 'ok', environment: 'test', database: 'connected' });
    assert.match(timestamp, ISO);
    assert.ok(uptime > 0);
  }));

test('/ has exactly status, message, environment and timestamp', () =>
  withServer({}, async (server) => {
    const { timestamp, message, ...rest } = (await server.ask('/')).json() as { timestamp: string; message: string };
    assert.equal(rest, { status: 'ok', environment: 'development' });
    assert.match(timestamp, ISO);
    assert.type(message, 'string');
  }));

test('HEAD answers like GET, without a body', () =>
  withServer({}, async (server) => {
    for (const path of ['/', '/health', '/livez', '/readyz']) {
      const answer = await server.ask(path, { method: 'HEAD' });
      assert.equal([answer.status, answer.text], [200, ''], path);
      assert.match(answer.headers['content-type']!, /json/);
    }
  }));

test('while it stops it is alive and not ready, and tells clients to go elsewhere', () =>
  withServer({}, async (server) => {
    const closing = server.close({ drainDelayMs: 300 });
    assert.is((await server.ask('/livez')).status, 200);
    const ready = await server.ask('/readyz');
    assert.equal([ready.status, ready.json()], [503, { status: 'draining' }]);
    assert.is((await server.ask('/health', { headers: { connection: 'keep-alive' } })).headers.connection, 'close');
    await closing;
    const gone = await server.ask('/livez').catch((error) => error.code);
    assert.is(gone, 'ECONNREFUSED');
  }));

/** A store behind a socket, as Redis is: it answers after `ms`, or never. */
async function withRemoteStore(ms: number | 'never', work: (store: Watched) => Promise<void>): Promise<void> {
  const remote = new Worker(REMOTE, { eval: true, workerData: ms });
  const [port] = (await once(remote, 'message')) as [number];
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const ping = async () => {
    socket.write('?');
    await once(socket, 'data');
  };
  try {
    await work({ keeps: 'sessions', kind: 'remote', ping });
  } finally {
    socket.destroy();
    await remote.terminate();
  }
}

// In a thread of its own, so that it answers while the loop of the server stands still.
const REMOTE = `
  const { workerData: ms, parentPort } = require('node:worker_threads');
  const answer = (socket) => setTimeout(() => socket.write('!'), ms);
  const server = require('node:net').createServer((socket) => socket.on('data', () => ms !== 'never' && answer(socket)));
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** Keeps the event loop busy for so long, again and again, until the work is done. */
async function withLateLoop<T>(ms: number, work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const block = () => {
    for (const end = performance.now() + ms; performance.now() < end; );
    if (!isOver) setTimeout(block, 1);
  };
  block();
  try {
    return await work();
  } finally {
    isOver = true;
  }
}

for (const blockMs of [100, 400])
  test(`a store that answers is not called away because the event loop is ${blockMs} ms late`, () =>
    withRemoteStore(5, async (store) => {
      const health = watchHealth([store]);
      for (let tries = 0; tries < 3; tries++) {
        const [seen] = await withLateLoop(blockMs, () => health.stores());
        assert.equal(seen, { keeps: 'sessions', kind: 'remote' });
        await new Promise((resolve) => setTimeout(resolve, 260));
      }
    }));

test('a store that answers late is away until it has answered, and then there, not by turns; in silence it is away', async () => {
  let ms = 150;
  const ping = () => new Promise<void>((resolve) => (ms === Infinity ? undefined : setTimeout(resolve, ms)));
  const changes: (AwayReason | 'there')[] = [];
  const onChange = ({ away }: StoreHealth) => changes.push(away ?? 'there');
  const health = watchHealth([{ keeps: 'documents', kind: 'far', ping }], { onChange });
  const askFor = async (askedMs: number) => {
    for (const end = performance.now() + askedMs; performance.now() < end; await pause(20)) await health.stores();
  };
  await askFor(2_000);
  assert.equal(changes, ['no-answer', 'there']);
  ms = Infinity;
  await askFor(3_000);
  assert.equal(changes, ['no-answer', 'there', 'no-answer']);
  ms = 1;
  await askFor(1_500);
  assert.equal(changes, ['no-answer', 'there', 'no-answer', 'there']);
});

test('a store that does not answer is called away, with a late loop after a few turns of it', () =>
  withRemoteStore('never', async (store) => {
    const away = { keeps: 'sessions', kind: 'remote', away: 'no-answer' };
    assert.equal(await watchHealth([store]).stores(), [away]);
    const begun = performance.now();
    assert.equal(await withLateLoop(50, () => watchHealth([store]).stores()), [away]);
    assert.ok(performance.now() - begun < 1_000);
  }));

test.run();
