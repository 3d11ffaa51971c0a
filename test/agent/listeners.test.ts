// Whoever listens to runs: settled before they end, once more after a crash; told what sockets are told; asked for instructions.

import { randomUUID } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AGENT_LIMITS } from '../../lib/agent/limits.ts';
import type { RunReport } from '../../lib/agent/options.ts';
import type { RunRoomEvent } from '../../lib/agent/room.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { ANN, asleep, framesOf, ground, newSession, say, scripted, settled } from './ground.ts';

const test = suite('listeners to runs');

const USAGE = { inputTokens: 3, outputTokens: 5 };
const costly = scripted(async function* () {
  yield { type: 'text', text: 'hello' };
  yield { type: 'usage', usage: USAGE };
});

test('a run ends after it was settled, and is settled again while the store is away', async () => {
  const here = ground();
  const reports: RunReport[] = [];
  const seen: string[] = [];
  const agent = await here.agent(costly, {
    settle: async (report) => {
      seen.push((await agent.openRun(ANN, session))!.status);
      reports.push(report);
      if (reports.length < 3) throw new TwinlineError('ERR_STORE', 'away');
    },
    onEnd: () => seen.push('ended'),
  });
  const session = await newSession(agent);
  const runId = await say(agent, session, 'hi');
  for (let at = 0; at < 5; at++) {
    await settled();
    await here.clock.advance(100);
  }
  await agent.idle();
  assert.equal(seen, ['running', 'running', 'running', 'ended']);
  const frames = (await framesOf(agent, runId)).length;
  const about = { runId, owner: ANN, session, requestId: 'request-hi' };
  assert.equal(reports[2], { ...about, status: 'finished', usage: USAGE, frames });
});

test('a run whose process dies while it is settled is settled by the next one, under the same id', async () => {
  const here = ground();
  const ids: string[] = [];
  const dying = await here.agent(costly, {
    clock: asleep(here.clock),
    settle: async ({ runId }) => {
      ids.push(runId);
      await new Promise(() => {});
    },
  });
  const session = await newSession(dying);
  const runId = await say(dying, session, 'hi');
  await settled();
  await here.clock.advance(AGENT_LIMITS.runLeaseMs);
  const heir = await here.agent(costly, { settle: async ({ runId: id }) => void ids.push(id) });
  assert.is(await heir.sweep(), 1);
  await heir.idle();
  assert.equal(ids, [runId, runId]);
  assert.is((await framesOf(heir, runId)).at(-1)!.json.status, 'finished');
});

test('a listener is told whose event it is, and what it throws harms nobody', async () => {
  const here = ground();
  const heard: RunRoomEvent[] = [];
  const responder = scripted(async function* ({ instructions }) {
    yield { type: 'render', component: 'Card', args: { said: (await instructions!()).join(' ') } };
  });
  const agent = await here.agent(responder, {
    onEvent: (told) => {
      heard.push(told);
      throw new Error('deaf');
    },
    instructions: async ({ owner, session: of }) => [`${owner} speaks`, String(of === session)],
  });
  const session = await newSession(agent);
  const runId = await say(agent, session, 'hi');
  await agent.idle();
  const card = heard.find(({ event }) => event === 'render_component')!;
  assert.equal([card.runId, card.owner, card.session, card.requestId], [runId, ANN, session, 'request-hi']);
  assert.equal(card.payload.args, { said: `${ANN} speaks true` });
  assert.is((await framesOf(agent, runId)).at(-1)!.json.status, 'finished');
  assert.ok(here.problems.length > 0);
});

test('a run of one id is begun once, whoever sends it again', async () => {
  const here = ground();
  const agent = await here.agent(costly);
  const session = await newSession(agent);
  const runId = randomUUID();
  assert.is(await say(agent, session, 'hi', { runId, multitask: 'enqueue' }), runId);
  for (const message of ['hi', 'other']) {
    const again = agent.send({
      owner: ANN,
      session,
      requestId: 'r',
      request: { message },
      runId,
      multitask: 'enqueue',
    });
    assert.is(
      await again.then(
        () => 'sent',
        (error: TwinlineError) => error.code,
      ),
      'ERR_EXISTS',
    );
  }
  await agent.idle();
  assert.is((await agent.transcript.all(session)).length, 2);
});

test.run();
