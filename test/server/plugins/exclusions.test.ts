// Who gets in where: an excluded route is free to the letter, everything beside it is not, and gates come after tokens.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MISSING } from '../../../server/user/authenticate.ts';
import { until } from '../../support/until.ts';
import { openTab } from '../sockets/ground.ts';
import { raw, type Served } from '../support/serve.ts';
import { newSession, newUser, sharedBy, withModules, withPlugins } from './users.ts';

const test = suite('routes without tokens');

const DOOR = `export default {
  name: 'door', version: '1',
  authExcluded: [{ path: '/x', method: 'get' }, { path: '/both' }, { path: '/t/:id/open', method: 'GET' }, { path: '/f/open' }],
  routes(router, ctx) {
    const tell = async (koa) => { koa.body = { did: ctx.did ?? null }; };
    router.use(async (koa, next) => { koa.set('x-used', String(koa.state.user !== undefined)); await next(); });
    for (const path of ['/x', '/x/y', '/both', '/t/:id/open', '/t/:id']) router.get(path, tell);
    router.post('/x', tell);
    router.post('/both', tell);
    // A free route that hands on to one that is not.
    router.get('/f/open', async (koa, next) => { await next(); koa.body ??= { did: null }; });
    router.get('/f/:any', tell);
  },
};`;

const served = (work: (server: Served) => Promise<void>, env: NodeJS.ProcessEnv = {}) =>
  withModules({ 'door.js': DOOR }, (path) => withPlugins([path('door.js')], { env }, work));

const shared = sharedBy<Served>(test, (use) => served(use));

test('excluded routes are free, and nothing that looks like them', async () => {
  const { url, ask } = shared();
  const status = async (line: string) => {
    const [method, path] = line.split(' ');
    const answer = await raw(url, `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    return Number(answer.split(' ')[1]);
  };
  for (const line of ['GET /x', 'HEAD /x', 'GET /x?a=1', 'GET /both', 'POST /both', 'GET /t/1/open'])
    assert.is(await status(line), 200, line);
  const shut = [
    ...['POST /x', 'PUT /x', 'GET /x/', 'GET /x/y', 'GET /x/y/', 'GET /x//', 'GET /t/1', 'GET /t/1/open/'],
    ...['GET /t//open', 'GET /x/../x', 'GET /x/.', 'GET /f/open'],
  ];
  for (const line of shut) assert.is(await status(line), 401, line);
  for (const line of ['GET //x', 'GET /X', 'GET /%78', 'GET /x%2f', 'GET ///both', 'GET /BOTH', 'GET /x;a'])
    assert.ok([400, 401, 404].includes(await status(line)), line);
  const refused = await ask('/x/y');
  assert.equal(refused.json(), { statusCode: 401, message: MISSING });
  assert.is(refused.headers['www-authenticate'], 'Bearer realm="ucan"');
});

test('with a token the same paths are what they are', async () => {
  const { ask } = shared();
  const { did, headers } = await newUser();
  const told = async (path: string, method = 'GET') => {
    const answer = await ask(path, { headers, method });
    return [answer.status, answer.status === 200 ? (answer.json() as { did: string }).did : undefined];
  };
  assert.equal(await told('/x/y'), [200, did]);
  assert.equal(await told('/x', 'POST'), [200, did]);
  assert.equal(await told('/x'), [200, null], 'a public route knows nobody');
  assert.equal(await told('/x/'), [404, undefined]);
  const wrong = await ask('/x/y', { headers, method: 'DELETE' });
  assert.equal([wrong.status, wrong.headers.allow], [405, 'HEAD, GET']);
  assert.is((await ask('/x/y', { headers })).headers['x-used'], 'true', 'what a plugin uses comes after the token');
});

test('AUTH_EXCLUDED frees routes of plugins; a route that needs a user still needs one', () =>
  served(
    async (server) => {
      const { ask, publicRoutes } = server;
      assert.equal((await ask('/x/y')).json(), { did: null });
      assert.is((await ask('/t/1')).status, 200);
      const user = await newUser();
      const session = await newSession({ ...server, ask }, user).catch(() => undefined);
      assert.is(session, undefined, 'on a public route no token is looked at');
      for (const headers of [{}, user.headers])
        assert.equal((await ask('/sessions', { method: 'POST', headers })).json(), {
          statusCode: 401,
          message: MISSING,
        });
      assert.is((await ask('/sessions', { headers: user.headers })).status, 200, 'the other methods are as they were');
      const names = publicRoutes.map(({ method, path }) => `${method} ${path}`);
      for (const name of ['GET /x', 'GET /x/y', 'POST /sessions']) assert.ok(names.includes(name), name);
    },
    { AUTH_EXCLUDED: 'GET /x/y, GET /t/{id}, POST /sessions' },
  ));

const GATE = `export default {
  name: 'gate', version: '1',
  authExcluded: [{ path: '/free' }],
  routes(router, ctx) {
    router.get('/free', (koa) => { koa.body = {}; });
    router.get('/shut', (koa) => { koa.body = {}; });
  },
  gate(ctx) {
    if (ctx.method !== 'DELETE') throw ctx.refuse(402, 'Pay ' + ctx.requireDid().slice(0, 7), { claims: ['c1'] });
  },
};`;

const LINES = [
  'POST /sessions',
  'GET /sessions',
  'GET /messages/x',
  'POST /messages/x',
  'GET /delegation',
  'GET /shut',
];

test('gates are asked on every protected route, after the token, and their refusals are told as they are', () =>
  withModules({ 'gate.js': GATE }, (path) =>
    withPlugins([path('gate.js')], {}, async ({ ask }) => {
      const { headers } = await newUser();
      const refusal = [402, { statusCode: 402, message: 'Pay did:key', claims: ['c1'] }];
      for (const line of LINES) {
        const [method, where] = line.split(' ') as [string, string];
        const answer = await ask(where, { method, headers });
        assert.equal([answer.status, answer.json()], refusal, line);
        assert.is((await ask(where, { method })).status, 401, line);
      }
      assert.is((await ask('/delegation', { method: 'DELETE', headers })).status, 200);
      for (const where of ['/free', '/', '/health', '/models', '/openapi.json'])
        assert.is((await ask(where)).status, 200, where);
    }),
  ));

const NO_SOCKETS = `export default {
  name: 'no-sockets', version: '1',
  gate(ctx) { if (ctx.method === undefined) throw ctx.refuse(402, ctx.sessionId); },
};`;

test('gates are asked about sockets, too', () =>
  withModules({ 'a.js': NO_SOCKETS }, (path) =>
    withPlugins([path('a.js')], {}, async (server) => {
      const user = await newUser();
      const sessionId = await newSession(server, user);
      const tab = openTab(server.url, { query: { sessionId }, auth: { invocation: user.token } });
      await until('the socket is sent away', () => tab.states.length > 1 || tab.heard.length > 0);
      assert.equal([tab.states[1], tab.heard], ['disconnect: io server disconnect', []]);
    }),
  ));

test.run();
