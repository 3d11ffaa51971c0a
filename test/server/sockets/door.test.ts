// The door of the sockets: who is let in, who is sent away, and what is told at once.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { ground, newSession } from '../../agent/ground.ts';
import { until } from '../../support/until.ts';
import { ask } from '../support/serve.ts';
import { newUser, openPlace, openTab, type Place, type Tab, type TabOptions } from './ground.ts';

const test = suite('sockets: the door');
const here = ground();
const ann = newUser(here);
const bob = newUser(here);
let place: Place;
let session: string;
const tabs: Tab[] = [];

test.before(async () => {
  place = await openPlace({ here });
  session = await newSession(place.agent, ann.did);
});
test.after.each(() => {
  for (const tab of tabs.splice(0)) tab.close();
});
test.after(() => place.close());

function open(options: TabOptions): Tab {
  const tab = openTab(place.url, options);
  tabs.push(tab);
  return tab;
}

const SENT_AWAY = ['connect', 'disconnect: io server disconnect'];

test('once a socket is in, nothing is kept of its tokens and headers', async () => {
  const invocation = await ann.invocation();
  const tab = open({
    query: { sessionId: session },
    auth: { invocation },
    extraHeaders: { authorization: `Bearer ${invocation}` },
  });
  await until('the client is greeted', () => tab.heard.length > 0);
  const kept = JSON.stringify(place.handshakes());
  assert.is(place.handshakes().length, 1);
  assert.not.match(kept, invocation.slice(0, 40));
  assert.not.match(kept, session);
});

test('a user who names a session of theirs is greeted, with an invocation or a delegation alone', async () => {
  for (const auth of [{ invocation: await ann.invocation() }, { ucanDelegation: await ann.delegation() }]) {
    const tab = open({ query: { sessionId: session, userDid: bob.did }, auth });
    await until('the client is greeted', () => tab.heard.length > 0);
    const { event, payload } = tab.heard[0]!;
    const { timestamp, ...rest } = payload as { timestamp: string };
    assert.equal([event, rest], ['connected', { message: 'Connected successfully', sessionId: session }]);
    assert.is(new Date(timestamp).toISOString(), timestamp);
  }
});

test('whoever lacks a session, a token or both is connected, then sent away, and hears nothing', async () => {
  const invocation = await ann.invocation();
  const cases: readonly [string, TabOptions][] = [
    ['no session', { auth: { invocation } }],
    ['an empty session', { query: { sessionId: '' }, auth: { invocation } }],
    ['an unknown session', { query: { sessionId: 'nowhere' }, auth: { invocation } }],
    ['no token', { query: { sessionId: session } }],
    ['a bad token', { query: { sessionId: session }, auth: { invocation: 'nonsense' } }],
    [
      'a bad token beside a good delegation',
      { query: { sessionId: session }, auth: { invocation: 'nonsense', ucanDelegation: await ann.delegation() } },
    ],
    ['a token that is no text', { query: { sessionId: session }, auth: { invocation: { $ne: null } } }],
    ["somebody else's session", { query: { sessionId: session }, auth: { invocation: await bob.invocation() } }],
  ];
  for (const [name, options] of cases) {
    const tab = open(options);
    await until(name, () => tab.states.length > 1);
    assert.equal([tab.states, tab.heard], [SENT_AWAY, []], name);
  }
  const twice = `${place.url}/socket.io/?EIO=4&transport=polling&sessionId=${session}&sessionId=${session}`;
  const { sid } = JSON.parse((await ask(twice)).text.slice(1)) as { sid: string };
  const polled = ask(`${twice}&sid=${sid}`);
  await ask(`${twice}&sid=${sid}`, { method: 'POST', body: `40${JSON.stringify({ invocation })}` });
  assert.match((await polled).text, /^40\{"sid":/);
  assert.match((await ask(`${twice}&sid=${sid}`)).text, /^41/);
});

test('who asks is known by the token, whatever the query says, and every request is answered', async () => {
  const tab = open({ query: { sessionId: session }, auth: { invocation: await ann.invocation() } });
  await until('the client is greeted', () => tab.heard.length > 0);
  const answers: Record<string, unknown> = {};
  for (const event of ['ping', 'status', 'list-events', 'subscribe']) answers[event] = await tab.ask(event);
  await until('subscribed', () => tab.said('subscribed').length > 0);
  const told = tab.heard.slice(1).map(({ event, payload }) => [event, payload]);
  assert.equal(told, [
    ['pong', answers.ping],
    ['status', answers.status],
    ['available-events', answers['list-events']],
    ['subscribed', answers.subscribe],
  ]);
  const { timestamp: _, ...status } = answers.status as Record<string, unknown>;
  assert.equal(status, { connected: true, sessionId: session, activeSessions: 1, totalConnections: 1 });
  assert.equal(Object.keys(answers.ping as object).sort(), ['sessionId', 'timestamp']);
  assert.equal(Object.keys(answers.subscribe as object).sort(), ['sessionId', 'timestamp']);
  const { clientEvents, serverEvents } = answers['list-events'] as Record<string, string[]>;
  assert.equal(clientEvents, ['ping', 'status', 'subscribe', 'list-events', 'tool_result', 'action_call_result']);
  assert.equal(serverEvents!.toSorted(), [
    ...['action_call', 'available-events', 'browser_tool_call', 'connected', 'message_cache_invalidation', 'pong'],
    ...['render_component', 'router_update', 'status', 'subscribed', 'tool_call'],
  ]);
});

test('a socket may listen to further sessions of its user, and to nobody else’s', async () => {
  const tab = open({ query: { sessionId: session }, auth: { invocation: await ann.invocation() } });
  await until('the client is greeted', () => tab.heard.length > 0);
  const second = await newSession(place.agent, ann.did);
  const foreign = await newSession(place.agent, bob.did);
  const ask = (sessionId: unknown) => tab.ask('subscribe', { sessionId });
  assert.is((await ask(second)).sessionId, second);
  for (const id of [foreign, 'nowhere', 7, null, { $ne: 1 }])
    assert.equal(await ask(id), { success: false, error: 'Session not found' });
  for (const id of [session, second, foreign])
    await place.agent.room.tell(id, 'reasoning', { sessionId: id, reasoning: 'hm' });
  await until('two sessions', () => tab.said('reasoning').length === 2);
  await tab.ask('ping');
  assert.equal(
    tab.said('reasoning').map(({ sessionId }) => sessionId),
    [session, second],
  );
});

test('a user has so many sockets and no more', async () => {
  const carl = newUser(here);
  const own = await newSession(place.agent, carl.did);
  const auth = { invocation: await carl.invocation() };
  const many = Array.from({ length: SERVER_LIMITS.socketsPerUser + 1 }, () =>
    open({ query: { sessionId: own }, auth }),
  );
  const greeted = () => many.filter(({ heard }) => heard.length > 0);
  await until('all heard back', () => many.every(({ heard, states }) => heard.length > 0 || states.length > 1));
  assert.is(greeted().length, SERVER_LIMITS.socketsPerUser);
  greeted()[0]!.close();
  await until('a place is free again', () => {
    open({ query: { sessionId: own }, auth });
    return (
      tabs.filter(({ heard, states }) => heard[0]?.payload.sessionId === own && states.length === 1).length >=
      SERVER_LIMITS.socketsPerUser
    );
  });
});

test('clients that cannot open WebSockets poll, and move on to one when they can', async () => {
  for (const transports of [['polling'], ['polling', 'websocket']]) {
    const tab = open({ transports, query: { sessionId: session }, auth: { invocation: await ann.invocation() } });
    await until(`greeted by ${transports}`, () => tab.heard.length > 0);
    assert.is((await tab.ask('ping')).sessionId, session);
    await until('moved on', () => tab.socket.io.engine.transport.name === transports.at(-1));
    await place.agent.room.tell(session, 'reasoning', { sessionId: session });
    await until('told', () => tab.said('reasoning').length === 1);
  }
});

test('other namespaces do not exist', async () => {
  const tab = openTab(`${place.url}/admin`, {
    query: { sessionId: session },
    auth: { invocation: await ann.invocation() },
  });
  tabs.push(tab);
  await until('refused', () => tab.states.length > 0);
  assert.equal(tab.states, ['refused']);
});

test.run();
