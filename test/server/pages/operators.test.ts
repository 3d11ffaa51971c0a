// Who may open the pages of operators, and that no other site makes a browser do anything there.

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import Koa from 'koa';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock, systemClock } from '../../../lib/clock.ts';
import { inspectToken } from '../../../lib/delegation/tokens.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import { clientReader } from '../../../server/http/middleware/client.ts';
import { operatorTokens } from '../../../server/http/middleware/operator.ts';
import { operatorPasses } from '../../../server/web/kit/operators.ts';
import { PAGE_LIMITS } from '../../../server/web/limits.ts';
import { PRODUCTION, TOKEN } from '../support/production.ts';
import { DIAL, json, type Served, sharedServer, withServer } from '../support/serve.ts';

const test = suite('pages of operators');
const server = sharedServer(test, {});
const INSPECTOR = ['', '/machines', '/stately'].map((path) => `/inspector${path}`);
const PAGES = [...INSPECTOR, '/simulator', '/simulator/sessions/sim-1', '/chat'];
const DIALOGUE = { sessionId: 'sim-1', phoneNumber: DIAL.phoneNumber, inputs: [''] };

/** Everything that operators have there, asked as our own pages ask; the status of all, which is the same. */
async function statusOf({ ask, url, ussd }: Served, headers: Record<string, string> = {}): Promise<number> {
  await ussd({ ...DIAL, sessionId: 'sim-1' });
  const own = { origin: url, ...headers };
  const pages = PAGES.map((path) => ask(path, { headers }));
  const posts = [ask('/simulator/flow-test', json(DIALOGUE, own)), ask('/chat/token', json({}, own))];
  const [status, ...others] = new Set((await Promise.all([...pages, ...posts])).map((answer) => answer.status));
  assert.equal(others, []);
  return status!;
}

test('in development they are for this machine only, in production without a token for nobody', async () => {
  assert.is(await statusOf(server()), 200);
  assert.is(await statusOf(server(), { 'x-forwarded-for': '203.0.113.9' }), 404);
  assert.is(await statusOf(server(), { host: 'evil.example', origin: 'http://evil.example' }), 404);
  await withServer({ env: PRODUCTION }, async (closed) => {
    assert.is(await statusOf(closed), 404);
    const signIn = await closed.ask('/operator/sign-in', json({ token: '' }, { origin: closed.url }));
    assert.is(signIn.status, 404);
  });
});

for (const [where, env] of Object.entries({ development: {}, production: PRODUCTION }))
  test(`in ${where} with a token they are for its holders`, () =>
    withServer({ env: { ...env, OPERATOR_TOKEN: TOKEN } }, async (guarded) => {
      assert.is(await statusOf(guarded), 401);
      assert.is(await statusOf(guarded, { authorization: `Bearer ${TOKEN}` }), 200);
      // Not all of them: who guesses tokens is turned away soon.
      for (const path of ['/inspector', '/simulator', '/chat'])
        assert.is((await guarded.ask(path, { headers: { authorization: `Bearer ${TOKEN}x` } })).status, 401);
      const html = { headers: { accept: 'text/html', authorization: 'Bearer x' } };
      assert.match((await guarded.ask('/chat', html)).headers['content-type']!, 'json');
    }));

test('a pass is good until its time is over, and under the same token and key', async () => {
  const clock = new SimulatedClock();
  const readClient = clientReader({ proxies: [], exempt: [] });
  const passes = (tokens = TOKEN, key = PRODUCTION.PIN_ENCRYPTION_KEY) => {
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
  assert.is(isHeld(cookie, TOKEN, [...PRODUCTION.PIN_ENCRYPTION_KEY].reverse().join('')), false);
  for (const at of [cookie.indexOf('=') + 1, cookie.indexOf('.') + 1, cookie.length - 2]) {
    const forged = `${cookie.slice(0, at)}${cookie[at] === '1' ? '2' : '1'}${cookie.slice(at + 1)}`;
    assert.is(isHeld(forged), false, forged);
  }
  await clock.advance(PAGE_LIMITS.operatorPassSeconds * 1_000 - 1);
  assert.is(isHeld(cookie), true);
  await clock.advance(1_001);
  assert.is(isHeld(cookie), false);
});

test('only a page of this server makes a browser do something there', async () => {
  const { ask, url } = server();
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
});

test('a token of the chat page is short, for this agent, and by the key of the browser', async () => {
  const { ask, url } = server();
  const mint = (cookie?: string) => ask('/chat/token', json({}, { origin: url, ...(cookie && { cookie }) }));
  const first = await mint();
  const { token, did, expiresIn } = first.json() as { token: string; did: string; expiresIn: number };
  const said = inspectToken(token);
  if (!said.ok) throw new Error(said.reason);
  const [invocation] = said.chain;
  assert.is(invocation.issuer, did);
  assert.is(expiresIn, PAGE_LIMITS.chatTokenSeconds);
  assert.ok(invocation.expiration! <= systemClock.now() / 1_000 + expiresIn);
  const cookie = String(first.headers['set-cookie']).split(';')[0]!;
  assert.is(((await mint(cookie)).json() as { did: string }).did, did);
  assert.is.not(((await mint()).json() as { did: string }).did, did);
  assert.is.not(((await mint(cookie.replace(/\.[^.]+$/, '.gone'))).json() as { did: string }).did, did);
  assert.is(first.headers['cache-control'], 'no-store');
  const list = await ask('/sessions', { headers: { authorization: `Bearer ${token}`, 'x-auth-type': 'ucan' } });
  assert.is(list.status, 200);
});

test('of a session no more is told than hides what is typed', async () => {
  const { ask, ussd } = server();
  const standing = async (text: string) => {
    const session = { ...DIAL, sessionId: 'sim-2' };
    await ussd({ ...session, text });
    return (await ask('/simulator/sessions/sim-2')).json();
  };
  const keys = ['0', '00', '98', '*'];
  assert.equal(await standing(''), { screen: 'preMenu', secret: false, keys });
  assert.equal(await standing('2'), { screen: 'accountMenu', secret: false, keys });
  assert.equal(await standing('2*1'), { screen: 'loginPin', secret: true, keys });
});

test.run();
