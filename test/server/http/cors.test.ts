// Which door lets pages of other origins ask and read what; the rules of each door are tested in cors-headers.test.ts.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DIAL, json, sharedServer, withServer } from '../support/serve.ts';

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

/** The headers that pages may read, which differ from door to door. */
const DOORS = {
  ussd: 'X-Request-Id,Retry-After',
  domain: 'X-Request-Id,ETag,Location,Link,Retry-After,Accept-Patch,Allow,WWW-Authenticate',
  agent: 'X-Request-Id',
  others: 'X-Request-Id,ETag,Retry-After,Allow,WWW-Authenticate',
} as const;

const PATHS: Readonly<Record<string, keyof typeof DOORS>> = {
  '/api/ussd': 'ussd',
  '/api/ussd/hubtel': 'ussd',
  '/v1/domains': 'domain',
  '/1.0/identifiers/did:ixo:x': 'domain',
  '/sessions': 'agent',
  '/messages/s1': 'agent',
  '/runs/r1': 'agent',
  '/health': 'others',
  '/nowhere': 'others',
};

test('any origin may ask each door without credentials; preflights and answers, errors too, are those of the door', async () => {
  for (const [path, door] of Object.entries(PATHS)) {
    const { ask } = server();
    const preflight = await ask(path, { method: 'OPTIONS', headers: { origin: ORIGIN, ...asking } });
    const answer = await ask(path, door === 'ussd' ? json(DIAL, { origin: ORIGIN }) : { headers: { origin: ORIGIN } });
    for (const { headers } of [preflight, answer]) {
      const allowed = [headers['access-control-allow-origin'], headers['access-control-allow-credentials']];
      assert.equal(allowed, ['*', undefined], path);
    }
    assert.is(preflight.status, 204);
    assert.is(answer.headers['access-control-expose-headers'], DOORS[door], path);
    assert.ok(answer.headers['x-request-id']);
  }
});

test.run();
