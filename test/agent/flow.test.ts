// The responder that needs no model: flows as chats, with their choices, commands, calls and endings.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Agent } from '../../lib/agent/agent.ts';
import { type FlowResponderOptions, flowResponder } from '../../lib/agent/responders/flow.ts';
import type { Services } from '../../lib/engine/service.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { loadFlow } from '../../lib/flow/format/load.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { flowFixture } from '../support/flow-fixture.ts';
import { ANN, framesOf, type Ground, ground, newSession, say, shownText, soundLog } from './ground.ts';

const test = suite('the flow responder');

const SHOP = flowFixture('shop');

interface Chat {
  readonly agent: Agent;
  readonly session: string;
  /** The text that comes back. */
  ask(message: string): Promise<string>;
}

function responderOn(here: Ground, flow: Flow, options: Partial<FlowResponderOptions> = {}) {
  const { snapshots: store, clock } = here;
  return flowResponder({ store, clock, flow: flow.flow, conversations: [compileFlow(flow)], ...options });
}

async function chat(here: Ground, flow: Flow, services: Services = {}): Promise<Chat> {
  const agent = await here.agent(responderOn(here, flow, { services }));
  const session = await newSession(agent);
  const ask = async (message: string) => {
    const frames = await framesOf(agent, await say(agent, session, message));
    soundLog(frames);
    assert.is(frames.at(-1)!.json.status, 'finished');
    await agent.idle();
    return shownText(frames);
  };
  return { agent, session, ask };
}

test('the assistant talks: a question first, numbers, free words, commands, a name, an end and a new beginning', async () => {
  const { ask, agent, session } = await chat(ground(), await loadFlow('menus/assistant.flow.json'));
  assert.match(await ask('What is a digital twin?'), /^A domain is a digital twin/);
  assert.match(await ask('2'), /^A flow is a JSON file/);
  assert.match(await ask('/back'), /^A domain is a digital twin/);
  assert.match(await ask('/menu'), /^Hello\.\nWhat do you need\?/);
  assert.match(await ask('/menu'), /^Hello\.\nWhat do you need\?/, 'where a key leads nowhere the same is shown');
  assert.match(await ask('call me'), /What shall I call you\?/);
  assert.match(await ask('Tariro'), /^Hello, Tariro\.\nWhat do you need/);
  assert.match(await ask('/help'), /^Hello, Tariro\./);
  assert.match(await ask('thank you'), /^I was glad to help\. Goodbye, Tariro\./);
  assert.match(await ask('4'), /^An agent answers messages/, 'after its end it begins anew, with the message');
  assert.match(await ask('/reset'), /^Hello\.\nWhat do you need/);
  assert.is((await agent.transcript.all(session)).length, 22);
  const { title } = (await agent.sessions.get(ANN, session))!;
  assert.is(title, 'What is a digital twin?');
});

test('a menu is opened by any words, and answered by its numbers; its texts know the user', async () => {
  const { ask } = await chat(ground(), SHOP);
  assert.match(await ask('good morning'), /^Shop of did:key:ann\n1\. Buy/);
  assert.match(await ask('9'), /^Invalid choice\.\nShop of/);
  assert.is(await ask('4'), 'Bye');
  assert.is(await ask('4'), 'Bye');
});

test('calls are tool calls, told while they are made; one that fails after its tries is told once', async () => {
  let tries = 0;
  const services: Services = {
    'stock.count': async ({ of }) => ({ left: of === 'apples' ? 3 : 0 }),
    charge: async () => {
      tries++;
      throw new TwinlineError('ERR_REFUSED', 'no');
    },
  };
  const { agent, session, ask } = await chat(ground(), SHOP, services);
  await ask('hi');
  const frames = await framesOf(agent, await say(agent, session, '1'));
  const calls = frames.filter(({ event }) => event === 'tool_call').map(({ json }) => json);
  assert.equal(
    calls.map(({ toolName, args, status, output }) => [toolName, args, status, output]),
    [
      ['stock.count', { of: 'apples', toolName: 'stock.count' }, 'isRunning', undefined],
      ['stock.count', { of: 'apples', toolName: 'stock.count' }, 'done', '{"left":3}'],
    ],
  );
  assert.is(calls[0]!.eventId, calls[1]!.eventId);
  assert.match(shownText(frames), /^3 left/);
  await agent.idle();
  await ask('/menu');
  await ask('3');
  const failed = await framesOf(agent, await say(agent, session, '1234'));
  const told = failed.filter(({ event }) => event === 'tool_call').map(({ json }) => json);
  // What a service gets that takes secrets is not shown.
  assert.equal(
    told.map(({ args, status, output }) => [args, status, output]),
    [
      [{ toolName: 'charge' }, 'isRunning', undefined],
      [{ toolName: 'charge' }, 'done', 'ERR_REFUSED'],
    ],
  );
  assert.is(tries, 1);
  assert.is(shownText(failed), 'Closed');
});

test('a flow asks the browser of the user, and goes on without when nobody answers', async () => {
  const here = ground();
  const { agent, session, ask } = await chat(here, SHOP);
  const asked: Record<string, unknown>[] = [];
  const stop = await agent.room.listen(session, (event, payload) => {
    if (event !== 'browser_tool_call') return;
    asked.push(payload);
    const toolCallId = payload.toolCallId as string;
    void agent.answerCall({ owner: ANN, session, toolCallId, result: { town: 'Harare' } });
  });
  const tools = [{ name: 'geolocate', description: 'Where', schema: {} }];
  await ask('hi');
  const found = await say(agent, session, 'x', { request: { message: '2', tools } });
  assert.match(shownText(await framesOf(agent, found)), /^At Harare/);
  assert.equal(
    asked.map(({ toolName, args, sessionId }) => [toolName, args, sessionId]),
    [['geolocate', { exact: true }, session]],
  );
  await agent.idle();
  await ask('/menu');
  assert.match(await ask('2'), /^No idea where/, 'this message declared no tool');
  await ask('/menu');
  stop();
  const runId = await say(agent, session, 'y', { request: { message: '2', tools } });
  const reading = framesOf(agent, runId);
  for (let s = 0; s < 20; s++) await here.clock.advance(1_000);
  assert.match(shownText(await reading), /^No idea where/);
});

test('a conversation lasts as long as the responder says, not as phones do; silence for longer begins it anew', async () => {
  const here = ground();
  const { ask } = await chat(here, await loadFlow('menus/assistant.flow.json'));
  await ask('call me');
  await ask('Tariro');
  await here.clock.advance(29 * 86_400_000);
  assert.match(await ask('/menu'), /^Hello, Tariro/);
  await here.clock.advance(31 * 86_400_000);
  assert.match(await ask('hello'), /^Hello\.\nWhat/);
});

test('no session of a chat ever falls due for the sweep of other doors, and none is left of a deleted one', async () => {
  const here = ground();
  const stuck = chat(here, SHOP, { 'stock.count': () => new Promise(() => {}) });
  const { agent, session, ask } = await stuck;
  await ask('hi');
  await say(agent, session, '1');
  await new Promise(setImmediate);
  assert.equal(await here.snapshots.due(here.clock.now() + 86_400_000, 10), []);
  assert.ok(await here.snapshots.load(`agent/${session}`));
  await agent.deleteSession(ANN, session);
  await agent.idle();
  await here.clock.advance(120_000);
  await agent.sweep();
  assert.is(await here.snapshots.load(`agent/${session}`), undefined);
});

test.run();
