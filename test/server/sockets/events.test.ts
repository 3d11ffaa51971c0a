// What sockets are told while runs go on, and the answers that browsers give to calls of tools and actions.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Agent } from '../../../lib/agent/agent.ts';
import type { ToolOutcome } from '../../../lib/agent/responder.ts';
import { ROOM_EVENTS } from '../../../lib/agent/room.ts';
import { framesOf, newSession, say, scripted } from '../../agent/ground.ts';
import { until } from '../../support/until.ts';
import { type Scene, type Tab, type User, withScene } from './ground.ts';

const test = suite('sockets: events');
const schema = {};
const request = {
  message: 'go',
  tools: [{ name: 'pick', description: 'Picks', schema }],
  agActions: [{ name: 'paint', description: 'Paints', schema }],
};

interface Calling extends Scene {
  readonly tab: Tab;
  /** Another tab of the same user in the same session. */
  readonly other: Tab;
  /** What came of the calls. */
  readonly outcomes: ToolOutcome[];
  /** Begins a run that makes the calls. */
  go(): Promise<string>;
}

/** A run that calls these tools at once, and two tabs that look on. */
async function scene(names: readonly string[], play: (scene: Calling) => Promise<void>): Promise<void> {
  const outcomes: ToolOutcome[] = [];
  const responder = scripted(async function* ({ tools }) {
    yield { type: 'router', step: 'choose' };
    yield { type: 'render', component: 'Chart', args: { bars: 3 } };
    outcomes.push(...(await Promise.all(names.map((name, at) => tools.call(name, { at }, { id: `c${at}` })))));
    yield { type: 'text', text: 'done' };
  });
  await withScene({ responder }, async (own) => {
    const [tab, other] = [await own.greeted(), await own.greeted()];
    const go = () => say(own.place.agent, own.session, 'go', { owner: own.user.did, request });
    await play({ ...own, tab, other, outcomes, go });
  });
}

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
      await until('all told', () => one.heard.length >= all.length + 1);
      assert.equal(one.heard.slice(1), all);
    }
  }));

test('a browser tool is called in the tabs, and what one of them answers goes on in the run', () =>
  scene(['pick'], async ({ place, user, session, tab, other, outcomes, go }) => {
    const run = await go();
    await until('called', () => tab.said('browser_tool_call').length > 0 && other.said('browser_tool_call').length > 0);
    const requestId = 'request-go';
    assert.equal(tab.said('browser_tool_call'), [
      { sessionId: session, requestId, toolCallId: 'c0', toolName: 'pick', args: { at: 0 } },
    ]);
    assert.equal(await other.ask('tool_result', { toolCallId: 'c0', sessionId: session, result: { picked: 2 } }), {
      success: true,
    });
    assert.is((await tab.ask('tool_result', { toolCallId: 'c0', result: { picked: 3 } })).success, false);
    assert.is(await ended(place.agent, run, user), 'finished');
    assert.equal(outcomes, [{ ok: true, output: { picked: 2 } }]);
    await until('told of the end', () => tab.said('tool_call').some(({ status }) => status === 'done'));
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

test('a call that is answered has what the answer says, an action says inside its result that it failed', () =>
  scene(['paint', 'paint', 'pick'], async ({ place, user, session, tab, outcomes, go }) => {
    const run = await go();
    await until('all called', () => tab.said('action_call').length + tab.said('browser_tool_call').length === 3);
    const failing = { success: false, error: 'no paint' };
    const answers: readonly (readonly [event: string, answer: object])[] = [
      ['action_call_result', { toolCallId: 'c0', sessionId: session, result: { ok: 1 } }],
      ['action_call_result', { toolCallId: 'c1', sessionId: session, result: failing }],
      ['tool_result', { toolCallId: 'c2', result: null, error: 'closed by the user' }],
    ];
    for (const [event, answer] of answers) assert.is((await tab.ask(event, answer)).success, true);
    assert.is(await ended(place.agent, run, user), 'finished');
    assert.equal(outcomes, [
      { ok: true, output: { ok: 1 } },
      { ok: false, error: 'no paint' },
      { ok: false, error: 'closed by the user' },
    ]);
  }));

test('a socket answers for the sessions that it listens to, and for no other one of its user', () =>
  scene(['pick'], async ({ place, user, session, open, other, outcomes, go }) => {
    const elsewhere = await newSession(place.agent, user.did);
    const tab = open({ query: { sessionId: elsewhere }, auth: { invocation: await user.invocation() } });
    await until('greeted', () => tab.heard.length > 0);
    const run = await go();
    await until('called', () => other.said('browser_tool_call').length > 0);
    const answer = () => tab.ask('tool_result', { toolCallId: 'c0', sessionId: session, result: 'here' });
    assert.is((await answer()).success, false);
    await tab.ask('subscribe', { sessionId: session });
    await until('its answer is taken', async () => (await answer()).success === true);
    assert.is(await ended(place.agent, run, user), 'finished');
    assert.equal(outcomes, [{ ok: true, output: 'here' }]);
  }));

test.run();
