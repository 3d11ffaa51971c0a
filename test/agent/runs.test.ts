// A run from its message to its end: what is written to its log, what is kept, and who may see it.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AGENT_LIMITS } from '../../lib/agent/limits.ts';
import {
  ANN,
  endless,
  framesOf,
  ground,
  newSession,
  say,
  saying,
  scripted,
  settled,
  shownText,
  soundLog,
} from './ground.ts';

const test = suite('agent runs');

test('a message is answered: frames in order with their exact shapes, one done, and both messages are kept', async () => {
  const { agent: open } = ground();
  const agent = await open(
    scripted(async function* () {
      yield { type: 'reasoning', text: 'Hm.' };
      yield { type: 'tool-call', id: 't1', name: 'look', args: { at: 1 } };
      yield { type: 'tool-result', id: 't1', output: { seen: true } };
      yield { type: 'text', text: 'Hello\nthere' };
    }),
  );
  const session = await newSession(agent);
  const runId = await say(agent, session, 'hi');
  const frames = await framesOf(agent, runId);
  soundLog(frames);
  const stamp = { sessionId: session, requestId: 'request-hi' };
  const timestamp = '2023-11-14T22:13:20.000Z';
  assert.equal(
    frames.map(({ event, json }) => [event, json]),
    [
      ['run', { runId, requestId: 'request-hi', status: 'running' }],
      ['reasoning', { ...stamp, reasoning: 'Thinking…', isComplete: false, timestamp }],
      [
        'reasoning',
        {
          ...stamp,
          reasoning: 'Hm.',
          reasoningDetails: [{ type: 'reasoning.text', text: 'Hm.' }],
          isComplete: false,
          timestamp,
        },
      ],
      [
        'tool_call',
        { ...stamp, toolName: 'look', args: { at: 1, toolName: 'look' }, status: 'isRunning', eventId: 't1' },
      ],
      [
        'tool_call',
        {
          ...stamp,
          toolName: 'look',
          args: { at: 1, toolName: 'look' },
          status: 'done',
          eventId: 't1',
          output: '{"seen":true}',
        },
      ],
      ['message', { content: 'Hello\nthere', timestamp }],
      ['reasoning', { ...stamp, reasoning: '', isComplete: true, timestamp }],
      ['done', { runId, status: 'finished' }],
    ],
  );
  const { messages } = await agent.transcript.page(session);
  assert.equal(
    messages.map(({ id, ...message }) => [/^[0-9a-f]{64}$/.test(id), message]),
    [
      [true, { type: 'human', content: 'hi', isComplete: true, isReasoning: false }],
      [
        true,
        {
          type: 'ai',
          content: 'Hello\nthere',
          toolCalls: [{ name: 'look', id: 't1', args: { at: 1 }, status: 'done', output: '{"seen":true}' }],
          reasoning: 'Hm.',
          isComplete: true,
          isReasoning: false,
        },
      ],
    ],
  );
  const outcome = await agent.outcome({ owner: ANN, runId });
  assert.equal(outcome?.message, messages[1]);
  assert.equal(outcome?.done, { runId, status: 'finished' });
});

test('a second message is refused while a run is live, stands in line, or takes its place, wherever it is sent', async () => {
  const said: string[] = [];
  const release: (() => void)[] = [];
  const responder = scripted(async function* ({ request, signal }) {
    said.push(request.message);
    yield { type: 'text', text: `re: ${request.message}` };
    await new Promise<void>((resolve) => {
      release.push(resolve);
      signal.addEventListener('abort', () => resolve());
    });
  });
  const here = ground();
  const [agent, other] = [await here.agent(responder), await here.agent(responder)];
  const session = await newSession(agent);
  const first = await say(agent, session, '1');
  const rejected = await other.send({ owner: ANN, session, requestId: 'r', request: { message: '2' } });
  assert.equal(rejected, { kind: 'busy', runId: first });
  const third = await say(other, session, '3', { multitask: 'enqueue' });
  const fourth = await say(agent, session, '4', { multitask: 'enqueue' });
  assert.is((await agent.openRun(ANN, session))?.runId, first);
  const reading = framesOf(agent, third);
  await settled();
  assert.equal(said, ['1']);
  release[0]!();
  await settled();
  assert.equal(said, ['1', '3']);
  const fifth = await say(other, session, '5', { multitask: 'interrupt' });
  await settled();
  assert.equal(said, ['1', '3', '5']);
  release.at(-1)!();
  soundLog(await reading);
  const ends = [first, third, fourth, fifth].map(async (runId) => {
    const frames = await framesOf(agent, runId);
    soundLog(frames);
    return [frames.at(-1)!.json.status, shownText(frames)];
  });
  assert.equal(await Promise.all(ends), [
    ['finished', 're: 1'],
    ['aborted', 're: 3'],
    ['aborted', ''],
    ['finished', 're: 5'],
  ]);
  await Promise.all([agent.idle(), other.idle()]);
  assert.equal(
    (await agent.transcript.all(session)).map(({ content }) => content),
    ['1', 're: 1', '3', 're: 3', '4', '5', 're: 5'],
  );
  assert.is(await agent.openRun(ANN, session), null);
});

test('of many messages sent at once one is taken, the others learn which', async () => {
  const here = ground();
  const agents = await Promise.all([1, 2, 3].map(() => here.agent(endless('x'))));
  const session = await newSession(agents[0]!);
  const sent = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      agents[at % 3]!.send({ owner: ANN, session, requestId: `${at}`, request: { message: `${at}` } }),
    ),
  );
  const accepted = sent.flatMap((one) => (one.kind === 'accepted' ? [one.run.runId] : []));
  assert.is(accepted.length, 1);
  assert.equal(new Set(sent.flatMap((one) => (one.kind === 'busy' ? [one.runId] : []))), new Set(accepted));
  await agents[0]!.abort({ owner: ANN, session });
  await Promise.all(agents.map((agent) => agent.idle()));
});

test('an abort by another instance ends the run at once, with what was said', async () => {
  const here = ground();
  const [one, other] = [await here.agent(endless('half of')), await here.agent(saying('no'))];
  const session = await newSession(one);
  const runId = await say(one, session, 'hi');
  await settled();
  assert.is(await other.abort({ owner: ANN, session }), true);
  const frames = await framesOf(other, runId);
  soundLog(frames);
  assert.equal(frames.at(-1)!.json, { runId, status: 'aborted', aborted: true, partialText: 'half of' });
  await one.idle();
  assert.equal(
    (await other.transcript.all(session)).map(({ content }) => content),
    ['hi', 'half of'],
  );
  assert.is(await other.abort({ owner: ANN, session }), false);
});

test('an abort whose wake-up is lost is noticed with the next renewal of the lease', async () => {
  const here = ground();
  const deaf = { ...here.channel, publish: async () => {} };
  const [one, other] = [await here.agent(endless('x')), await here.agent(saying('no'), { channel: deaf })];
  const session = await newSession(one);
  const runId = await say(one, session, 'hi');
  await settled();
  await other.abort({ owner: ANN, session });
  await settled();
  assert.is((await other.openRun(ANN, session))?.runId, runId);
  await here.clock.advance(AGENT_LIMITS.runRenewMs);
  await one.idle();
  assert.is(await other.openRun(ANN, session), null);
});

test('a responder that fails, says that it failed, or never ends: an error that tells nothing, then done', async () => {
  const secret = 'key=hunter2';
  const scripts = {
    throws: scripted(async function* () {
      yield { type: 'text', text: 'so' };
      throw new Error(secret);
    }),
    tells: scripted(async function* () {
      yield { type: 'error', fault: { error: 'Slow down.', kind: 'rate_limit', status: 429, retryable: true } };
    }),
    endless: endless('so'),
  };
  for (const [name, responder] of Object.entries(scripts)) {
    const here = ground();
    const agent = await here.agent(responder);
    const session = await newSession(agent);
    const runId = await say(agent, session, name);
    await settled();
    if (name === 'endless') await here.clock.advance(AGENT_LIMITS.runMs + AGENT_LIMITS.runRenewMs);
    const frames = await framesOf(agent, runId);
    soundLog(frames);
    assert.not.match(JSON.stringify(frames), secret);
    const [error, done] = frames.slice(-2).map(({ event, json }) => ({ event, json }));
    assert.equal(
      [error!.event, error!.json.kind],
      ['error', { throws: 'unknown', tells: 'rate_limit', endless: 'timeout' }[name]],
    );
    assert.equal(done!.json, { runId, status: 'failed', failed: true, partialText: name === 'tells' ? '' : 'so' });
    await agent.idle();
    assert.is(await agent.openRun(ANN, session), null);
    const outcome = await agent.outcome({ owner: ANN, runId });
    assert.equal([outcome!.done.status, outcome!.error?.kind], ['failed', error!.json.kind]);
  }
});

test('what is over is thrown away: the log and the run after their time, the transcript stays', async () => {
  const here = ground();
  const agent = await here.agent(saying('yes'));
  const session = await newSession(agent);
  const runId = await say(agent, session, 'hi');
  await agent.idle();
  await here.clock.advance(AGENT_LIMITS.runLogKeepMs - 1);
  await agent.sweep();
  assert.ok(await agent.follow({ owner: ANN, runId }));
  await here.clock.advance(2);
  assert.ok((await agent.sweep()) > 0);
  assert.is(await agent.follow({ owner: ANN, runId }), undefined);
  assert.is(await agent.sweep(), 0);
  assert.is((await agent.transcript.all(session)).length, 2);
});

test.run();
