// Each call of an action reaches a client once, whatever is cut and whoever comes late; and a chat shows nothing twice.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AGENT_LIMITS } from '../../../lib/agent/limits.ts';
import { SimulatedClock } from '../../../lib/clock.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { framesOf, ground, say, scripted } from '../../agent/ground.ts';
import { type Answer, called, calls, ended, modelServer, said, thought } from '../../agent/model-server.ts';
import { until } from '../../support/until.ts';
import { newSession as newServedSession, newUser as newServedUser, ORACLE_KEY } from '../plugins/users.ts';
import { sharedServer } from '../support/serve.ts';
import { openChatClient } from './chat-client.ts';
import { back, cut, type PlaceOptions, type Scene, type Tab, withScene } from './ground.ts';

const test = suite('sockets: calls');

const paint = { name: 'paint', description: 'Paints', schema: {} };
const request = { message: 'go', agActions: [paint] };
const WORDS = Array.from({ length: 12 }, (_, at) => `w${at} `);

/** A model that calls an action, and then thinks and talks. */
const answer: Answer = async (response, asked) => {
  if (!asked.body.messages.some(({ role }) => role === 'tool'))
    return calls(thought('I will paint'), called('paint', '{"colour":"red"}'))(response, asked);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const part of [thought('painted'), ...WORDS.map(said)]) {
    response.write(part);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  response.end(ended());
};
const model = await modelServer(answer);
const clock = new SimulatedClock(Date.now());
const server = sharedServer(test, { clock, env: { ORACLE_KEY, MODEL_BASE_URL: model.url, MODEL_NAME: 'small' } });
test.after(() => model.close());

/** Opens a client of a new session, which asks that model; the stream of the reply breaks after these frames. */
async function chat(cuts: readonly number[], hasSocket = true) {
  const user = await newServedUser();
  const session = await newServedSession(server(), user);
  const socket = { auth: { invocation: user.token } };
  const { url } = server();
  const client = openChatClient({ url, session, headers: user.headers, ...(hasSocket && { socket }) });
  if (hasSocket) await until('the client is greeted', () => client.tab!.heard.length > 0);
  const text = client.send(request, cuts).finally(client.close);
  return { text, ran: client.ran, shown: () => [...client.shown.values()] };
}

test('with a stream that breaks never, once and twice, an action runs once and nothing without words is shown', async () => {
  for (const cuts of [[], [5], [5, 9]]) {
    const { text, ran, shown } = await chat(cuts);
    assert.is(await text, WORDS.join(''));
    assert.is(ran.length, 1, `cut after ${cuts}`);
    assert.equal(shown(), ['done', WORDS.join('')]);
  }
});

test('a client with a stream alone sees how an action goes: nobody answers it', async () => {
  // Its stream does not break: what is on its way while the clock is set on would count as unread for so long.
  const { text, shown } = await chat([], false);
  await until('the call is told', () => shown().includes('isRunning'));
  await until('the call waits', () => clock.pending().includes(AGENT_LIMITS.actionMs));
  await clock.advance(AGENT_LIMITS.actionMs);
  assert.is(await text, WORDS.join(''));
  assert.equal(shown(), ['error', WORDS.join('')]);
});

interface Painting extends Pick<Scene, 'here'> {
  /** Begins a run that calls the action; resolves when the call waits. */
  go(): Promise<void>;
  /** A tab; resolves when it was greeted. */
  open(): Promise<Tab>;
  /** Answers the call in the place of a tab that has not yet. */
  answer(tab: Tab, result: unknown): Promise<Readonly<Record<string, unknown>>>;
  /** What came of the call, when the run has ended. */
  outcome(): Promise<unknown>;
}

interface SceneOptions extends Pick<PlaceOptions, 'here'> {
  /** Whether tabs answer every flat event of the action at once. @default false */
  readonly answers?: boolean;
}

async function scene({ here = ground(), answers = false }: SceneOptions, play: (scene: Painting) => Promise<void>) {
  const outcomes: unknown[] = [];
  const responder = scripted(async function* ({ tools }) {
    outcomes.push(await tools.call('paint', { colour: 'red' }, { id: 'c0' }));
    yield { type: 'text', text: 'done' };
  });
  await withScene({ here, responder }, async ({ place: { agent }, user, session, open }) => {
    let run = '';
    await play({
      here,
      async go() {
        run = await say(agent, session, 'go', { owner: user.did, request });
        const stored = () => here.documents.get<{ status: string }>({ name: 'agent-run', indexes: {} }, run);
        await until('the call waits', async () => (await stored())!.body.status === 'waiting');
      },
      async open() {
        const tab = open({ auth: { invocation: await user.invocation() } });
        if (answers)
          tab.socket.on('action_call', ({ toolCallId }) =>
            tab.socket.emit('action_call_result', { toolCallId, result: 'red' }),
          );
        await until('the client is greeted', () => tab.heard.length > 0);
        return tab;
      },
      answer: (tab, result) => tab.ask('action_call_result', { toolCallId: 'c0', sessionId: session, result }),
      async outcome() {
        await framesOf(agent, run, user.did);
        return outcomes[0];
      },
    });
  });
}

/** Connects again; resolves when it was greeted. */
async function comeBack(tab: Tab): Promise<void> {
  const greetings = tab.said('connected').length;
  await back(tab);
  await until('greeted again', () => tab.said('connected').length > greetings);
}

/** Resolves when everything that the server had to say to this tab so far has come. */
const caughtUp = (tab: Tab) => tab.ask('status');

test('a call that was made before a client came reaches the first that comes, and nobody else', () =>
  scene({}, async ({ go, open, answer, outcome }) => {
    await go();
    const first = await open();
    await until('called', () => first.said('action_call').length > 0);
    const second = await open();
    await caughtUp(second);
    assert.equal(
      first.said('action_call').map(({ toolCallId, toolName, args, status }) => [toolCallId, toolName, args, status]),
      [['c0', 'paint', { colour: 'red' }, 'isRunning']],
    );
    assert.is(second.said('action_call').length, 0);
    assert.is((await answer(first, 'red')).success, true);
    assert.equal(await outcome(), { ok: true, output: 'red' });
    assert.is(first.said('action_call').length, 1);
  }));

test('a client that was called and loses its socket is not called again, and its answer counts', () =>
  scene({}, async ({ go, open, answer, outcome }) => {
    const tab = await open();
    await go();
    await until('called', () => tab.said('action_call').length > 0);
    await cut(tab);
    await comeBack(tab);
    await caughtUp(tab);
    assert.is(tab.said('action_call').length, 1);
    await cut(tab);
    // Not as one that comes back: it has forgotten what it has heard.
    const anew = await open();
    await caughtUp(anew);
    assert.is(anew.said('action_call').length, 0);
    assert.is((await answer(anew, 'red')).success, true);
    assert.equal(await outcome(), { ok: true, output: 'red' });
  }));

test('a client that is away while the call is made is called once when it comes back', () =>
  scene({ answers: true }, async ({ go, open, outcome }) => {
    const tab = await open();
    await cut(tab);
    await go();
    await comeBack(tab);
    assert.equal(await outcome(), { ok: true, output: 'red' });
    assert.is(tab.said('action_call').length, 1);
  }));

test('a call that nobody waits for any more is not told to a client that comes back, nor to a new one', () =>
  scene({}, async ({ go, open, outcome, here }) => {
    const [tab, witness] = [await open(), await open()];
    await cut(tab);
    await go();
    await until('called', () => witness.said('action_call').length > 0);
    await until('the call waits', () => here.clock.pending().includes(AGENT_LIMITS.actionMs));
    await here.clock.advance(AGENT_LIMITS.actionMs);
    assert.equal(await outcome(), { ok: false, error: 'The client did not answer the action in time.' });
    await comeBack(tab);
    const anew = await open();
    for (const one of [tab, anew]) await caughtUp(one);
    // The witness was told flat of the call alone: clients run an action for every such event.
    assert.equal(
      [tab, anew, witness].map((one) => one.said('action_call').length),
      [0, 0, 1],
    );
  }));

test('an answer that comes at once finds its call, however slow the store is', async () => {
  const before = ground();
  const slow: DocumentStore = {
    ...before.documents,
    replace: async (...given) => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      return before.documents.replace(...given);
    },
  };
  await scene({ here: ground({ ...before, documents: slow }), answers: true }, async ({ go, open, outcome }) => {
    await open();
    await go();
    assert.equal(await outcome(), { ok: true, output: 'red' });
  });
});

test.run();
