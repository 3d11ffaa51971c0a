// Wherever a process dies, and whatever answer of a store is lost: the run ends once, and readers, transcript and log
// say the same of it.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Agent } from '../../lib/agent/agent.ts';
import { RUN } from '../../lib/agent/kinds.ts';
import type { Responder } from '../../lib/agent/responder.ts';
import { flowResponder } from '../../lib/agent/responders/flow.ts';
import type { StoredRun } from '../../lib/agent/run/run.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { flowFixture } from '../support/flow-fixture.ts';
import { numbersFrom } from '../support/random.ts';
import { chooseSize, isShort } from '../support/size.ts';
import { ANN, framesOf, type Ground, ground, newSession, scripted, settled, shownText, soundLog } from './ground.ts';
import { mortal } from './mortal.ts';

const test = suite('agent runs through crashes');

const COUNTER = flowFixture('counter');

const COMPILED = compileFlow(COUNTER);

interface Story {
  responder(here: Ground, stores: Pick<Ground, 'snapshots'>, effects: Map<string, number>): Responder;
  readonly message: string;
  /** What may have come of it, after few deaths. */
  readonly ends: readonly (readonly [status: string, text: RegExp])[];
  /** Effects by their idempotency keys: how many different ones. */
  readonly effects: number;
}

const flow: Story['responder'] = (here, { snapshots }, effects) =>
  flowResponder({
    store: snapshots,
    clock: here.clock,
    flow: 'counter',
    conversations: [COMPILED],
    services: {
      add: async ({ to }, { idempotencyKey }) => {
        effects.set(idempotencyKey, (effects.get(idempotencyKey) ?? 0) + 1);
        return (to as number) + 1;
      },
    },
  });

const talk =
  (isResumable: boolean): Story['responder'] =>
  () =>
    scripted(
      async function* () {
        for (const text of ['one ', 'two ', 'three']) {
          yield { type: 'text', text };
          await settled(1);
        }
      },
      { isResumable },
    );

const STORIES: { readonly [name: string]: Story } = {
  'a flow that calls a service': {
    responder: flow,
    message: '1',
    ends: [['finished', /^You have 1\.\nLine two/]],
    effects: 1,
  },
  'a flow that asks the browser': { responder: flow, message: '2', ends: [['finished', /^(Here|Lost)/]], effects: 0 },
  'a responder that can be taken up': {
    responder: talk(true),
    message: 'hi',
    ends: [['finished', /^one two three$/]],
    effects: 0,
  },
  'one that cannot': {
    responder: talk(false),
    message: 'hi',
    ends: [
      ['finished', /^one two three$/],
      ['interrupted', /^(one )?(two )?(three)?$/],
    ],
    effects: 0,
  },
};

/** Longer than every lease. */
const WHILE = 20_000;
const FEW = 4;

interface Living {
  readonly agent: Agent;
  readonly death: Promise<'dead'>;
}

/** Lives the story with processes that die after so many calls each; how many died. */
async function live(story: Story, lives: Iterator<number>, lastWrite: boolean): Promise<number> {
  const here = ground();
  const effects = new Map<string, number>();
  const witness = await here.agent(story.responder(here, here, new Map()));
  const session = await newSession(witness);
  const first = await witness.send({ owner: ANN, session, requestId: 'r1', request: { message: 'hello' } });
  assert.is(first.kind, 'accepted');
  await witness.idle();
  const stop = await witness.room.listen(session, (event, payload) => {
    if (event === 'browser_tool_call') void answer(witness, session, payload);
  });
  const request = { message: story.message, tools: [{ name: 'locate', description: '', schema: {} }] };
  const send = { owner: ANN, session, requestId: 'r2', request };
  let deaths = 0;
  for (let isDone = false; !isDone; ) {
    const process = await begin(here, story, { calls: lives.next().value ?? 1e9, lastWrite, effects });
    const work = async (): Promise<'done'> => {
      if (!(await storedRun(here, session))) await process.agent.send(send);
      await process.agent.sweep();
      await process.agent.idle();
      return 'done';
    };
    const outcome = await withTime(here, Promise.race([work(), process.death]));
    const run = await storedRun(here, session);
    isDone =
      outcome === 'done' && run !== undefined && (run.body.machine as { context: { sealed: boolean } }).context.sealed;
    if (!isDone) {
      deaths++;
      await here.clock.advance(WHILE);
    }
  }
  stop();
  await settled();
  await check(here, story, { session, witness, deaths, effects });
  return deaths;
}

interface Life {
  readonly calls: number;
  readonly lastWrite: boolean;
  readonly effects: Map<string, number>;
}

async function begin(here: Ground, story: Story, { calls, lastWrite, effects }: Life): Promise<Living> {
  const { stores, death } = mortal(here, { calls, lastWrite });
  const agent = await here.agent(story.responder(here, stores, effects), stores);
  return { agent, death };
}

/** Time passes while somebody works; after a minute of it nothing more can come. */
async function withTime<T>({ clock }: Ground, work: Promise<T>): Promise<T | 'late'> {
  let isOver = false;
  const patience = async (): Promise<'late'> => {
    for (let round = 0; round < 60 && !isOver; round++) {
      await settled(20);
      if (!isOver) await clock.advance(1_000);
    }
    return 'late';
  };
  const outcome = await Promise.race([work, patience()]);
  isOver = true;
  return outcome;
}

async function storedRun({ documents }: Ground, session: string) {
  const { items } = await documents.find<StoredRun>(RUN, { index: 'session', where: { session, turn: { gt: 1 } } });
  assert.ok(items.length <= 1, `${items.length} runs`);
  return items[0];
}

async function answer(witness: Agent, session: string, payload: JsonObject): Promise<void> {
  await witness.answerCall({ owner: ANN, session, toolCallId: payload.toolCallId as string, result: { town: 'x' } });
}

interface Outcome {
  readonly session: string;
  readonly witness: Agent;
  readonly deaths: number;
  readonly effects: Map<string, number>;
}

async function check(here: Ground, story: Story, { session, witness, deaths, effects }: Outcome): Promise<void> {
  const { id } = (await storedRun(here, session))!;
  const frames = await framesOf(witness, id);
  soundLog(frames);
  const { status } = frames.at(-1)!.json;
  const text = shownText(frames);
  const isExpected = story.ends.some(([end, words]) => end === status && words.test(text));
  assert.ok(isExpected || deaths > FEW, `after ${deaths} deaths: ${status} ${JSON.stringify(text)}`);
  const said = (await witness.transcript.all(session)).slice(2).map(({ type, content }) => [type, content]);
  const tools = frames.some(({ event }) => event === 'tool_call');
  assert.equal(said, [['human', story.message], ...(text || tools ? [['ai', text]] : [])]);
  assert.is(await witness.openRun(ANN, session), null);
  if (deaths <= FEW) assert.is(effects.size, story.effects);
  const calls = frames.filter(({ event }) => event === 'tool_call').map(({ json }) => [json.eventId, json.status]);
  assert.is(new Set(calls.map(String)).size, calls.length, 'each call is told once and ends once');
  // And the conversation goes on.
  const next = await witness.send({ owner: ANN, session, requestId: 'r3', request: { message: '/menu' } });
  assert.is(next.kind, 'accepted');
  await withTime(here, witness.idle());
  assert.is((await witness.transcript.all(session)).at(-2)!.content, '/menu');
}

/** In short size one call in so many, another one in each test. */
const STEP = isShort ? 5 : 1;
let first = 0;

for (const [name, story] of Object.entries(STORIES))
  for (const lastWrite of [false, true]) {
    const from = first++ % STEP;
    test(`${name}: a process dies at every call of its stores, ${lastWrite ? 'whose answer is lost' : 'before it'}`, async () => {
      let calls = from;
      for (let deaths = 1; deaths > 0; calls += STEP) deaths = await live(story, [calls].values(), lastWrite);
      assert.ok(calls > 15, `${calls} calls`);
    });
  }

test('processes that die again and again, at calls that chance picks', async () => {
  const seeds = chooseSize({ short: 15, day: 30, whole: 60 });
  let deaths = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const random = numbersFrom(seed);
    const story = Object.values(STORIES)[seed % Object.keys(STORIES).length]!;
    const lives = Array.from({ length: 6 }, () => Math.floor(random() * 30)).values();
    deaths += await live(story, lives, random() < 0.5);
  }
  assert.ok(deaths > seeds, `${deaths} deaths`);
});

test.run();
