// Pages of other origins: any without credentials, or exactly the listed ones with them.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, DIAL, json, type Served, withServer } from './serve.ts';

const test = suite('cors');

const allowed = ({ headers }: Answer) => [
  headers['access-control-allow-origin'],
  headers['access-control-allow-credentials'],
];
const get = (server: Served, origin: string) => server.ask('/health', { headers: { origin } });
const preflight = (server: Served, origin: string, path = '/health') =>
  server.ask(path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-did' },
  });

test('* lets any origin in and never with credentials, null included', () =>
  withServer({}, async (server) => {
    for (const origin of ['https://evil.example', 'null', 'http://localhost:5173']) {
      assert.equal(allowed(await get(server, origin)), ['*', undefined]);
      assert.equal(allowed(await preflight(server, origin)), ['*', undefined]);
    }
  }));

test('a list lets exactly its origins in, with credentials', () =>
  withServer({ env: { CORS_ORIGIN: 'https://a.example,http://localhost:5173' } }, async (server) => {
    for (const origin of ['https://a.example', 'http://localhost:5173']) {
      assert.equal(allowed(await get(server, origin)), [origin, 'true']);
      assert.equal(allowed(await preflight(server, origin)), [origin, 'true']);
    }
    const others = [
      'https://b.example',
      'null',
      'https://a.example.evil.example',
      'http://a.example',
      'https://A.example',
      '',
    ];
    for (const origin of others) {
      assert.equal(allowed(await get(server, origin)), [undefined, undefined], origin);
      assert.equal(allowed(await preflight(server, origin)), [undefined, undefined], origin);
    }
    assert.match((await get(server, 'https://b.example')).headers.vary!, /Origin/);
  }));

test('a preflight names the methods and headers that may be used, and takes no turn', () =>
  withServer({}, async (server) => {
    for (const path of ['/health', '/api/ussd', '/nowhere']) {
      const { status, headers } = await preflight(server, 'https://a.example', path);
      assert.is(status, 204, path);
      assert.is(headers['access-control-allow-methods'], 'GET,POST,PUT,DELETE,PATCH,OPTIONS');
      const names = headers['access-control-allow-headers']!.toLowerCase()
        .split(',')
        .map((name) => name.trim());
      for (const name of ['content-type', 'authorization', 'x-ucan-delegation', 'x-matrix-access-token', 'x-did'])
        assert.ok(names.includes(name), name);
      for (const name of ['if-match', 'if-none-match', 'idempotency-key', 'last-event-id'])
        assert.ok(names.includes(name), name);
      for (const name of ['x-matrix-homeserver', 'x-request-id', 'x-auth-type', 'x-timezone'])
        assert.ok(names.includes(name), name);
    }
  }));

const SHOWN = 'X-Request-Id,ETag,Location,Link,Retry-After,Accept-Patch,Allow,WWW-Authenticate,X-Cosmos-Block-Height';

test('answers to pages of other origins show X-Request-Id and what /v1 says in headers, on every route and on errors', () =>
  withServer({}, async (server) => {
    const origin = 'https://a.example';
    for (const answer of [
      await get(server, origin),
      await server.ask('/api/ussd', json(DIAL, { origin })),
      await server.ask('/nowhere', { headers: { origin } }),
      await server.ask('/v1/domains', { headers: { origin } }),
    ]) {
      assert.is(answer.headers['access-control-expose-headers'], SHOWN);
      assert.is(answer.headers['access-control-allow-origin'], '*');
      assert.ok(answer.headers['x-request-id']);
    }
  }));

test.run();
