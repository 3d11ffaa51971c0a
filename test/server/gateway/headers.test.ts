// The gateway answers past the middleware of the server; what that sets on every answer, it sets too, one by one.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withGateway } from './place.ts';

const test = suite('headers of the query gateway');

// What differs between answers of one door too.
const OWN =
  /^(content-type|content-length|etag|cache-control|allow|date|x-request-id|x-cosmos-block-height|grpc-metadata-.*|access-control-(allow|expose)-headers)$/;

function shared(headers: Readonly<Record<string, string | undefined>>): [string, string | undefined][] {
  return Object.entries(headers)
    .filter(([name]) => !OWN.test(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

const ORIGINS = [undefined, 'https://known.example', 'https://foreign.example', 'null'];
const EXPOSED = 'X-Request-Id,Retry-After,Allow,WWW-Authenticate,X-Cosmos-Block-Height';
const ALLOWED = 'Content-Type,Authorization,x-request-id,x-cosmos-block-height,Grpc-Timeout,grpc-metadata-tenant';
const PREFLIGHTS = [undefined, 'GET', 'POST'];

for (const allowed of ['*', 'https://known.example'])
  test(`CORS_ORIGIN=${allowed}: every kind of answer has the headers that the other doors' have`, () =>
    withGateway(
      {},
      async ({ server }) => {
        for (const origin of ORIGINS) {
          const headers = origin === undefined ? {} : { origin };
          const other = await server.ask('/openapi.json', { headers });
          const kinds = {
            found: await server.ask('/grove/tree/1', { headers }),
            head: await server.ask('/grove/tree/1', { headers, method: 'HEAD' }),
            unknown: await server.ask('/grove/other', { headers }),
            malformed: await server.ask('/grove/tree/%zz', { headers }),
            method: await server.ask('/grove/tree/1', { headers, method: 'PUT' }),
          };
          assert.ok(other.headers['content-security-policy'], 'there is something to compare');
          for (const [kind, answer] of Object.entries(kinds)) {
            // Without an origin nobody reads the headers for origins.
            const told = (all: typeof answer.headers) =>
              shared(all).filter(([name]) => origin !== undefined || !name.startsWith('access-control-'));
            assert.equal(told(answer.headers), told(other.headers), `${kind} for ${origin}`);
            assert.match(answer.headers['x-request-id']!, /^[\w.:-]+$/, kind);
            const isLetIn = answer.headers['access-control-allow-origin'] !== undefined;
            assert.is(answer.headers['access-control-expose-headers'], isLetIn ? EXPOSED : undefined, kind);
          }
        }
      },
      { env: { CORS_ORIGIN: allowed } },
    ));

test('a preflight is answered as that of another door', () =>
  withGateway(
    {},
    async ({ server }) => {
      for (const origin of ORIGINS.slice(1) as string[])
        for (const asked of PREFLIGHTS.slice(1) as string[]) {
          const names = { 'access-control-request-headers': 'grpc-metadata-tenant,x-did' };
          const headers = { origin, 'access-control-request-method': asked, ...names };
          const ours = await server.ask('/grove/tree/1', { method: 'OPTIONS', headers });
          const other = await server.ask('/health', { method: 'OPTIONS', headers });
          assert.equal([origin, shared(ours.headers)], [origin, shared(other.headers)]);
          if (origin === 'https://known.example') {
            assert.equal([ours.status, ours.headers['access-control-allow-origin']], [204, origin]);
            assert.is(ours.headers['access-control-allow-headers'], ALLOWED);
          } else assert.is(ours.headers['access-control-allow-origin'], undefined);
        }
    },
    { env: { CORS_ORIGIN: 'https://known.example' } },
  ));

test.run();
