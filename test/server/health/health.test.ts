// Alive, ready, healthy: the exact shapes, HEAD, and what they say while the server stops.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
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

test.run();
