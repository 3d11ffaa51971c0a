// Two instances on one real Redis: every client hears every event once, wherever the run and the client are.

import type { Redis } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectRedis, type RedisConnection } from '../../../lib/store/redis/connection.ts';
import { redisChannel } from '../../../lib/store/redis/index.ts';
import { type Ground, ground, newSession, say, scripted } from '../../agent/ground.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { newUser, openPlace, openTab, type Place, type Tab, type User } from './ground.ts';

const test = suite('sockets: two instances');

let redis: RedisServer;
let connections: RedisConnection[] = [];
let channels: Ground['channel'][] = [];
const places: Place[] = [];
let here: Ground;
let ann: User;
let session: string;
let auth: { invocation: string };
const tabs: Tab[] = [];

const responder = scripted(async function* ({ tools }) {
  const { ok } = await tools.call('pick', {}, { id: 'c0' });
  yield { type: 'text', text: String(ok) };
});

test.before(async () => {
  redis = await startRedis();
  // What is late on a busy machine is not lost: a command that took a second would be told to this instance alone.
  const given = { url: redis.url, commandMs: 10_000 };
  connections = [connectRedis(given), connectRedis(given)];
  channels = connections.map((connection) => redisChannel({ connection }));
  here = ground();
  for (const [at, connection] of connections.entries())
    places.push(await openPlace({ here: { ...here, channel: channels[at]! }, redis: connection, responder }));
  ann = newUser(here);
  session = await newSession(places[0]!.agent, ann.did);
  auth = { invocation: await ann.invocation() };
});
test.after.each(() => {
  for (const tab of tabs.splice(0)) tab.close();
});
test.after(async () => {
  await Promise.all(places.map((place) => place.close()));
  await Promise.all(channels.map((channel) => channel.close()));
  await Promise.all(connections.map((connection) => connection.close()));
  await redis?.stop();
});

async function greeted(at: number, given: object = auth): Promise<Tab> {
  const tab = openTab(places[at]!.url, { query: { sessionId: session }, auth: { ...given } });
  tabs.push(tab);
  await until('greeted', () => tab.heard.length > 0);
  return tab;
}

let told = 0;
const tell = async (at: number, count: number) => {
  for (let n = 0; n < count; n++)
    await places[at]!.agent.room.tell(session, 'tool_call', { sessionId: session, at: told++ });
};
// A run of an earlier test may tell of its own tool calls still: they have no number.
const numbers = (tab: Tab) => tab.said('tool_call').flatMap(({ at }) => (typeof at === 'number' ? [at] : []));
const sorted = (list: readonly number[]) => list.toSorted((a, b) => a - b);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

test('each client hears each event once, in the order of whoever tells', async () => {
  const all = [await greeted(0), await greeted(1), await greeted(1)];
  const from = told;
  await tell(0, 50);
  for (const tab of all) await until('told by the first', () => numbers(tab).length >= 50);
  for (const tab of all) assert.equal(numbers(tab), range(from, from + 50));
  await Promise.all([tell(0, 100), tell(1, 100)]);
  for (const tab of all) await until('told by both', () => numbers(tab).length >= 250);
  // What would come twice comes now.
  await tell(1, 1);
  for (const tab of all) await until('the last one', () => numbers(tab).includes(told - 1));
  for (const tab of all) {
    assert.equal(sorted(numbers(tab)), range(from, from + 251));
    await until('wrapped, too', () => tab.said('event').length >= 251);
    assert.is(tab.said('event').length, 251);
  }
});

test('what nobody can read in the stream is left out, and what comes after it arrives', async () => {
  const tab = await greeted(1);
  const { problems } = places[1]!;
  const before = problems.length;
  for (const packet of ['null', '{"data":7}'])
    await connections[0]!.run('add', (client) =>
      (client as Redis).xadd(
        'twinline:sockets',
        '*',
        'uid',
        'x',
        'nsp',
        '/',
        'type',
        '3',
        'data',
        `{"packet":${packet}}`,
      ),
    );
  await until('left out', () => problems.length > before);
  const from = told;
  await tell(0, 1);
  await until('the next one', () => numbers(tab).includes(from));
});

test('a browser on one instance answers the call of a run on the other', async () => {
  const tab = await greeted(1);
  const request = { message: 'go', tools: [{ name: 'pick', description: 'Picks', schema: {} }] };
  const run = await say(places[0]!.agent, session, 'go', { owner: ann.did, request });
  await until('called', () => tab.said('browser_tool_call').length > 0);
  const answer = await tab.ask('tool_result', { toolCallId: 'c0', result: 1 });
  assert.equal(answer, { success: true });
  const outcome = await places[1]!.agent.outcome({ owner: ann.did, runId: run });
  assert.is(outcome!.message!.content, 'true');
  assert.is(tab.said('browser_tool_call').length, 1);
});

async function moved(tab: Tab, to: number): Promise<Tab> {
  const { _pid: pid, _lastOffset: offset } = tab.socket as unknown as { _pid: string; _lastOffset: string };
  // The instance that it left keeps its state when it sees the connection end, behind what it tells at that moment.
  const find = () => connections[to]!.run('find the state', (client) => client.exists(`twinline:socket:${pid}`));
  await until('the state is kept', async () => (await find()) > 0);
  return greeted(to, { ...auth, pid, offset });
}

test('a client that was cut off on one instance comes back on the other with nothing missed or doubled', async () => {
  const tab = await greeted(0);
  const from = told;
  await tell(1, 5);
  await until('told', () => numbers(tab).length >= 5);
  tab.socket.io.engine.close();
  await tell(0, 30);
  await tell(1, 30);
  const telling = tell(1, 30);
  const twin = await moved(tab, 1);
  await telling;
  await until('caught up', () => numbers(twin).length >= 90);
  await tell(0, 1);
  await until('listens', () => numbers(twin).includes(told - 1));
  assert.equal(sorted([...numbers(tab), ...numbers(twin)]), range(from, from + 96));
});

test('a client that missed thousands of events gets them all, in order', async () => {
  const tab = await greeted(0);
  const from = told;
  await tell(0, 1);
  await until('told', () => numbers(tab).length >= 1);
  tab.socket.io.engine.close();
  await tell(0, 1_500);
  const twin = await moved(tab, 1);
  await until('caught up', () => numbers(twin).length >= 1_500);
  assert.equal(numbers(twin), range(from + 1, from + 1_501));
});

test('a revocation on one instance sends away the sockets of the other', async () => {
  const raw = await ann.delegation();
  const tab = await greeted(1, { ucanDelegation: raw });
  await places[0]!.delegations.store(ann.did, raw);
  await places[0]!.delegations.revoke(ann.did);
  await until('gone', () => tab.states.length > 1);
  assert.is(tab.states[1], 'disconnect: io server disconnect');
});

test('while Redis is away the sockets of the instance that tells are told, and all when it is back', async () => {
  const [near, far] = [await greeted(0), await greeted(1)];
  await redis.kill();
  const from = told;
  await tell(0, 1);
  await until('told without Redis', () => numbers(near).length >= 1);
  near.socket.io.engine.close();
  const late = openTab(places[0]!.url, { query: { sessionId: session }, auth });
  tabs.push(late);
  await until('let in without Redis', () => late.heard.length > 0);
  await redis.restart();
  await until('told by the other instance again', () => {
    void tell(0, 1);
    return numbers(far).length > 0;
  });
  assert.equal(sorted([...new Set(numbers(far))]), sorted(numbers(far)));
  assert.ok(numbers(far).every((at) => at > from));
});

test.run();
