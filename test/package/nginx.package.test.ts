// The proxy that is shipped, with two instances behind it: sockets of both kinds, streams as they come, long imports.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hangs, type ModelServer, modelServer, said } from '../agent/model-server.ts';
import { type Chatter, newChatter } from '../server/agent/chats.ts';
import { ORACLE_KEY } from '../server/plugins/users.ts';
import { openTab, type Tab } from '../server/sockets/ground.ts';
import { headersOf, writeKeys } from '../server/support/domain-client.ts';
import { ask, DIAL, json } from '../server/support/serve.ts';
import { skipWithout } from '../support/on-path.ts';
import { type RunningServer, startProcess } from '../support/process.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import { type Nginx, startNginx } from './nginx.ts';

const test = suite('nginx.conf');

let folder: string;
let redis: RedisServer;
let model: ModelServer;
let ann: Chatter;
let proxy: Nginx;
let servers: readonly RunningServer[] = [];
const tabs: Tab[] = [];

test.before(async () => {
  skipWithout(['nginx']);
  redis = await startRedis();
  folder = mkdtempSync(join(tmpdir(), 'twinline-nginx-'));
  model = await modelServer(hangs(said('So far. ')));
  ann = await newChatter();
  const env = {
    ORACLE_KEY,
    REDIS_URL: redis.url,
    API_KEYS_FILE: writeKeys(folder),
    DATA_DIR: join(folder, 'data'),
    MODEL_BASE_URL: model.url,
    MODEL_API_KEY: 'k',
    MODEL_NAME: 'small',
  };
  servers = await Promise.all([startProcess(env), startProcess(env)]);
  proxy = await startNginx(
    folder,
    servers.map(({ url }) => url),
  );
});
test.after.each(() => {
  for (const tab of tabs.splice(0)) tab.close();
});
test.after(async () => {
  await proxy?.stop();
  await Promise.all(servers.map((server) => server.kill()));
  await model?.close();
  await redis?.stop();
  if (folder) rmSync(folder, { recursive: true });
});

async function connected(transport: 'polling' | 'websocket'): Promise<Tab> {
  const sessionId = await ann.begin(proxy.url);
  const tab = openTab(proxy.url, {
    transports: [transport],
    query: { sessionId },
    auth: { invocation: ann.token },
  });
  tabs.push(tab);
  await until('the socket is let in or refused', () => tab.states.length > 0);
  assert.equal(tab.states, ['connect']);
  return tab;
}

test('a dial and a WebSocket pass', async () => {
  assert.match((await ask(`${proxy.url}/api/ussd`, json(DIAL))).text, /^CON /);
  const tab = await connected('websocket');
  assert.is(tab.socket.io.engine.transport.name, 'websocket');
});

test('all requests of a polling socket go to one instance, and the sockets of all to both', async () => {
  const open = await Promise.all(Array.from({ length: 12 }, () => connected('polling')));
  for (const { socket } of open) assert.is(socket.io.engine.transport.name, 'polling');
  for (const tab of tabs.splice(0)) tab.close();
  const polls = () => proxy.passed().filter(({ path }) => path.includes('transport=polling'));
  await until('three requests of each socket', () => polls().length >= 36);
  const places = new Map<string, Set<string>>();
  for (const { path, status, upstream } of polls()) {
    assert.is(status, 200, path);
    const session = new URL(path, proxy.url).searchParams.get('sessionId')!;
    places.set(session, (places.get(session) ?? new Set()).add(upstream));
  }
  assert.is(places.size, 12);
  for (const [session, upstreams] of places) assert.is(upstreams.size, 1, session);
  assert.is(new Set([...places.values()].flatMap((upstreams) => [...upstreams])).size, 2);
});

test('a stream is passed on while it is being written', async () => {
  const session = await ann.begin(proxy.url);
  // The model never ends its answer.
  const reader = await ann.say(proxy.url, session, 'wait');
  await reader.until('message');
  await reader.close();
});

test('an import of any size passes, and each line has its answer', async () => {
  const line = (at: number) =>
    `${JSON.stringify({ type: 'Protocol', alsoKnownAs: `did:ixo:protocol/p${at}`, pad: 'x'.repeat(500_000) })}\n`;
  const numbers = Array.from({ length: 14 }, (_, at) => at + 1);
  const answer = await ask(`${proxy.url}/v1/bulk`, {
    method: 'POST',
    headers: { ...headersOf('operator'), 'content-type': 'application/x-ndjson' },
    body: numbers.map(line).join(''),
  });
  assert.is(answer.status, 207);
  const rows = answer.text.trimEnd().split('\n');
  assert.equal(
    rows.map((row) => (JSON.parse(row) as { line: number }).line),
    numbers,
  );
});

test('what is larger than the instances take is refused in their words', async () => {
  const body = JSON.stringify({ type: 'x'.repeat(2_000_000) });
  const answer = await ask(`${proxy.url}/v1/protocols`, {
    method: 'POST',
    headers: { ...headersOf('operator'), 'content-type': 'application/json' },
    body,
  });
  assert.is(answer.status, 413);
  assert.match(answer.headers['content-type'] ?? '', /^application\/problem\+json/);
});

test.run();
