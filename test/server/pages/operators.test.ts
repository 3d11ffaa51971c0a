// Who may open the pages of operators, and that no other site makes a browser do anything there.

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import Koa from 'koa';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock, systemClock } from '../../../lib/clock.ts';
import { inspectToken } from '../../../lib/delegation/tokens.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import { memoryDocuments } from '../../../lib/store/memory/documents.ts';
import { clientReader } from '../../../server/http/middleware/client.ts';
import { operatorTokens } from '../../../server/http/middleware/operator.ts';
import { operatorPasses, SIGN_OUT } from '../../../server/web/kit/passes.ts';
import { PAGE_LIMITS } from '../../../server/web/limits.ts';
import { PRODUCTION, TOKEN } from '../support/production.ts';
import { DIAL, json, type Served, sharedServer, withServer } from '../support/serve.ts';

const test = suite('pages of operators');
const server = sharedServer(test, {});
const INSPECTOR = ['', '/machines', '/stately'].map((path) => `/inspector${path}`);
const PAGES = [...INSPECTOR, '/simulator', '/simulator/sessions/sim-1', '/chat'];
const DIALOGUE = { sessionId: 'sim-1', phoneNumber: DIAL.phoneNumber, inputs: [''] };

/** Everything that operators have there, asked as our own pages ask; the status of all, which is the same. */
async function statusOf({ ask, url }: Served, headers: Record<string, string> = {}): Promise<number> {
  const own = { origin: url, ...headers };
  await ask('/simulator/dial', json({ ...DIAL, sessionId: 'sim-1' }, own));
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

const HOST = { host: 'twin.example.com' };

/** What a browser asks with this cookie, and what it is answered. */
function visit(cookie = '', headers: Readonly<Record<string, string>> = HOST) {
  const req = new IncomingMessage(new Socket());
  req.headers = { ...headers, cookie };
  const ctx = new Koa().createContext(req, new ServerResponse(req));
  return { ctx, headers: req.headers, cookies: () => [ctx.res.getHeader('set-cookie') ?? []].flat() as string[] };
}

/** Instances that share a store, with one clock. */
async function passPlace() {
  const clock = new SimulatedClock();
  const documents = memoryDocuments();
  await documents.declare([SIGN_OUT]);
  const readClient = clientReader({ proxies: [], exempt: [] });
  const passes = (tokens = TOKEN, key = PRODUCTION.PIN_ENCRYPTION_KEY, publicUrl?: string) => {
    const keyring = parseKeyring(key);
    const known = operatorTokens(tokens.split(','), { key: keyring.subkey('operator-pass/v1')!, readClient });
    return operatorPasses({ tokens: known, keyring, clock, documents, publicUrl });
  };
  const signIn = (...by: Parameters<typeof passes>) => {
    const welcomed = visit();
    assert.is(passes(...by).signIn(welcomed.ctx, TOKEN), true);
    return welcomed.cookies()[0]!;
  };
  const isHeld = async (cookie: string, ...by: Parameters<typeof passes>) =>
    (await passes(...by).identify(visit(cookie).headers)) !== undefined;
  return { clock, documents, passes, signIn, isHeld };
}

const pairOf = (cookie: string) => cookie.slice(0, cookie.indexOf(';'));

test('a pass is good until its time is over, and under the same token and key', async () => {
  const { clock, passes, signIn, isHeld } = await passPlace();
  const refused = visit();
  assert.is(passes().signIn(refused.ctx, 'another'), false);
  assert.equal(refused.cookies(), []);
  const given = signIn();
  assert.match(given, /^twinline-operator=[\w.-]+; path=\/; expires=[^;]+ GMT; samesite=strict; httponly$/);
  const cookie = pairOf(given);
  assert.is(await isHeld(`a=1; ${cookie}; b=2`), true);
  assert.is(await isHeld(`a${cookie}`), false);
  assert.is(await isHeld(cookie, 'another'), false);
  assert.is(await isHeld(cookie, `another,${TOKEN}`), true, 'while the token is changed');
  assert.is(await isHeld(cookie, TOKEN, [...PRODUCTION.PIN_ENCRYPTION_KEY].reverse().join('')), false);
  for (const at of [cookie.indexOf('=') + 1, cookie.indexOf('.') + 1, cookie.lastIndexOf('.') + 1, cookie.length - 2]) {
    const forged = `${cookie.slice(0, at)}${cookie[at] === '1' ? '2' : '1'}${cookie.slice(at + 1)}`;
    assert.is(await isHeld(forged), false, forged);
  }
  await clock.advance(PAGE_LIMITS.operatorPassSeconds * 1_000 - 1);
  assert.is(await isHeld(cookie), true);
  await clock.advance(1_001);
  assert.is(await isHeld(cookie), false);
});

test('signing out ends the pass on all instances, and no other; a clock that ran ahead does not bring it back', async () => {
  const { clock, documents, passes, signIn, isHeld } = await passPlace();
  const [out, other] = [pairOf(signIn()), pairOf(signIn())];
  const leaving = visit(out);
  await passes().signOut(leaving.ctx);
  assert.match(leaving.cookies()[0]!, /^twinline-operator=; path=\/; expires=Thu, 01 Jan 1970/);
  await passes().signOut(visit(out).ctx);
  await passes().signOut(visit('twinline-operator=1.x.y').ctx);
  assert.equal([await isHeld(out), await isHeld(other)], [false, true]);
  assert.is(await documents.count(SIGN_OUT), 1, 'what is no pass is not kept');
  const day = 86_400_000;
  await clock.advance(day);
  await passes().signOut(visit(pairOf(signIn())).ctx);
  assert.is(await documents.count(SIGN_OUT), 2);
  await clock.advance(7 * day);
  await passes().signOut(visit(pairOf(signIn())).ctx);
  assert.is(await documents.count(SIGN_OUT), 2, 'a week after its pass is over, it is forgotten');
});

test('while the store is away, no pass is let in', async () => {
  const { documents, passes, signIn } = await passPlace();
  const cookie = pairOf(signIn());
  documents.get = () => Promise.reject(new Error('away'));
  const entered = await passes()
    .identify(visit(cookie).headers)
    .catch(() => 'refused');
  assert.is(entered, 'refused');
  assert.ok(passes().recognize(visit(cookie).headers));
});

test('where PUBLIC_URL is https, cookies travel over TLS only, and no other host of the domain can set them', async () => {
  const { passes, signIn, isHeld } = await passPlace();
  const tls = [TOKEN, PRODUCTION.PIN_ENCRYPTION_KEY, 'https://twin.example.com'] as const;
  const given = signIn(...tls);
  assert.match(given, /^__Host-twinline-operator=[\w.-]+; path=\/; expires=[^;]+; samesite=strict; secure; httponly$/);
  assert.is(await isHeld(pairOf(given), ...tls), true);
  assert.is(await isHeld(pairOf(given).replace('__Host-', ''), ...tls), false);
  const tunnel = visit('', { host: 'localhost:3000' });
  passes(...tls).signIn(tunnel.ctx, TOKEN);
  assert.match(tunnel.cookies()[0]!, /^twinline-operator=[^;]+; path=\/; expires=[^;]+; samesite=strict; httponly$/);
  const env = { ...PRODUCTION, USSD_GATEWAYS: '*', OPERATOR_TOKEN: TOKEN, PUBLIC_URL: 'https://twin.example.com' };
  await withServer({ env }, async ({ ask }) => {
    const own = { ...HOST, origin: 'https://twin.example.com' };
    const post = async (path: string, body: object, cookie: string) => {
      const answer = await ask(path, json(body, { ...own, cookie }));
      return { answer, cookie: String(answer.headers['set-cookie']) };
    };
    const { cookie } = await post('/operator/sign-in', { token: TOKEN }, '');
    const pass = pairOf(cookie);
    const chat = await post('/chat/token', {}, pass);
    assert.match(
      chat.cookie,
      /^__Host-twinline-chat=[\w.-]+; path=\/; expires=[^;]+; samesite=strict; secure; httponly$/,
    );
    const again = await post('/chat/token', {}, `${pass}; ${pairOf(chat.cookie)}`);
    const didOf = ({ answer }: typeof chat) => (answer.json() as { did: string }).did;
    assert.is(didOf(again), didOf(chat));
    const open = async () => (await ask('/menus/refused', { headers: { ...HOST, cookie: pass } })).status;
    assert.is(await open(), 200);
    assert.is((await post('/operator/sign-out', {}, pass)).answer.status, 204);
    assert.is(await open(), 401);
  });
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
  const { ask, url } = server();
  const standing = async (text: string) => {
    await ask('/simulator/dial', json({ ...DIAL, sessionId: 'sim-2', text }, { origin: url }));
    return (await ask('/simulator/sessions/sim-2')).json();
  };
  const keys = ['0', '00', '98', '*'];
  assert.equal(await standing(''), { screen: 'preMenu', secret: false, keys });
  assert.equal(await standing('2'), { screen: 'accountMenu', secret: false, keys });
  assert.equal(await standing('2*1'), { screen: 'loginPin', secret: true, keys });
});

test.run();
