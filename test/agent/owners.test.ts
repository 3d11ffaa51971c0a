// Runs change hands: leases run out, owners are fenced off, processes close; readers see one run that goes on.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Agent } from '../../lib/agent/agent.ts';
import { AGENT_KINDS } from '../../lib/agent/kinds.ts';
import { AGENT_LIMITS } from '../../lib/agent/limits.ts';
import type { Responder } from '../../lib/agent/responder.ts';
import { openRuns, type Run } from '../../lib/agent/run/run.ts';
import {
  ANN,
  asleep,
  endless,
  framesOf,
  type Ground,
  ground,
  newSession,
  say,
  scripted,
  settled,
  shownText,
  soundLog,
} from './ground.ts';

const test = suite('owners of a run');

/** Says these, then waits at the gate. */
function gated(texts: readonly string[], more: Partial<Responder> = {}) {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const responder = scripted(async function* () {
    for (const text of texts) yield { type: 'text', text };
    await gate;
    yield { type: 'text', text: 'end' };
  }, more);
  return { responder, open };
}

/** Begins a run in a process that never wakes up again, and lets its lease run out. */
async function asleepOn(here: Ground, responder: Responder) {
  const sleeper = await here.agent(responder, { clock: asleep(here.clock) });
  const session = await newSession(sleeper);
  const runId = await say(sleeper, session, 'hi');
  await settled();
  await here.clock.advance(AGENT_LIMITS.runLeaseMs);
  return { sleeper, session, runId };
}

const contentsOf = async (agent: Agent, session: string) =>
  (await agent.transcript.all(session)).map(({ content }) => content);

test('a run whose owner sleeps too long is taken over; what the sleeper still writes is refused', async () => {
  const here = ground();
  const [first, second] = [gated(['a', 'b']), gated(['a', 'b', 'c'])];
  const { sleeper, session, runId } = await asleepOn(here, first.responder);
  const heir = await here.agent(second.responder);
  assert.is((await heir.openRun(ANN, session))!.status, 'recovering');
  assert.is(await heir.sweep(), 1);
  await settled();
  first.open();
  await sleeper.idle();
  second.open();
  const frames = await framesOf(heir, runId);
  soundLog(frames);
  await heir.idle();
  assert.is(shownText(frames), 'abcend');
  const resumed = frames.filter(({ json }) => json.resumed);
  assert.equal(
    resumed.map(({ json }) => json.partialLength),
    [2],
  );
  assert.equal(await contentsOf(heir, session), ['hi', 'abcend']);
});

test('who says something else the second time takes back what no longer holds', async () => {
  const here = ground();
  const { session, runId } = await asleepOn(here, endless('The sum is 12'));
  const heir = await here.agent(
    scripted(async function* () {
      yield { type: 'text', text: 'The ' };
      yield { type: 'text', text: 'sum is 9' };
    }),
  );
  await heir.sweep();
  const frames = await framesOf(heir, runId);
  soundLog(frames);
  assert.is(shownText(frames), 'The sum is 9');
  await heir.idle();
  assert.equal(await contentsOf(heir, session), ['hi', 'The sum is 9']);
});

test('an owner that renews keeps its run for as long as it needs', async () => {
  const here = ground();
  const { responder, open } = gated(['a']);
  const [owner, other] = [await here.agent(responder), await here.agent(endless('no'))];
  const session = await newSession(owner);
  const runId = await say(owner, session, 'hi');
  for (let round = 0; round < 12; round++) {
    await here.clock.advance(AGENT_LIMITS.runRenewMs);
    await settled();
    assert.is(await other.sweep(), 0);
  }
  open();
  assert.is(shownText(await framesOf(other, runId)), 'aend');
  await owner.idle();
});

test('a run that kills whoever takes it ends as interrupted after so many owners', async () => {
  const here = ground();
  const deadly = endless('x');
  const session = await newSession(await here.agent(deadly));
  let runId = '';
  for (let owners = 0; owners <= AGENT_LIMITS.runClaims; owners++) {
    const sleeper = await here.agent(deadly, { clock: asleep(here.clock) });
    if (runId) await sleeper.sweep();
    else runId = await say(sleeper, session, 'hi');
    await settled();
    await here.clock.advance(AGENT_LIMITS.runLeaseMs);
  }
  const last = await here.agent(deadly);
  await last.sweep();
  const frames = await framesOf(last, runId);
  soundLog(frames);
  assert.is(frames.at(-1)!.json.status, 'interrupted');
  await last.idle();
});

test('a process that closes leaves its runs to others at once, and takes no more', async () => {
  const here = ground();
  const { responder, open } = gated(['a']);
  const [closing, other] = [await here.agent(endless('a')), await here.agent(responder)];
  const session = await newSession(closing);
  const runId = await say(closing, session, 'hi');
  await settled();
  await closing.close();
  assert.is(closing.size, 0);
  const sent = await closing.send({
    owner: ANN,
    session: await newSession(other),
    requestId: 'r',
    request: { message: 'x' },
  });
  assert.is(sent.kind, 'full');
  assert.is(await other.sweep(), 1);
  open();
  assert.is(shownText(await framesOf(other, runId)), 'aend');
  await other.idle();
});

test('a message in line whose process died is answered by another, when its turn has come', async () => {
  const here = ground();
  const echo = scripted(async function* ({ request }) {
    yield { type: 'text', text: request.message };
  });
  const doomed = await here.agent(endless('x'), { clock: asleep(here.clock) });
  const session = await newSession(doomed);
  await say(doomed, session, '1');
  const second = await say(doomed, session, '2', { multitask: 'enqueue' });
  await settled();
  const heir = await here.agent(echo);
  await here.clock.advance(AGENT_LIMITS.runLeaseMs);
  for (let round = 0; round < 4; round++) {
    await heir.sweep();
    await settled();
    await here.clock.advance(AGENT_LIMITS.runLeaseMs);
  }
  assert.is(shownText(await framesOf(heir, second)), '2');
  await heir.idle();
  assert.equal(await contentsOf(heir, session), ['1', '1', '2', '2']);
});

test('nobody claims a run that is held, and whoever lost one changes nothing of it any more', async () => {
  const { documents, clock } = ground();
  await documents.declare(AGENT_KINDS);
  const [old, heir] = [openRuns({ documents, clock, holder: 'old' }), openRuns({ documents, clock, holder: 'heir' })];
  const asked = { owner: ANN, session: 's', turn: 1, requestId: 'r', request: { message: 'hi' } };
  const mine = (await old.begin(asked))!;
  assert.is(await heir.begin({ ...asked, turn: 2 }), undefined);
  await clock.advance(AGENT_LIMITS.runLeaseMs - 1);
  assert.is(await heir.claim(mine.id), 'held');
  await clock.advance(1);
  const theirs = await heir.claim(mine.id);
  assert.ok(typeof theirs === 'object' && theirs.context.fence > mine.context.fence);
  const { revision } = theirs as Run;
  const call = { id: 'c', kind: 'browser', name: 'n' } as const;
  assert.equal(
    [
      await old.renew(mine),
      await old.ask(mine, call, { ms: 1, seen: [] }),
      await old.end(mine, 'finished'),
      await old.seal(mine),
      await old.release(mine),
    ],
    [undefined, undefined, undefined, undefined, undefined],
  );
  assert.is((await heir.get(mine.id))!.revision, revision);
  const ended = await heir.end(theirs as Run, 'finished');
  assert.equal([ended?.state, await heir.abort(mine.id), await old.claim(mine.id)], ['finished', undefined, 'held']);
  assert.ok(await heir.seal(ended!));
  assert.is(await old.claim(mine.id), 'gone');
});

test.run();
