// Sockets in a whole server: limited and turned away as requests are, told by real runs, closed by real revocations.

import { request } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseOracleKey } from '../../../lib/delegation/issuer/oracle-key.ts';
import { mintDelegation, mintInvocation } from '../../../lib/delegation/tokens.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { newKey } from '../../delegation/keys.ts';
import { type Answer, DIAL, json, type Served, type ServeOptions, sharedServer, withServer } from '../support/serve.ts';
import { openTab, type Tab, until } from './ground.ts';

const test = suite('sockets: served');
const ORACLE_KEY = makeOracleKey();
const { did: audience } = parseOracleKey(ORACLE_KEY);
const capability = { can: '*', with: 'ixo:oracle' };

const served = (work: (server: Served) => Promise<void>, { env, ...seams }: ServeOptions = {}) =>
  withServer({ env: { ORACLE_KEY, ...env }, ...seams }, work);

const plain = sharedServer(test, { env: { ORACLE_KEY } });

async function chat({ ask }: Served) {
  const key = newKey();
  const invocation = await mintInvocation({ key, audience, capability, expiresIn: 600 });
  const delegation = await mintDelegation({ key, audience, capabilities: [capability], expiresIn: 3_600 });
  const headers = { authorization: `Bearer ${invocation}`, 'x-auth-type': 'ucan', 'content-type': 'application/json' };
  const made = await ask('/sessions', { method: 'POST', headers });
  return { invocation, delegation, headers, session: (made.json() as { sessionId: string }).sessionId };
}

async function greeted({ url }: Served, session: string, auth: object): Promise<Tab> {
  const tab = openTab(url, { query: { sessionId: session }, auth: { ...auth } });
  await until(() => tab.heard.length > 0, 'greeted');
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
  const { session, invocation, headers } = await chat(server);
  const tab = await greeted(server, session, { invocation });
  const sent = await server.ask(`/messages/${session}`, json({ message: 'hello' }, headers));
  assert.is(sent.status, 200);
  await until(() => tab.said('reasoning').some(({ isComplete }) => isComplete === true), 'reasoning ended');
  for (const { sessionId, requestId } of tab.said('reasoning'))
    assert.equal([sessionId, requestId], [session, sent.headers['x-request-id']]);
  tab.close();
  const log = JSON.stringify(server.logged);
  assert.match(log, '"route":"/socket.io/"');
  for (const secret of [invocation, session]) assert.not.ok(log.includes(secret));
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

test('DELETE /delegation closes the sockets that came in with it', async () => {
  const server = plain();
  const { session, invocation, delegation, headers } = await chat(server);
  const [gone, stays] = [
    await greeted(server, session, { ucanDelegation: delegation }),
    await greeted(server, session, { invocation }),
  ];
  await server.ask('/delegation', json({ raw: delegation }, headers));
  assert.is((await server.ask('/delegation', { method: 'DELETE', headers })).status, 200);
  await until(() => gone.states.length > 1, 'closed');
  assert.equal([gone.states[1], stays.states], ['disconnect: io server disconnect', ['connect']]);
  stays.close();
});

test('a delegation alone opens no socket where that is off', () =>
  served(
    async (server) => {
      const { session, delegation } = await chat(server);
      const tab = openTab(server.url, { query: { sessionId: session }, auth: { ucanDelegation: delegation } });
      await until(() => tab.states.length > 1, 'sent away');
      assert.equal(tab.heard, []);
    },
    { env: { UCAN_DELEGATION_AUTH: 'off' } },
  ));

test('handshakes are counted like requests, and what goes over an open connection is not', () =>
  served(
    async (server) => {
      const { session, invocation } = await chat(server);
      const tab = openTab(server.url, {
        transports: ['polling'],
        query: { sessionId: session },
        auth: { invocation },
      });
      await until(() => tab.heard.length > 0, 'greeted');
      for (let sent = 0; sent < 20; sent++) await tab.socket.timeout(10_000).emitWithAck('ping');
      assert.is((await upgrade(server.url)).status, 101);
      const { status, headers } = await upgrade(server.url);
      assert.is(status, 429);
      assert.ok(Number(headers['retry-after']) > 0 && headers['x-request-id']);
      tab.close();
    },
    { env: { RATE_LIMIT_MAX: '3' } },
  ));

test('a server that has too much to do lets nobody in, and keeps those who are', () =>
  served(
    async (server) => {
      const { status, headers } = await upgrade(server.url);
      assert.equal([status, headers['retry-after']], [503, '1']);
    },
    { overload: { requestsAtOnce: 0 } },
  ));

test('CORS_ORIGIN says which pages may connect, and what polling pages may read', () =>
  served(
    async (server) => {
      const poll = (origin: string) => server.ask('/socket.io/?EIO=4&transport=polling', { headers: { origin } });
      const ours = await poll('https://app.example');
      assert.equal(
        [ours.status, ours.headers['access-control-allow-origin'], ours.headers['access-control-allow-credentials']],
        [200, 'https://app.example', 'true'],
      );
      const evil = await poll('https://evil.example');
      assert.equal([evil.status, evil.headers['access-control-allow-origin']], [403, undefined]);
      assert.is((await upgrade(server.url, { origin: 'https://evil.example' })).status, 400);
      assert.is((await upgrade(server.url, { origin: 'https://app.example' })).status, 101);
    },
    { env: { CORS_ORIGIN: 'https://app.example' } },
  ));

test('a server with open sockets stops in time', () =>
  served(async (server) => {
    const { session, invocation } = await chat(server);
    const tabs = [await greeted(server, session, { invocation }), await greeted(server, session, { invocation })];
    const begun = performance.now();
    await server.close({ drainDelayMs: 0 });
    assert.ok(performance.now() - begun < 10_000);
    for (const tab of tabs) await until(() => tab.states[1] === 'disconnect: transport close', 'hung up on');
  }));

test('a phone gateway that asks for HTTP/2 gets its answer', async () => {
  const server = plain();
  const { body, headers } = json(DIAL);
  const asking = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' };
  const answer = await server.ask('/api/ussd', { method: 'POST', headers: { ...headers, ...asking }, body: body! });
  assert.match(answer.text, /^CON /);
});

test('other paths below /socket.io are not there', async () => {
  const { ask } = plain();
  for (const path of ['/socket.io', '/socket.io/socket.io.js', '/socket.io/x'])
    assert.is((await ask(path)).status, 404, path);
  assert.is((await ask('/socket.io/')).status, 400);
});

test.run();
