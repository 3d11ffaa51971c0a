// What sockets are told while runs go on, and the answers that browsers give to calls of tools and actions.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Agent } from '../../../lib/agent/agent.ts';
import { AGENT_LIMITS } from '../../../lib/agent/limits.ts';
import type { ToolOutcome } from '../../../lib/agent/responder.ts';
import { ROOM_EVENTS } from '../../../lib/agent/room.ts';
import { framesOf, ground, newSession, say, scripted } from '../../agent/ground.ts';
import { type Heard, newUser, openPlace, openTab, type Place, type Tab, type User, until } from './ground.ts';

const test = suite('sockets: events');
const schema = {};
const request = {
  message: 'go',
  tools: [{ name: 'pick', description: 'Picks', schema }],
  agActions: [{ name: 'paint', description: 'Paints', schema }],
};

interface Scene {
  readonly place: Place;
  readonly user: User;
  readonly session: string;
  readonly tab: Tab;
  /** Another tab of the same user in the same session. */
  readonly other: Tab;
  /** What came of the calls. */
  readonly outcomes: ToolOutcome[];
  /** Begins a run that makes the calls. */
  go(): Promise<string>;
  ask(tab: Tab, event: string, payload: object): Promise<{ success: boolean; error?: string }>;
}

/** A run that calls these tools at once, and two tabs that look on. */
async function scene(names: readonly string[], play: (scene: Scene, here: ReturnType<typeof ground>) => Promise<void>) {
  const here = ground();
  const outcomes: ToolOutcome[] = [];
  const responder = scripted(async function* ({ tools }) {
    yield { type: 'router', step: 'choose' };
    yield { type: 'render', component: 'Chart', args: { bars: 3 } };
    outcomes.push(...(await Promise.all(names.map((name, at) => tools.call(name, { at }, { id: `c${at}` })))));
    yield { type: 'text', text: 'done' };
  });
  const place = await openPlace({ here, responder });
  const user = newUser(here);
  const session = await newSession(place.agent, user.did);
  const options = { query: { sessionId: session }, auth: { invocation: await user.invocation() } };
  const [tab, other] = [openTab(place.url, options), openTab(place.url, options)];
  try {
    await until(() => tab.heard.length > 0 && other.heard.length > 0, 'greeted');
    const go = () => say(place.agent, session, 'go', { owner: user.did, request });
    const ask = (one: Tab, event: string, payload: object) => one.socket.timeout(10_000).emitWithAck(event, payload);
    await play({ place, user, session, tab, other, outcomes, go, ask }, here);
  } finally {
    tab.close();
    other.close();
    await place.close();
  }
}

/** The payloads of one event so far, of those that came as `event`. */
const wrapped = (tab: Tab, name: string) =>
  tab.said('event').flatMap(({ eventName, payload }) => (eventName === name ? [payload as Heard['payload']] : []));

const ended = async (agent: Agent, run: string, { did }: User) =>
  (await framesOf(agent, run, did)).at(-1)!.json.status as string;

test('every tab of a session hears each event once flat, and once wrapped if there is something to show, in order', () =>
  scene([], async ({ place, session, tab, other }) => {
    for (const [at, event] of ROOM_EVENTS.entries())
      await place.agent.room.tell(session, event, { sessionId: session, requestId: 'r', at });
    const all = ROOM_EVENTS.flatMap((event, at) => {
      const payload = { sessionId: session, requestId: 'r', at };
      const names = event === 'router_update' ? [event, 'router.update'] : [event];
      const isShown = event !== 'reasoning' && event !== 'router_update';
      return [
        ...names.map((name) => ({ event: name, payload })),
        ...(isShown ? [{ event: 'event', payload: { eventName: event, payload } }] : []),
      ];
    });
    for (const one of [tab, other]) {
      await until(() => one.heard.length >= all.length + 1, 'all told');
      assert.equal(one.heard.slice(1), all);
    }
  }));

test('a browser tool is called in the tabs, and what one of them answers goes on in the run', () =>
  scene(['pick'], async ({ place, user, session, tab, other, outcomes, go, ask }) => {
    const run = await go();
    await until(() => tab.said('browser_tool_call').length > 0 && other.said('browser_tool_call').length > 0, 'called');
    const requestId = 'request-go';
    assert.equal(tab.said('browser_tool_call'), [
      { sessionId: session, requestId, toolCallId: 'c0', toolName: 'pick', args: { at: 0 } },
    ]);
    assert.equal(await ask(other, 'tool_result', { toolCallId: 'c0', sessionId: session, result: { picked: 2 } }), {
      success: true,
    });
    assert.is((await ask(tab, 'tool_result', { toolCallId: 'c0', result: { picked: 3 } })).success, false);
    assert.is(await ended(place.agent, run, user), 'finished');
    assert.equal(outcomes, [{ ok: true, output: { picked: 2 } }]);
    await until(() => tab.said('tool_call').some(({ status }) => status === 'done'), 'told of the end');
    assert.equal(
      tab.said('tool_call').map(({ toolName, status, requestId: of }) => [toolName, status, of]),
      [
        ['pick', 'isRunning', requestId],
        ['pick', 'done', requestId],
      ],
    );
    assert.equal(tab.said('router.update'), [{ sessionId: session, requestId, step: 'choose' }]);
    assert.equal(tab.said('render_component')[0]!.componentName, 'Chart');
    assert.ok(tab.said('reasoning').length > 0);
  }));

test('an action answers, or says inside its result that it failed', () =>
  scene(['paint', 'paint'], async ({ place, user, session, tab, outcomes, go, ask }) => {
    const run = await go();
    await until(() => tab.said('action_call').length === 2, 'both called');
    await ask(tab, 'action_call_result', { toolCallId: 'c0', sessionId: session, result: { ok: 1 } });
    const failing = { success: false, error: 'no paint' };
    assert.is(
      (await ask(tab, 'action_call_result', { toolCallId: 'c1', sessionId: session, result: failing })).success,
      true,
    );
    assert.is(await ended(place.agent, run, user), 'finished');
    assert.equal(outcomes, [
      { ok: true, output: { ok: 1 } },
      { ok: false, error: 'no paint' },
    ]);
  }));

test('a tool that says its error has failed, and the run goes on', () =>
  scene(['pick'], async ({ place, user, tab, outcomes, go, ask }) => {
    const run = await go();
    await until(() => tab.said('browser_tool_call').length > 0, 'called');
    await ask(tab, 'tool_result', { toolCallId: 'c0', result: null, error: 'closed by the user' });
    assert.is(await ended(place.agent, run, user), 'finished');
    assert.equal(outcomes, [{ ok: false, error: 'closed by the user' }]);
  }));

test('calls that nobody answers fail when their time is up: actions first, then browser tools', () =>
  scene(['pick', 'paint'], async ({ place, user, session, tab, outcomes, go, ask }, { clock }) => {
    const run = await go();
    await until(() => tab.said('browser_tool_call').length + tab.said('action_call').length > 1, 'both called');
    const simulated = clock as unknown as { advance(ms: number): Promise<void> };
    await simulated.advance(AGENT_LIMITS.actionMs);
    await until(() => wrapped(tab, 'action_call').some(({ status }) => status === 'error'), 'the action failed');
    assert.equal(
      tab.said('action_call').map(({ status }) => status),
      ['isRunning'],
      'clients run an action for every flat event of it',
    );
    assert.is(
      (await ask(tab, 'action_call_result', { toolCallId: 'c1', sessionId: session, result: 1 })).success,
      false,
    );
    await simulated.advance(AGENT_LIMITS.browserToolMs - AGENT_LIMITS.actionMs);
    assert.is(await ended(place.agent, run, user), 'finished');
    assert.equal(
      outcomes.map(({ ok }) => ok),
      [false, false],
    );
  }));

test('answers count for their own call, session and user alone, and nonsense counts for nothing', () =>
  scene(['pick'], async ({ place, user, session, tab, outcomes, go, ask }) => {
    const run = await go();
    await until(() => tab.said('browser_tool_call').length > 0, 'called');
    const bob = newUser(ground());
    const elsewhere = await newSession(place.agent, user.did);
    const foreign = await newSession(place.agent, bob.did);
    const wrong: readonly object[] = [
      { toolCallId: 'c1', result: 1 },
      { toolCallId: 'c0', sessionId: elsewhere, result: 1 },
      { toolCallId: 'c0', sessionId: foreign, result: 1 },
      { toolCallId: { $ne: 1 }, result: 1 },
      { toolCallId: 'c0', sessionId: ['x'], result: 1 },
      { toolCallId: 'c0', result: 'x'.repeat(AGENT_LIMITS.toolResultBytes) },
      {},
      [],
    ];
    for (const payload of wrong)
      assert.is((await ask(tab, 'tool_result', payload)).success, false, JSON.stringify(payload).slice(0, 60));
    assert.equal(outcomes, []);
    assert.is((await ask(tab, 'tool_result', { toolCallId: 'c0', sessionId: session, result: 'yes' })).success, true);
    assert.is(await ended(place.agent, run, user), 'finished');
    assert.equal([outcomes, place.problems], [[{ ok: true, output: 'yes' }], []]);
  }));

test('a socket answers for the sessions that it listens to, and for no other one of its user', () =>
  scene(['pick'], async ({ place, user, session, other, outcomes, go, ask }) => {
    const elsewhere = await newSession(place.agent, user.did);
    const auth = { invocation: await user.invocation() };
    const tab = openTab(place.url, { query: { sessionId: elsewhere }, auth });
    await until(() => tab.heard.length > 0, 'greeted');
    const run = await go();
    await until(() => other.said('browser_tool_call').length > 0, 'called');
    const answer = () => ask(tab, 'tool_result', { toolCallId: 'c0', sessionId: session, result: 'here' });
    assert.is((await answer()).success, false);
    await ask(tab, 'subscribe', { sessionId: session });
    for (let taken = false; !taken; ) taken = (await answer()).success;
    assert.is(await ended(place.agent, run, user), 'finished');
    assert.equal(outcomes, [{ ok: true, output: 'here' }]);
    tab.close();
  }));

test.run();
