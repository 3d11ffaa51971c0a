// Who may open the pages of operators, how one signs in there, and that no other site makes a browser do anything there.

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import Koa from 'koa';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { inspectToken } from '../../../lib/delegation/tokens.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import { clientReader } from '../../../server/http/middleware/client.ts';
import { operatorTokens } from '../../../server/http/middleware/operator.ts';
import { operatorPasses } from '../../../server/web/kit/operators.ts';
import { PAGE_LIMITS } from '../../../server/web/limits.ts';
import { browser } from '../support/browser.ts';
import { DIAL, json, type Served, withServer } from '../support/serve.ts';
import { assertReadable } from './clean.ts';

const test = suite('pages of operators');
const open = browser(test);

const TOKEN = 'a-long-token-of-operators';
const KEY = '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13';
const PRODUCTION = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PIN_ENCRYPTION_KEY: KEY,
  ORACLE_KEY: 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=',
};
const DIALOGUE = { sessionId: 'sim-1', phoneNumber: DIAL.phoneNumber, inputs: [''] };

/** Everything that operators have there, asked as our own pages ask. */
async function statuses({ ask, url, ussd }: Served, headers: Record<string, string> = {}): Promise<number[]> {
  await ussd({ ...DIAL, sessionId: 'sim-1' });
  const own = { origin: url, ...headers };
  const pages = ['/simulator', '/simulator/sessions/sim-1', '/chat'].map((path) => ask(path, { headers }));
  const posts = [ask('/simulator/flow-test', json(DIALOGUE, own)), ask('/chat/token', json({}, own))];
  return (await Promise.all([...pages, ...posts])).map(({ status }) => status);
}

test('in development they are for this machine only, in production without a token for nobody', async () => {
  await withServer({}, async (server) => {
    assert.equal(await statuses(server), [200, 200, 200, 200, 200]);
    for (const headers of [
      { 'x-forwarded-for': '203.0.113.9' },
      { host: 'evil.example', origin: 'http://evil.example' },
    ])
      assert.equal(await statuses(server, headers as Record<string, string>), [404, 404, 404, 404, 404]);
  });
  await withServer({ env: PRODUCTION }, async (server) => {
    assert.equal(await statuses(server), [404, 404, 404, 404, 404]);
    const signIn = await server.ask('/operator/sign-in', json({ token: '' }, { origin: server.url }));
    assert.is(signIn.status, 404);
  });
});

for (const [where, env] of Object.entries({ development: {}, production: PRODUCTION }))
  test(`in ${where} with a token they are for its holders`, () =>
    withServer({ env: { ...env, OPERATOR_TOKEN: TOKEN } }, async (server) => {
      assert.equal(await statuses(server), [401, 401, 401, 401, 401]);
      assert.equal(await statuses(server, { authorization: `Bearer ${TOKEN}` }), [200, 200, 200, 200, 200]);
      assert.equal(await statuses(server, { authorization: `Bearer ${TOKEN}x` }), [401, 401, 401, 401, 401]);
      const html = { headers: { accept: 'text/html', authorization: 'Bearer x' } };
      assert.match((await server.ask('/chat', html)).headers['content-type']!, 'json');
    }));

test('a browser signs in once, and no script can read how', () =>
  withServer({ env: { ...PRODUCTION, OPERATOR_TOKEN: TOKEN } }, async ({ url, logged }) => {
    const { page } = await open(`${url}/simulator`);
    assert.is(await page.locator('h1').textContent(), 'For operators');
    await assertReadable(page);
    await page.getByLabel('Token').fill('another-token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: 'not the OPERATOR_TOKEN' }).waitFor();
    await page.getByLabel('Token').fill(TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('h1', { hasText: 'Phones' }).waitFor();
    await page.goto(`${url}/chat`);
    await page.getByText('You are did:key:').waitFor();
    assert.is(await page.evaluate('document.cookie'), '');
    assert.not.match(JSON.stringify(logged), TOKEN);
    for (const { name, value } of await page.context().cookies()) assert.not.match(JSON.stringify(logged), value, name);
  }));

test('a browser signs out by a button of any page, and is asked for a token again', () =>
  withServer({ env: { ...PRODUCTION, OPERATOR_TOKEN: TOKEN } }, async ({ url }) => {
    const { page } = await open(`${url}/inspector`);
    await page.getByLabel('Token').fill(TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('h1', { hasText: 'Inspector' }).waitFor();
    for (const path of ['/inspector', '/simulator', '/chat', '/studio', '/']) {
      await page.goto(url + path);
      assert.is(await page.getByRole('button', { name: 'Sign out' }).count(), 1, path);
    }
    const cookies = async () => (await page.context().cookies()).map(({ name }) => name);
    const before = await cookies();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Twinline is running' }).waitFor();
    assert.equal([before.length - (await cookies()).length, await cookies()], [1, ['twinline-chat']]);
    await page.goto(`${url}/inspector`);
    assert.is(await page.locator('h1').textContent(), 'For operators');
  }));

test('a pass is good until its time is over, and under the same token and key', async () => {
  const clock = new SimulatedClock();
  const readClient = clientReader({ proxies: [], exempt: [] });
  const passes = (tokens = TOKEN, key = KEY) => {
    const keyring = parseKeyring(key);
    const known = operatorTokens(tokens.split(','), { key: keyring.subkey('operator-pass/v1')!, readClient });
    return operatorPasses({ tokens: known, keyring, clock });
  };
  const opened = (cookie: string) => {
    const req = new IncomingMessage(new Socket());
    req.headers = { host: 'localhost', cookie };
    return new Koa().createContext(req, new ServerResponse(req));
  };
  const isHeld = (cookie: string, ...by: Parameters<typeof passes>) =>
    passes(...by).identify(opened(cookie)) !== undefined;
  const refused = opened('');
  assert.is(passes().signIn(refused, 'another'), false);
  assert.is(refused.res.getHeader('set-cookie'), undefined);
  const welcomed = opened('');
  assert.is(passes().signIn(welcomed, TOKEN), true);
  const [given] = [welcomed.res.getHeader('set-cookie')].flat() as string[];
  assert.match(given!, /; path=\/; expires=[^;]+ GMT; samesite=strict; httponly$/);
  const cookie = given!.slice(0, given!.indexOf(';'));
  assert.is(isHeld(cookie), true);
  assert.is(isHeld(cookie, 'another'), false);
  assert.is(isHeld(cookie, `another,${TOKEN}`), true, 'while the token is changed');
  assert.is(isHeld(cookie, TOKEN, [...KEY].reverse().join('')), false);
  for (const at of [cookie.indexOf('=') + 1, cookie.indexOf('.') + 1, cookie.length - 2]) {
    const forged = `${cookie.slice(0, at)}${cookie[at] === '1' ? '2' : '1'}${cookie.slice(at + 1)}`;
    assert.is(isHeld(forged), false, forged);
  }
  await clock.advance(PAGE_LIMITS.operatorPassSeconds * 1_000 - 1);
  assert.is(isHeld(cookie), true);
  await clock.advance(1_001);
  assert.is(isHeld(cookie), false);
});

test('only a page of this server makes a browser do something there', () =>
  withServer({}, async ({ ask, url }) => {
    const host = new URL(url).host;
    const foreign: Record<string, string>[] = [
      {},
      { origin: 'null' },
      { origin: 'http://evil.example' },
      { origin: `http://${host}.evil.example` },
      { origin: `http://127.0.0.1:1` },
      { origin: url, 'sec-fetch-site': 'cross-site' },
      { origin: url, 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of foreign)
      for (const path of ['/chat/token', '/simulator/flow-test']) {
        const answer = await ask(path, json({}, headers));
        assert.is(answer.status, 400, JSON.stringify(headers));
        assert.is(answer.headers['set-cookie'], undefined);
      }
    const form = { origin: url, 'content-type': 'application/x-www-form-urlencoded' };
    assert.is((await ask('/chat/token', { method: 'POST', headers: form, body: 'a=1' })).status, 415);
  }));

test('a token of the chat page is short, for this agent, and by the key of the browser', () =>
  withServer({}, async ({ ask, url }) => {
    const mint = (cookie?: string) => ask('/chat/token', json({}, { origin: url, ...(cookie && { cookie }) }));
    const first = await mint();
    const { token, did, expiresIn } = first.json() as { token: string; did: string; expiresIn: number };
    const said = inspectToken(token);
    if (!said.ok) throw new Error(said.reason);
    const [invocation] = said.chain;
    assert.is(invocation.issuer, did);
    assert.is(expiresIn, PAGE_LIMITS.chatTokenSeconds);
    assert.ok(invocation.expiration! - Date.now() / 1_000 <= expiresIn);
    const cookie = String(first.headers['set-cookie']).split(';')[0]!;
    assert.is(((await mint(cookie)).json() as { did: string }).did, did);
    assert.is.not(((await mint()).json() as { did: string }).did, did);
    assert.is.not(((await mint(cookie.replace(/\.[^.]+$/, '.gone'))).json() as { did: string }).did, did);
    assert.is(first.headers['cache-control'], 'no-store');
    const list = await ask('/sessions', { headers: { authorization: `Bearer ${token}`, 'x-auth-type': 'ucan' } });
    assert.is(list.status, 200);
  }));

test('of a session no more is told than hides what is typed', () =>
  withServer({}, async ({ ask, ussd }) => {
    const standing = async (text: string) => {
      const session = { ...DIAL, sessionId: 'sim-1' };
      await ussd({ ...session, text });
      return (await ask('/simulator/sessions/sim-1')).json();
    };
    const keys = ['0', '00', '98', '*'];
    assert.equal(await standing(''), { screen: 'preMenu', secret: false, keys });
    assert.equal(await standing('2'), { screen: 'accountMenu', secret: false, keys });
    assert.equal(await standing('2*1'), { screen: 'loginPin', secret: true, keys });
  }));

test.run();
