// Who may look at sessions and metrics, and that nobody else learns that they are there.

import type { Context } from 'koa';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { clientReader } from '../../../server/http/middleware/client.ts';
import { operatorTokens } from '../../../server/http/middleware/operator.ts';
import { DIAL, json, type Served, withServer } from '../support/serve.ts';

const test = suite('operator');

const ROUTES = ['/api/ussd/debug/s1', '/api/ussd/sessions', '/metrics'];
const PRODUCTION = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PIN_ENCRYPTION_KEY: '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13',
  ORACLE_KEY: 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=',
};
const TOKEN = 'a-long-token-of-operators';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const BEHIND_PROXY = { TRUST_PROXY_ENABLED: 'true', TRUST_PROXY_CIDRS: '127.0.0.1' };

async function statuses(server: Served, headers: Record<string, string> = {}): Promise<number[]> {
  await server.ussd(DIAL);
  return Promise.all(ROUTES.map(async (route) => (await server.ask(route, { headers })).status));
}

test('in development without a token, this machine may look', () =>
  withServer({}, async (server) => {
    assert.equal(await statuses(server), [200, 200, 200]);
    assert.equal((await server.ask('/api/ussd/debug/s1')).json(), {
      sessionId: 's1',
      debugInfo: {
        state: 'preMenu',
        context: {
          sessionId: 's1',
          phoneNumber: DIAL.phoneNumber,
          message: 'Welcome to Twinline\n1. Know more\n2. Account\n*. Exit',
          isAuthenticated: false,
        },
        status: 'active',
      },
      activeSessions: ['s1'],
    });
    assert.equal((await server.ask('/api/ussd/sessions')).json(), { activeSessions: ['s1'], count: 1 });
  }));

test('an unknown session is 404 with the id that was asked for, as it was asked for', () =>
  withServer({}, async (server) => {
    for (const id of ['nobody', '../etc', 'a b', '"<script>']) {
      const answer = await server.ask(`/api/ussd/debug/${encodeURIComponent(id)}`);
      assert.is(answer.status, 404);
      assert.equal(answer.json(), { error: 'Session not found', sessionId: id });
    }
  }));

test('in development, a page of another site that is open on this machine reads nothing', () =>
  withServer({}, async (server) => {
    for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }])
      assert.equal(await statuses(server, headers), [400, 400, 400], JSON.stringify(headers));
    const own = await server.ask('/api/ussd/sessions', { headers: { origin: server.url } });
    assert.equal([own.status, own.headers['access-control-allow-origin']], [200, undefined]);
  }));

test('in development, who comes through a proxy or under a foreign name gets 404', () =>
  withServer({}, async (server) => {
    for (const headers of [
      { 'x-forwarded-for': '127.0.0.1' },
      { forwarded: 'for=127.0.0.1' },
      { host: 'evil.example' },
      { host: 'evil.example:3000' },
      { host: 'localhost.evil.example' },
      { host: '127.0.0.1.evil.example' },
    ] as Record<string, string>[])
      assert.equal(await statuses(server, headers), [404, 404, 404], JSON.stringify(headers));
    for (const host of ['localhost', 'localhost:3000', '127.0.0.1:1', '[::1]:3000', 'app.localhost'])
      assert.equal(await statuses(server, { host }), [200, 200, 200], host);
  }));

test('in development, a client that a trusted proxy names as another machine gets 404', () =>
  withServer({ env: { TRUST_PROXY_ENABLED: 'true' } }, async (server) => {
    assert.equal(await statuses(server, { 'x-forwarded-for': '203.0.113.9' }), [404, 404, 404]);
    assert.equal(await statuses(server, { 'x-forwarded-for': '127.0.0.1' }), [404, 404, 404]);
  }));

test('in production without a token, nobody may look, and it is as if the routes were not there', () =>
  withServer({ env: PRODUCTION }, async (server) => {
    assert.equal(await statuses(server), [404, 404, 404]);
    const debug = (await server.ask('/api/ussd/debug/s1')).json() as object;
    const nowhere = (await server.ask('/nowhere')).json() as object;
    assert.equal({ ...debug, requestId: '' }, { ...nowhere, requestId: '' });
  }));

for (const [where, env] of Object.entries({ development: {}, production: PRODUCTION }))
  test(`in ${where} with a token, its holders may look from anywhere, all others get 401`, () =>
    withServer({ env: { ...env, ...BEHIND_PROXY, OPERATOR_TOKEN: TOKEN } }, async (server) => {
      assert.equal(await statuses(server, bearer(TOKEN)), [200, 200, 200]);
      assert.equal(
        await statuses(server, { ...bearer(TOKEN), 'x-forwarded-for': '1.1.1.1', host: 'x.example' }),
        [200, 200, 200],
      );
      assert.equal(
        await statuses(server, { authorization: `bearer ${TOKEN}` }),
        [200, 200, 200],
        'schemes have no case',
      );
      const wrong = ['', 'x', TOKEN.slice(1), `${TOKEN}x`, TOKEN.toUpperCase(), `${TOKEN} ${TOKEN}`].map(bearer);
      const others = [{}, { authorization: TOKEN }, { authorization: `Basic ${TOKEN}` }];
      for (const [at, headers] of [...wrong, ...others].entries()) {
        const from = { ...headers, 'x-forwarded-for': `203.0.113.${at}` };
        assert.equal(await statuses(server, from), [401, 401, 401], JSON.stringify(headers));
      }
      const refused = await server.ask('/api/ussd/sessions');
      assert.match(refused.headers['www-authenticate']!, /^Bearer/);
      assert.is((await server.ask(`/api/ussd/sessions?token=${TOKEN}`)).status, 401, 'never in a URL');
    }));

test('five wrong tokens of an address a minute are refused, more are not looked at, wherever they are shown', () =>
  withServer({ env: { ...PRODUCTION, ...BEHIND_PROXY, OPERATOR_TOKEN: TOKEN } }, async (server) => {
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const show = async (path: string, headers: Record<string, string>) => (await server.ask(path, { headers })).status;
    const guess = (path: string, address: string) => show(path, { ...bearer('guess'), ...from(address) });
    for (let tries = 0; tries < 3; tries++) assert.is(await show('/metrics', from('203.0.113.1')), 401, 'no token');
    for (const path of ['/metrics', '/inspector', '/api/ussd/sessions', '/simulator'])
      assert.is(await guess(path, '203.0.113.1'), 401, path);
    const signIn = (token: string) =>
      server.ask('/operator/sign-in', json({ token }, { origin: server.url, ...from('203.0.113.1') }));
    assert.is((await signIn('guess')).status, 400);
    assert.is((await signIn(TOKEN)).status, 429);
    for (const path of ['/metrics', '/inspector', '/api/ussd/sessions', '/simulator'])
      assert.is(await show(path, { ...bearer(TOKEN), ...from('203.0.113.1') }), 429, path);
    const refused = await server.ask('/metrics', { headers: { ...bearer('guess'), ...from('203.0.113.1') } });
    const seconds = Number(refused.headers['retry-after']);
    assert.ok(seconds >= 1 && seconds <= 60, `${seconds}`);
    assert.is(await show('/metrics', { ...bearer(TOKEN), ...from('203.0.113.2') }), 200, 'another address');
    const warnings = server.logged.filter(({ msg }) => /wrong tokens/.test(String(msg)));
    assert.equal(
      warnings.map(({ address }) => address),
      ['203.0.113.1'],
    );
    assert.not.match(JSON.stringify(server.logged), TOKEN);
  }));

test('after a minute an address may show tokens again', () => {
  let at = 0;
  const readClient = clientReader({ proxies: [], exempt: [] });
  const tokens = operatorTokens([TOKEN], { key: Buffer.alloc(32, 1), readClient, now: () => at });
  const ctx = { req: { socket: { remoteAddress: '203.0.113.1' }, headers: {} }, set() {} } as unknown as Context;
  for (let tries = 0; tries < SERVER_LIMITS.operatorFailures; tries++)
    assert.is(tokens.identify(ctx, 'guess'), undefined);
  assert.throws(() => tokens.identify(ctx, TOKEN), /Too many wrong tokens/);
  at = SERVER_LIMITS.operatorFailureMs - 1;
  assert.throws(() => tokens.identify(ctx, TOKEN), /Too many wrong tokens/);
  at += 1;
  assert.is(tokens.identify(ctx, TOKEN), tokens.names[0]);
});

test('a list of tokens lets in the holders of each, while a token is changed', () =>
  withServer({ env: { ...PRODUCTION, OPERATOR_TOKEN: `${TOKEN}, ${TOKEN}-new` } }, async (server) => {
    assert.equal(await statuses(server, bearer(TOKEN)), [200, 200, 200]);
    assert.equal(await statuses(server, bearer(`${TOKEN}-new`)), [200, 200, 200]);
    assert.equal(await statuses(server, bearer(`${TOKEN},${TOKEN}-new`)), [401, 401, 401]);
  }));

test('another case, slash or encoding of the path leads nowhere', () =>
  withServer({ env: { OPERATOR_TOKEN: TOKEN } }, async (server) => {
    await server.ussd(DIAL);
    for (const path of [
      '/API/USSD/DEBUG/s1',
      '/api/ussd/Debug/s1',
      '/api/ussd/debug/s1/',
      '/api/ussd/debug/',
      '//api/ussd/debug/s1',
      '/api/ussd//debug/s1',
      '/api/ussd/debug/s1/x',
      '/api/ussd/%64ebug/s1',
      '/api/ussd/SESSIONS',
      '/api/ussd/sessions/',
      '/Metrics',
      '/metrics/',
    ])
      assert.is((await server.ask(path, { headers: bearer(TOKEN) })).status, 404, path);
  }));

test('answers to operators are kept by no cache', () =>
  withServer({ env: { OPERATOR_TOKEN: TOKEN } }, async (server) => {
    for (const headers of [bearer(TOKEN), {}] as Record<string, string>[])
      assert.is((await server.ask('/api/ussd/sessions', { headers })).headers['cache-control'], 'no-store');
  }));

test.run();
