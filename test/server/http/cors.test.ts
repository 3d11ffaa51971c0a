// Which door lets pages of other origins ask and read what; the rules of each door are tested in cors-headers.test.ts.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { routeGroups } from '../../../server/boot/route-groups.ts';
import { readConfig } from '../../../server/config/config.ts';
import type { DeclaredRoute } from '../../../server/http/route-table.ts';
import { PRODUCTION, TOKEN } from '../support/production.ts';
import { DIAL, json, type Served, sharedServer, withServer } from '../support/serve.ts';

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

const HERE = 'twin.example.com';
const PAGES_OF_OTHERS: readonly Readonly<Record<string, string>>[] = [
  ...[ORIGIN, `https://app.${HERE}`, `https://${HERE}:8443`, `http://${HERE}`, 'null'].map((origin) => ({ origin })),
  { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
];
const BEHIND_TLS = {
  ...PRODUCTION,
  ...{ USSD_GATEWAYS: '*', OPERATOR_TOKEN: TOKEN, STUDIO: 'true', PLUGINS: 'credits' },
  ...{ PUBLIC_URL: `https://${HERE}`, TRUST_PROXY_ENABLED: 'true', TRUST_PROXY_CIDRS: '127.0.0.1' },
  CORS_ORIGIN: PAGES_OF_OTHERS.flatMap(({ origin = 'null' }) => (origin === 'null' ? [] : [origin])).join(','),
};
/** As the proxy passes requests on. */
const RELAYED = { host: HERE, 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };

/** Each route that is for operators or our own pages, with an address that it takes. */
function listOwnRoutes(env: NodeJS.ProcessEnv): Pick<DeclaredRoute, 'method' | 'path'>[] {
  const { config } = readConfig(env, { makeKeys: true });
  const routes = routeGroups(config!).flatMap(({ access: usual, parameters = {}, routes }) =>
    routes.flatMap(({ method, path, access = usual, ownPages }) => {
      if (access !== 'operator' && !ownPages) return [];
      const fill = (_: string, name: string) =>
        encodeURIComponent(String((parameters[name]!.schema as { examples: unknown[] }).examples[0]));
      return [{ method, path: path.replace(/:(\w+)/g, fill) }];
    }),
  );
  return [...routes, { method: 'POST', path: '/credits/did:key:zUser' }];
}

async function assertUnreadable(
  { ask }: Served,
  { method, path }: Pick<DeclaredRoute, 'method' | 'path'>,
  headers: Readonly<Record<string, string>>,
) {
  const what = `${method} ${path} ${JSON.stringify(headers)}`;
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: '{}' };
  const answer = await ask(path, { method, headers: { 'content-type': 'application/json', ...headers }, ...body });
  assert.is(answer.status, 400, what);
  assert.match(answer.text, /Only pages of this server/, what);
  const preflight = { ...headers, 'access-control-request-method': method };
  const asked = await ask(path, { method: 'OPTIONS', headers: preflight });
  for (const { headers: got } of [answer, asked])
    assert.equal(
      Object.keys(got).filter((name) => name.startsWith('access-control-')),
      [],
      what,
    );
}

test('no page of another origin reads what is for operators, whatever CORS_ORIGIN lists and whoever is signed in', () =>
  withServer({ env: BEHIND_TLS }, async (guarded) => {
    const own = { ...RELAYED, origin: `https://${HERE}` };
    const signedIn = await guarded.ask('/operator/sign-in', json({ token: TOKEN }, own));
    const [cookie] = [signedIn.headers['set-cookie']].flat() as string[];
    assert.match(
      cookie!,
      /^__Host-twinline-operator=[\w.-]+; path=\/; expires=[^;]+; samesite=strict; secure; httponly$/,
    );
    const operator = { ...RELAYED, cookie: cookie!.split(';')[0]!, authorization: `Bearer ${TOKEN}` };
    const routes = listOwnRoutes(BEHIND_TLS);
    assert.ok(routes.length > 35, `${routes.length}`);
    for (const route of routes)
      for (const page of PAGES_OF_OTHERS) await assertUnreadable(guarded, route, { ...operator, ...page });
    const { authorization: _, ...browser } = operator;
    const home = async (headers: Readonly<Record<string, string>>) =>
      (await guarded.ask('/', { headers: { ...headers, accept: 'text/html' } })).text;
    const shown = await home(RELAYED);
    assert.is.not(await home({ ...browser, origin: `https://${HERE}` }), shown, 'operators have a home of their own');
    for (const page of PAGES_OF_OTHERS) assert.is(await home({ ...browser, ...page }), shown, JSON.stringify(page));
    assert.is((await guarded.ask('/studio/flows', { headers: browser })).status, 200);
  }));

test('nor does one in development, where whoever sits at this machine is an operator', async () => {
  for (const route of listOwnRoutes({ DATA_DIR: ':memory:' }).filter(({ path }) => !path.startsWith('/credits')))
    await assertUnreadable(server(), route, { origin: ORIGIN });
});

test.run();
