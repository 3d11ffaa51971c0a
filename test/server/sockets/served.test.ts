// Sockets in a whole server: limited and turned away as requests are, told by real runs, closed by real revocations.

import { request } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../support/until.ts';
import { newSession, newUser, ORACLE_KEY } from '../plugins/users.ts';
import { type Answer, json, type Served, type ServeOptions, sharedServer, withServer } from '../support/serve.ts';
import { openTab, type Tab, type TabOptions } from './ground.ts';

const test = suite('sockets: served');
const PAGE = 'https://app.example';

const served = (work: (server: Served) => Promise<void>, { env, ...seams }: ServeOptions = {}) =>
  withServer({ env: { ORACLE_KEY, ...env }, ...seams }, work);
const plain = sharedServer(test, { env: { ORACLE_KEY, CORS_ORIGIN: PAGE } });

async function chat(server: Served) {
  const user = await newUser();
  return { ...user, session: await newSession(server, user) };
}

async function greeted({ url }: Served, sessionId: string, options: TabOptions): Promise<Tab> {
  const tab = openTab(url, { query: { sessionId }, ...options });
  await until('the client is greeted', () => tab.heard.length > 0);
  return tab;
}

/** What a request for a WebSocket is answered when it gets none. */
function upgrade(
  url: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Pick<Answer, 'status' | 'headers'>> {
  const key = { 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
  const headers = { connection: 'Upgrade', upgrade: 'websocket', ...key, ...more };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/socket.io/?EIO=4&transport=websocket`, { headers, agent: false });
    sent.on('response', (res) => {
      res.resume();
      resolve({ status: res.statusCode!, headers: res.headers as never });
    });
    sent.on('upgrade', (res, socket) => {
      socket.destroy();
      resolve({ status: res.statusCode!, headers: res.headers as never });
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('a message that is sent over HTTP is told to the sockets of its session', async () => {
  const server = plain();
  const { session, token, headers } = await chat(server);
  const tab = await greeted(server, session, { auth: { invocation: token } });
  const sent = await server.ask(`/messages/${session}`, json({ message: 'hello' }, headers));
  assert.is(sent.status, 200);
  await until('reasoning ended', () => tab.said('reasoning').some(({ isComplete }) => isComplete === true));
  for (const { sessionId, requestId } of tab.said('reasoning'))
    assert.equal([sessionId, requestId], [session, sent.headers['x-request-id']]);
  tab.close();
  const log = JSON.stringify(server.logged);
  assert.match(log, '"route":"/socket.io/"');
  for (const secret of [token, session]) assert.not.ok(log.includes(secret));
});

test('nothing is served as JSONP, which pages of any origin could read', async () => {
  const { ask } = plain();
  for (const j of ['0', '12', '', 'x', '0&j=1']) {
    const answer = await ask(`/socket.io/?EIO=4&transport=polling&j=${j}`);
    assert.is(answer.status, 400, j);
    assert.not.match(answer.text, '___eio');
  }
  assert.is((await ask('/socket.io/?EIO=4&transport=polling')).status, 200);
});

test('DELETE /delegation, or another one in its place, closes the sockets that came in with it', async () => {
  const server = plain();
  const { session, token, delegation, headers } = await chat(server);
  const [earlier, raw] = [await delegation(), await delegation()];
  const replaced = await greeted(server, session, { auth: { ucanDelegation: earlier } });
  const gone = await greeted(server, session, { auth: { ucanDelegation: raw } });
  const stays = await greeted(server, session, { auth: { invocation: token } });
  await server.ask('/delegation', json({ raw: earlier }, headers));
  await server.ask('/delegation', json({ raw }, headers));
  await until('the first socket is closed', () => replaced.states.length > 1);
  assert.is(gone.states.length, 1);
  assert.is((await server.ask('/delegation', { method: 'DELETE', headers })).status, 200);
  await until('the socket is closed', () => gone.states.length > 1);
  assert.equal([gone.states[1], stays.states], ['disconnect: io server disconnect', ['connect']]);
  stays.close();
});

test('CORS_ORIGIN says which pages may connect, and what polling pages may read', async () => {
  const { url, ask } = plain();
  const poll = async (origin: string) => {
    const { status, headers } = await ask('/socket.io/?EIO=4&transport=polling', { headers: { origin } });
    return [status, headers['access-control-allow-origin'], headers['access-control-allow-credentials']];
  };
  assert.equal(await poll(PAGE), [200, PAGE, 'true']);
  assert.equal(await poll('https://evil.example'), [403, undefined, undefined]);
  assert.is((await upgrade(url, { origin: 'https://evil.example' })).status, 400);
  assert.is((await upgrade(url, { origin: PAGE })).status, 101);
});

test('handshakes are counted like requests, and what goes over an open connection is not', () =>
  served(
    async (server) => {
      const { session, token } = await chat(server);
      const tab = await greeted(server, session, { transports: ['polling'], auth: { invocation: token } });
      for (let sent = 0; sent < 20; sent++) await tab.ask('ping');
      assert.is((await upgrade(server.url)).status, 101);
      const { status, headers } = await upgrade(server.url);
      assert.is(status, 429);
      assert.ok(Number(headers['retry-after']) > 0 && headers['x-request-id']);
      tab.close();
    },
    { env: { RATE_LIMIT_MAX: '3' } },
  ));

test('a server that has too much to do lets nobody in', () =>
  served(
    async (server) => {
      const { status, headers } = await upgrade(server.url);
      assert.equal([status, headers['retry-after']], [503, '1']);
    },
    { overload: { requestsAtOnce: 0 } },
  ));

test('a server with open sockets stops and hangs up on them, so that clients look for another one', () =>
  served(async (server) => {
    const { session, token } = await chat(server);
    const tabs = [1, 2].map(() => greeted(server, session, { auth: { invocation: token } }));
    const open = await Promise.all(tabs);
    await server.close({ drainDelayMs: 0 });
    await until('all were hung up on', () => open.every(({ states }) => states[1] === 'disconnect: transport close'));
  }));

test.run();
