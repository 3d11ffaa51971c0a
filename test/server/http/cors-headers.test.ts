// What each door lets pages of other origins ask and read, and what only pages of this server may ask.

import Koa, { type Middleware } from 'koa';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Refusal } from '../../../server/http/errors.ts';
import { listen } from '../../../server/http/listen.ts';
import { type CorsDoor, crossOrigin } from '../../../server/http/middleware/cors.ts';
import { isForeign, ownOriginOnly, ownPagesOnly } from '../../../server/http/middleware/operator.ts';

const test = suite('pages of other origins');

const PAGE = 'https://a.example';
const HERE = 'twinline.example';

type Headers = Readonly<Record<string, string>>;

/** Asks a server that has only this middleware. */
async function ask(middleware: Middleware, headers: Headers, method = 'GET') {
  const app = new Koa().use(middleware).use((ctx) => {
    ctx.body = 'fine';
  });
  const door = await listen(app.callback(), { host: '127.0.0.1', port: 0 });
  try {
    const answer = await fetch(door.url, { method, headers });
    await answer.text();
    return (name: string) => answer.headers.get(`access-control-${name}`);
  } finally {
    await door.close(0);
  }
}

const preflight = (door: CorsDoor, asked = 'x-other') =>
  ask(
    crossOrigin({ corsOrigins: '*' })[door],
    { origin: PAGE, 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
    'OPTIONS',
  );

const DOMAIN = 'Content-Type,Authorization,x-request-id,If-Match,If-None-Match,Idempotency-Key,Last-Event-ID';
const AGENT =
  'Content-Type,Authorization,x-ucan-delegation,x-matrix-access-token,x-matrix-homeserver,x-did,x-request-id,x-auth-type,x-timezone';
const GATEWAY = 'Content-Type,Authorization,x-request-id,x-cosmos-block-height,Grpc-Timeout';
const ANSWERS: Readonly<Record<CorsDoor, readonly [allowed: string, exposed: string]>> = {
  ussd: ['Content-Type,x-request-id', 'X-Request-Id,Retry-After'],
  domain: [DOMAIN, 'X-Request-Id,ETag,Location,Link,Retry-After,Accept-Patch,Allow,WWW-Authenticate'],
  agent: [AGENT, 'X-Request-Id'],
  gateway: [GATEWAY, 'X-Request-Id,Retry-After,Allow,WWW-Authenticate,X-Cosmos-Block-Height'],
  others: [
    'Content-Type,Authorization,x-request-id,If-None-Match,Last-Event-ID',
    'X-Request-Id,ETag,Retry-After,Allow,WWW-Authenticate',
  ],
};

for (const [door, [allowed, exposed]] of Object.entries(ANSWERS))
  test(`${door}: exactly these headers may be set, exactly these may be read, and by any method that there is`, async () => {
    const before = await preflight(door as CorsDoor);
    assert.is(before('allow-headers'), allowed);
    assert.is(before('allow-methods'), 'GET,POST,PUT,DELETE,PATCH,OPTIONS');
    const then = await ask(crossOrigin({ corsOrigins: '*' })[door as CorsDoor], { origin: PAGE });
    assert.is(then('expose-headers'), exposed);
  });

test('the gateway allows metadata of a call by its form, and nothing that only holds or begins like one', async () => {
  const asked = [
    ...['grpc-metadata-tenant', ' GRPC-Metadata-x.y-bin ', 'grpc-metadata-', 'grpc-metadata-a b'],
    ...['x-grpc-metadata-a', 'grpc-metadata-a:', 'x-did'],
  ];
  const after = await preflight('gateway', asked.join(','));
  assert.is(after('allow-headers'), `${GATEWAY},grpc-metadata-tenant,GRPC-Metadata-x.y-bin`);
  const none = await ask(crossOrigin({ corsOrigins: '*' }).gateway, {
    origin: PAGE,
    'access-control-request-headers': 'grpc-metadata-tenant',
  });
  assert.is(none('allow-headers'), null, 'an answer that is no preflight allows nothing');
});

test('only the gateway allows metadata of a call', async () => {
  assert.is((await preflight('domain', 'grpc-metadata-tenant'))('allow-headers'), DOMAIN);
});

test('* is any origin without credentials, null included', async () => {
  const { others } = crossOrigin({ corsOrigins: '*' });
  for (const origin of [PAGE, 'null']) {
    const answer = await ask(others, { origin });
    assert.equal([answer('allow-origin'), answer('allow-credentials')], ['*', null]);
  }
});

test('a list is exactly its origins, with credentials; a request without an origin gets none', async () => {
  const { others } = crossOrigin({ corsOrigins: [PAGE, 'http://localhost:5173'] });
  for (const origin of [PAGE, 'http://localhost:5173']) {
    const answer = await ask(others, { origin });
    assert.equal([answer('allow-origin'), answer('allow-credentials')], [origin, 'true']);
  }
  for (const origin of ['null', 'https://b.example', `${PAGE}.evil.example`, 'http://a.example', undefined]) {
    const answer = await ask(others, { ...(origin !== undefined && { origin }) });
    assert.equal([answer('allow-origin'), answer('allow-credentials')], [null, null], origin);
  }
});

test('a page is foreign when it names another host, or when the browser says that it is of another site', () => {
  const host = HERE;
  const own: Headers[] = [
    { host },
    { host, origin: `https://${HERE}` },
    { host, origin: `https://${HERE}`, 'sec-fetch-site': 'cross-site' },
    { host, 'sec-fetch-site': 'same-origin' },
    { host, 'sec-fetch-site': 'none' },
    { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  ];
  const foreign: Headers[] = [
    { host, origin: PAGE },
    { host, origin: 'null' },
    { host, origin: `https://${HERE}:8443` },
    { host, origin: PAGE, 'sec-fetch-site': 'same-origin' },
    { host, origin: PAGE, 'sec-fetch-mode': 'navigate' },
    { host, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
    { host, 'sec-fetch-site': 'cross-site' },
  ];
  for (const headers of own) assert.not(isForeign(headers), JSON.stringify(headers));
  for (const headers of foreign) assert.ok(isForeign(headers), JSON.stringify(headers));
});

test('where PUBLIC_URL is set, its scheme and host are ours, and the names of this machine when no proxy comes in between', () => {
  const publicUrl = `https://${HERE}/twins`;
  const local = { host: '127.0.0.1:3000', origin: 'http://127.0.0.1:3000' };
  const own: Headers[] = [
    { host: HERE, origin: `https://${HERE}` },
    { host: '10.0.0.7:3000', origin: `https://${HERE}` },
    { host: HERE, 'sec-fetch-site': 'same-origin' },
    local,
    { host: 'localhost', origin: 'http://localhost' },
  ];
  const foreign: Headers[] = [
    ...[`http://${HERE}`, `https://${HERE}:8443`, `https://app.${HERE}`, `https://${HERE}.`, 'null', ''].map(
      (origin) => ({
        host: HERE,
        origin,
      }),
    ),
    { host: '10.0.0.7:3000', origin: 'http://10.0.0.7:3000' },
    { ...local, 'x-forwarded-for': '203.0.113.9' },
    { ...local, forwarded: 'for=203.0.113.9' },
    { ...local, origin: 'http://127.0.0.1:3001' },
    { host: 'localhost.evil.example', origin: 'http://localhost.evil.example' },
    { host: HERE, 'sec-fetch-site': 'same-site' },
  ];
  for (const headers of own) assert.not(isForeign(headers, publicUrl), JSON.stringify(headers));
  for (const headers of foreign) assert.ok(isForeign(headers, publicUrl), JSON.stringify(headers));
});

/** What a middleware does with a request: its refusal, or the answer after the next one. */
async function pass(middleware: Middleware, headers: Headers, type: string | false = 'application/json') {
  const set = new Map([['ETag', 'x']]);
  const ctx = {
    req: { headers },
    get: (name: string) => headers[name] ?? '',
    is: (wanted: string) => (wanted === type ? type : false),
    set: (name: string, value: string) => set.set(name, value),
  };
  try {
    assert.is(await middleware(ctx as never, async () => 'next'), 'next');
  } catch (thrown) {
    assert.instance(thrown, Refusal);
    return thrown as Refusal;
  }
  return Object.fromEntries(set);
}

test('what is for pages of this server is refused to others, and says nothing to them', async () => {
  const refused = await pass(ownOriginOnly(undefined), { host: HERE, origin: PAGE });
  assert.ok(refused instanceof Refusal);
  assert.is(refused.kind, 'bad-request');
  assert.match(refused.message, 'the header Origin names another');
  assert.equal(await pass(ownOriginOnly(undefined), { host: HERE, origin: `http://${HERE}` }), {
    ETag: 'x',
    'Cross-Origin-Resource-Policy': 'same-origin',
  });
});

test('only a page of this host that posts JSON passes where cookies are believed', async () => {
  const host = HERE;
  const origin = `https://${HERE}`;
  const kindOf = async (headers: Headers, type?: string | false) => {
    const end = await pass(ownPagesOnly(undefined), headers, type);
    return end instanceof Refusal ? end.kind : 'passes';
  };
  assert.is(await kindOf({ host, origin }), 'passes');
  assert.is(await kindOf({ host, origin, 'sec-fetch-site': 'same-origin' }), 'passes');
  assert.is(await kindOf({ host, origin, 'sec-fetch-site': 'cross-site' }), 'bad-request');
  assert.is(await kindOf({ host, origin, 'sec-fetch-site': 'none' }), 'bad-request');
  assert.is(await kindOf({ host, origin: PAGE }), 'bad-request');
  assert.is(await kindOf({ host }), 'bad-request');
  assert.is(await kindOf({ host, origin }, false), 'unsupported-media-type');
  const refused = await pass(ownPagesOnly(undefined), { host });
  assert.match((refused as Refusal).message, 'the header Origin names another');
});

test.run();
