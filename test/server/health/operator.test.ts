// Who may look at sessions and metrics, and that nobody else learns that they are there. The rules by themselves: server/http/operator.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { KEYS } from '../../package/keys.ts';
import { DIAL, json, type Served, sharedServer, withServer } from '../support/serve.ts';

const test = suite('operator');

const ROUTES = ['/api/ussd/debug/s1', '/api/ussd/sessions', '/metrics'];
const PRODUCTION = { ...KEYS, NODE_ENV: 'production', HOST: '127.0.0.1', USSD_GATEWAYS: '*' };
const TOKEN = 'a-long-token-of-operators';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const development = sharedServer(test, {});
const production = sharedServer(test, {
  clock: new SimulatedClock(),
  env: {
    ...PRODUCTION,
    ...{ TRUST_PROXY_ENABLED: 'true', TRUST_PROXY_CIDRS: '127.0.0.1', OPERATOR_TOKEN: `${TOKEN}, ${TOKEN}-new` },
  },
});

async function statuses(server: Served, headers: Record<string, string> = {}): Promise<number[]> {
  await server.ussd(DIAL);
  return Promise.all(ROUTES.map(async (route) => (await server.ask(route, { headers })).status));
}

test('in development without a token, this machine may look', async () => {
  assert.equal(await statuses(development()), [200, 200, 200]);
  assert.equal((await development().ask('/api/ussd/debug/s1')).json(), {
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
  assert.equal((await development().ask('/api/ussd/sessions')).json(), { activeSessions: ['s1'], count: 1 });
  assert.equal(await statuses(development(), { host: 'evil.example:3000' }), [404, 404, 404]);
  assert.equal(await statuses(development(), { origin: 'https://evil.example' }), [400, 400, 400]);
});

test('an unknown session is 404 with the id that was asked for, as it was asked for', async () => {
  for (const id of ['nobody', '../etc', 'a b', '"<script>']) {
    const answer = await development().ask(`/api/ussd/debug/${encodeURIComponent(id)}`);
    assert.is(answer.status, 404);
    assert.equal(answer.json(), { error: 'Session not found', sessionId: id });
  }
});

test('in production without a token, nobody may look, and it is as if the routes were not there', () =>
  withServer({ env: PRODUCTION }, async (server) => {
    assert.equal(await statuses(server), [404, 404, 404]);
    const debug = (await server.ask('/api/ussd/debug/s1')).json() as object;
    const nowhere = (await server.ask('/nowhere')).json() as object;
    assert.equal({ ...debug, requestId: '' }, { ...nowhere, requestId: '' });
  }));

// Before any other test shows wrong tokens: the log tells of them once a minute.
test('five wrong tokens of an address a minute are refused, more are too many, and the right one passes all the same', async () => {
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const show = async (path: string, headers: Record<string, string>) =>
    (await production().ask(path, { headers })).status;
  const guess = (path: string, address: string) => show(path, { ...bearer('guess'), ...from(address) });
  for (let tries = 0; tries < 3; tries++) assert.is(await show('/metrics', from('203.0.113.1')), 401, 'no token');
  for (const path of ['/metrics', '/inspector', '/api/ussd/sessions', '/simulator'])
    assert.is(await guess(path, '203.0.113.1'), 401, path);
  const signIn = (token: string) =>
    production().ask('/operator/sign-in', json({ token }, { origin: PRODUCTION.PUBLIC_URL, ...from('203.0.113.1') }));
  assert.is((await signIn('guess')).status, 400);
  assert.is((await signIn('guess')).status, 429);
  assert.is((await signIn(TOKEN)).status, 204);
  for (const path of ['/metrics', '/inspector', '/api/ussd/sessions', '/simulator']) {
    assert.is(await guess(path, '203.0.113.1'), 429, path);
    assert.is(await show(path, { ...bearer(TOKEN), ...from('203.0.113.1') }), 200, path);
  }
  const refused = await production().ask('/metrics', { headers: { ...bearer('guess'), ...from('203.0.113.1') } });
  const seconds = Number(refused.headers['retry-after']);
  assert.ok(seconds >= 1 && seconds <= 60, `${seconds}`);
  assert.is(await guess('/metrics', '203.0.113.2'), 401, 'another address');
  const warnings = production().logged.filter(({ msg }) => /wrong tokens/.test(String(msg)));
  assert.equal(
    warnings.map(({ address }) => address),
    ['203.0.113.1'],
  );
  assert.not.match(JSON.stringify(production().logged), TOKEN);
});

test('requests of others at an address use nothing up of what an operator there may ask; operators have a limit, too', () =>
  withServer(
    {
      clock: new SimulatedClock(),
      env: {
        ...{ ...PRODUCTION, OPERATOR_TOKEN: TOKEN, RATE_LIMIT_MAX: '10' },
        ...{ TRUST_PROXY_ENABLED: 'true', TRUST_PROXY_CIDRS: '127.0.0.1' },
      },
    },
    async ({ ask }) => {
      const from = { 'x-forwarded-for': '2001:db8::1' };
      const own = { ...from, origin: PRODUCTION.PUBLIC_URL };
      const signedIn = await ask('/operator/sign-in', json({ token: TOKEN }, own));
      const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!;
      const show = async (headers: Record<string, string>, path = '/inspector/machines') =>
        (await ask(path, { headers: { ...from, ...headers } })).status;
      const guesses = [];
      for (let tries = 0; tries < 12; tries++) guesses.push(await show(bearer('guess')));
      assert.equal(guesses, [...Array(5).fill(401), ...Array(7).fill(429)]);
      assert.is(await show({}, '/'), 429, 'all others are out');
      assert.is(await show({ cookie: `${cookie}x` }), 429);
      for (let at = 0; at < 5; at++) assert.equal([await show(bearer(TOKEN)), await show({ cookie })], [200, 200]);
      assert.is(await show(bearer(TOKEN)), 429);
    },
  ));

test('with tokens their holders may look from anywhere, also while they change; all others get 401; nothing is cached', async () => {
  const { ask } = production();
  const right = [bearer(TOKEN), bearer(`${TOKEN}-new`), { authorization: `bearer ${TOKEN}` }];
  for (const headers of [...right, { ...bearer(TOKEN), 'x-forwarded-for': '1.1.1.1', host: 'x.example' }])
    assert.equal(await statuses(production(), headers), [200, 200, 200], JSON.stringify(headers));
  for (const wrong of [{}, bearer(`${TOKEN},${TOKEN}-new`), { authorization: TOKEN }])
    assert.equal(await statuses(production(), wrong), [401, 401, 401], JSON.stringify(wrong));
  const refused = await ask('/api/ussd/sessions');
  assert.match(refused.headers['www-authenticate']!, /^Bearer/);
  assert.is((await ask(`/api/ussd/sessions?token=${TOKEN}`)).status, 401, 'never in a URL');
  for (const headers of [bearer(TOKEN), {}] as Record<string, string>[])
    assert.is((await ask('/api/ussd/sessions', { headers })).headers['cache-control'], 'no-store');
});

test.run();
