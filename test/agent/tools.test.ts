// Tools: of the browser, of the interface, of the server; answers in time, late, foreign, and none.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Agent } from '../../lib/agent/agent.ts';
import { AGENT_LIMITS } from '../../lib/agent/limits.ts';
import type { HostTool, ToolOutcome } from '../../lib/agent/responder.ts';
import type { Json } from '../../lib/json/json.ts';
import { ANN, BOB, framesOf, ground, newSession, say, scripted, settled, soundLog } from './ground.ts';

const test = suite('tools of a run');

const schema = {};
const request = {
  message: 'go',
  tools: [{ name: 'pick', description: 'Picks', schema }],
  agActions: [{ name: 'paint', description: 'Paints', schema }],
};

/** A responder that calls these tools at once and keeps what came of them. */
function calling(...names: string[]) {
  const outcomes: ToolOutcome[] = [];
  const responder = scripted(async function* ({ tools }) {
    outcomes.push(...(await Promise.all(names.map((name, at) => tools.call(name, { at }, { id: `c${at}` })))));
    yield { type: 'text', text: 'on it goes' };
  });
  return { outcomes, responder };
}

async function begun(agent: Agent) {
  const session = await newSession(agent);
  const runId = await say(agent, session, 'go', { request });
  await settled();
  const answer = (toolCallId: string, more: object = {}) =>
    agent.answerCall({ owner: ANN, session, toolCallId, result: { yes: true }, ...more });
  return { session, runId, answer };
}

test('an answer that comes in time is the outcome; only the first, of this session and this call, by its owner', async () => {
  const here = ground();
  const { responder, outcomes } = calling('pick', 'paint');
  const [one, other] = [await here.agent(responder), await here.agent(responder)];
  const told: unknown[] = [];
  const { session, runId, answer } = await begun(one);
  const elsewhere = await newSession(one);
  assert.is((await one.openRun(ANN, session))!.status, 'running');
  assert.equal(
    [
      await answer('c9'),
      await answer('c0', { session: elsewhere }),
      await answer('c0', { owner: BOB }),
      await other.answerCall({ owner: ANN, session, toolCallId: 'c0', result: { picked: 1 } }),
      await answer('c0'),
      await answer('c1', { result: undefined, error: 'no paint' }),
      await answer('c1'),
    ],
    [false, false, false, true, false, true, false],
  );
  const frames = await framesOf(one, runId);
  soundLog(frames);
  assert.equal(outcomes, [
    { ok: true, output: { picked: 1 } },
    { ok: false, error: 'no paint' },
  ]);
  for (const { event, json } of frames)
    if (event === 'action_call') told.push([json.toolCallId, json.toolName, json.args, json.status, json.error]);
  assert.equal(told, [
    ['c1', 'paint', { at: 1 }, 'isRunning', undefined],
    ['c1', 'paint', { at: 1 }, 'error', 'no paint'],
  ]);
  await one.idle();
  assert.is(await answer('c1'), false);
});

test('a call that nobody answers fails after its time, and the run goes on', async () => {
  const here = ground();
  const { responder, outcomes } = calling('pick', 'paint');
  const agent = await here.agent(responder);
  const { runId, answer } = await begun(agent);
  await here.clock.advance(AGENT_LIMITS.actionMs - 1);
  await settled();
  assert.is(
    (await here.documents.get<{ status: string }>({ name: 'agent-run', indexes: {} }, runId))!.body.status,
    'waiting',
  );
  await here.clock.advance(1);
  await settled();
  assert.is(await answer('c1'), false, 'too late for the action');
  await here.clock.advance(AGENT_LIMITS.browserToolMs - AGENT_LIMITS.actionMs);
  const frames = await framesOf(agent, runId);
  assert.equal([frames.at(-1)!.json.status, outcomes.map(({ ok }) => ok)], ['finished', [false, false]]);
  assert.is(await answer('c0'), false);
  await agent.idle();
});

test('an answer whose wake-up is lost still counts', async () => {
  const here = ground();
  const { responder, outcomes } = calling('pick');
  const agent = await here.agent(responder);
  const deaf = await here.agent(responder, { channel: { ...here.channel, publish: async () => {} } });
  const { session } = await begun(agent);
  await deaf.answerCall({ owner: ANN, session, toolCallId: 'c0', result: 7 });
  await here.clock.advance(AGENT_LIMITS.browserToolMs);
  await agent.idle();
  assert.equal(outcomes, [{ ok: true, output: 7 }]);
});

test('what nests too deep is refused wherever it comes from, and the run goes on', async () => {
  const deep = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as Json;
  const outcomes: ToolOutcome[] = [];
  const responder = scripted(async function* ({ tools }) {
    outcomes.push(await tools.call('paint', { deep: deep(100_000) }), await tools.call('pick', {}, { id: 'c0' }));
    yield { type: 'text', text: 'done' };
  });
  const agent = await ground().agent(responder);
  const session = await newSession(agent);
  const request = { message: 'x', metadata: { deep: deep(100_000) } };
  const refusal = await agent.send({ owner: ANN, session, requestId: 'r', request }).catch((error) => error.code);
  assert.is(refusal, 'ERR_INPUT');
  const { runId, answer } = await begun(agent);
  assert.is(await answer('c0', { result: deep(100_000) }).catch((error) => error.code), 'ERR_INPUT');
  assert.is(await answer('c0', { result: deep(10) }), true);
  assert.is((await framesOf(agent, runId)).at(-1)!.json.status, 'finished');
  assert.equal(outcomes, [
    { ok: false, error: 'Its arguments nest too deep.' },
    { ok: true, output: deep(10) },
  ]);
});

test('an answer that is too large is refused, and may be given again', async () => {
  const { responder, outcomes } = calling('pick');
  const agent = await ground().agent(responder);
  const { answer } = await begun(agent);
  const refusal = await answer('c0', { result: 'x'.repeat(AGENT_LIMITS.toolResultBytes) }).catch((error) => error.code);
  assert.is(refusal, 'ERR_INPUT');
  assert.is(await answer('c0', { result: 'short' }), true);
  await agent.idle();
  assert.equal(outcomes, [{ ok: true, output: 'short' }]);
});

test('tools of the server come before others of their name; one that throws or hangs fails and says nothing', async () => {
  const here = ground();
  const { responder, outcomes } = calling('pick', 'throws', 'hangs', 'nothing');
  const seen: unknown[] = [];
  const tool = (name: string, handler: HostTool['handler']): HostTool => ({ name, description: name, schema, handler });
  const hostTools = () => [
    tool('pick', (args, { owner, session, idempotencyKey }) => {
      seen.push([args, owner, session, idempotencyKey]);
      return 'host';
    }),
    tool('throws', () => {
      throw new Error('password');
    }),
    tool('hangs', () => new Promise(() => {})),
  ];
  const agent = await here.agent(responder, { hostTools });
  const { session, runId } = await begun(agent);
  await here.clock.advance(AGENT_LIMITS.pluginToolMs);
  const frames = await framesOf(agent, runId);
  assert.equal(seen, [[{ at: 0 }, ANN, session, 'c0']]);
  assert.equal(outcomes, [
    { ok: true, output: 'host' },
    { ok: false, error: 'The tool failed.' },
    { ok: false, error: 'The tool took too long.' },
    { ok: false, error: 'There is no tool "nothing".' },
  ]);
  assert.not.match(JSON.stringify(frames), 'password');
  assert.is(frames.at(-1)!.json.status, 'finished');
  await agent.idle();
});

test('an abort ends calls that wait, and readers see their end', async () => {
  const { responder } = calling('pick', 'paint');
  const agent = await ground().agent(responder);
  const { session, runId } = await begun(agent);
  await agent.abort({ owner: ANN, session });
  const frames = await framesOf(agent, runId);
  const ends = frames.flatMap(({ json }) =>
    json.status === 'done' || json.status === 'error' ? [json.output ?? json.error] : [],
  );
  assert.equal(ends, ['⏱️ Tool did not complete', '⏱️ Tool did not complete']);
  assert.is(frames.at(-1)!.json.status, 'aborted');
  await agent.idle();
});

test('a run that was stopped calls no tool any more, of the server or of the user', async () => {
  const outcomes: ToolOutcome[] = [];
  let ran = 0;
  const responder = scripted(async function* ({ tools, signal }) {
    yield { type: 'text', text: 'so' };
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    outcomes.push(await tools.call('spend', {}), await tools.call('pick', {}));
  });
  const spend: HostTool = { name: 'spend', description: 'Spends', schema, handler: () => ++ran };
  const agent = await ground().agent(responder, { hostTools: () => [spend] });
  const { session, runId } = await begun(agent);
  await agent.abort({ owner: ANN, session });
  await agent.idle();
  await settled();
  const stopped = { ok: false, error: 'The run has stopped.' };
  assert.equal([ran, outcomes], [0, [stopped, stopped]]);
  soundLog(await framesOf(agent, runId));
});

test.run();
