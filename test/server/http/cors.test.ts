// Which door lets pages of other origins ask and read what; the rules of each door are tested in cors-headers.test.ts.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, DIAL, json, sharedServer, withServer } from '../support/serve.ts';

const test = suite('cors');
const server = sharedServer(test, {});

const ORIGIN = 'https://a.example';
const asking = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-did' };

test('CORS_ORIGIN lists the origins that are let in, with credentials', () =>
  withServer({ env: { CORS_ORIGIN: `${ORIGIN},http://localhost:5173` } }, async ({ ask }) => {
    for (const method of ['GET', 'OPTIONS'])
      for (const origin of [ORIGIN, 'http://localhost:5173', 'https://A.example', 'null', '']) {
        const { headers } = await ask('/health', { method, headers: { origin, ...(method === 'OPTIONS' && asking) } });
        const allowed = [headers['access-control-allow-origin'], headers['access-control-allow-credentials']];
        const isListed = origin === ORIGIN || origin.startsWith('http:');
        assert.equal(allowed, isListed ? [origin, 'true'] : [undefined, undefined], `${method} ${origin}`);
        if (method === 'GET') assert.match(headers.vary!, /Origin/);
      }
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

test('a preflight names the methods, and exactly the headers of its door; it takes no turn', async () => {
  for (const [path, names] of Object.entries(ASKED)) {
    const { status, headers } = await server().ask(path, { method: 'OPTIONS', headers: { origin: ORIGIN, ...asking } });
    assert.equal([status, headers['access-control-allow-origin']], [204, '*'], path);
    assert.is(headers['access-control-allow-methods'], 'GET,POST,PUT,DELETE,PATCH,OPTIONS');
    assert.is(headers['access-control-allow-headers']!.toLowerCase(), names, path);
  }
});

const SHOWN: Readonly<Record<string, string>> = {
  '/health': 'X-Request-Id,ETag,Retry-After,Allow,WWW-Authenticate',
  '/nowhere': 'X-Request-Id,ETag,Retry-After,Allow,WWW-Authenticate',
  '/v1/domains': 'X-Request-Id,ETag,Location,Link,Retry-After,Accept-Patch,Allow,WWW-Authenticate',
  '/sessions': 'X-Request-Id',
};

test('answers to pages of other origins show what their door says in headers, on every route and on errors', async () => {
  const shown = ({ headers }: Answer) => {
    assert.equal(
      [headers['access-control-allow-origin'], headers['access-control-allow-credentials']],
      ['*', undefined],
    );
    assert.ok(headers['x-request-id']);
    return headers['access-control-expose-headers'];
  };
  for (const [path, names] of Object.entries(SHOWN))
    assert.is(shown(await server().ask(path, { headers: { origin: ORIGIN } })), names, path);
  assert.is(shown(await server().ask('/api/ussd', json(DIAL, { origin: ORIGIN }))), 'X-Request-Id,Retry-After');
});

test.run();
