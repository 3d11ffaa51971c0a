// Pages of other origins: any without credentials, or exactly the listed ones with them.

import Koa from 'koa';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { listen } from '../../../server/http/listen.ts';
import { crossOrigin } from '../../../server/http/middleware/cors.ts';
import { type Answer, ask, DIAL, json, type Served, withServer } from '../support/serve.ts';

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

// The agent's as its interface is published; each other door's own.
const ASKED: Readonly<Record<string, string>> = {
  '/api/ussd': 'content-type,x-request-id',
  '/api/ussd/hubtel': 'content-type,x-request-id',
  '/v1/domains': 'content-type,authorization,x-request-id,if-match,if-none-match,idempotency-key,last-event-id',
  '/1.0/identifiers/did:ixo:x':
    'content-type,authorization,x-request-id,if-match,if-none-match,idempotency-key,last-event-id',
  '/sessions':
    'content-type,authorization,x-ucan-delegation,x-matrix-access-token,x-matrix-homeserver,x-did,x-request-id,x-auth-type,x-timezone',
  '/messages/s1':
    'content-type,authorization,x-ucan-delegation,x-matrix-access-token,x-matrix-homeserver,x-did,x-request-id,x-auth-type,x-timezone',
  '/runs/r1':
    'content-type,authorization,x-ucan-delegation,x-matrix-access-token,x-matrix-homeserver,x-did,x-request-id,x-auth-type,x-timezone',
  '/health': 'content-type,authorization,x-request-id,if-none-match,last-event-id',
  '/nowhere': 'content-type,authorization,x-request-id,if-none-match,last-event-id',
};

test('a preflight names the methods, and exactly the headers of its door; it takes no turn', () =>
  withServer({}, async (server) => {
    for (const [path, names] of Object.entries(ASKED)) {
      const { status, headers } = await preflight(server, 'https://a.example', path);
      assert.is(status, 204, path);
      assert.is(headers['access-control-allow-methods'], 'GET,POST,PUT,DELETE,PATCH,OPTIONS');
      assert.is(headers['access-control-allow-headers']!.toLowerCase(), names, path);
    }
  }));

const SHOWN: Readonly<Record<string, string>> = {
  '/health': 'X-Request-Id,ETag,Retry-After,Allow,WWW-Authenticate',
  '/nowhere': 'X-Request-Id,ETag,Retry-After,Allow,WWW-Authenticate',
  '/v1/domains': 'X-Request-Id,ETag,Location,Link,Retry-After,Accept-Patch,Allow,WWW-Authenticate',
  '/sessions': 'X-Request-Id',
};

test('answers to pages of other origins show what their door says in headers, on every route and on errors', () =>
  withServer({}, async (server) => {
    const origin = 'https://a.example';
    const shown = ({ headers }: Answer) => {
      assert.is(headers['access-control-allow-origin'], '*');
      assert.ok(headers['x-request-id']);
      return headers['access-control-expose-headers'];
    };
    for (const [path, names] of Object.entries(SHOWN))
      assert.is(shown(await server.ask(path, { headers: { origin } })), names, path);
    assert.is(shown(await server.ask('/api/ussd', json(DIAL, { origin }))), 'X-Request-Id,Retry-After');
  }));

test('the gateway lets pages set metadata of a call by name, and no other header', async () => {
  const { gateway } = crossOrigin({ corsOrigins: '*' });
  const app = new Koa().use(gateway);
  const door = await listen(app.callback(), { host: '127.0.0.1', port: 0 });
  const headers = {
    origin: 'https://a.example',
    'access-control-request-method': 'GET',
    'access-control-request-headers':
      'grpc-metadata-tenant, Grpc-Metadata-x.y-bin,grpc-metadata-,x-did,grpc-metadata-a b',
  };
  const answer = await ask(door.url, { method: 'OPTIONS', headers });
  await door.close(0);
  assert.is(
    answer.headers['access-control-allow-headers'],
    'Content-Type,Authorization,x-request-id,x-cosmos-block-height,Grpc-Timeout,grpc-metadata-tenant,Grpc-Metadata-x.y-bin',
  );
});

test.run();
