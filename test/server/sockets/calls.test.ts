// Each call of an action reaches a client once, whatever is cut and whoever comes late; and a chat shows nothing twice.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AGENT_LIMITS } from '../../../lib/agent/limits.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { framesOf, ground, newSession, say, scripted } from '../../agent/ground.ts';
import { called, calls, ended, modelServer, said, thought } from '../../agent/model-server.ts';
import { newUser as newServedUser, ORACLE_KEY } from '../plugins/users.ts';
import { withServer } from '../support/serve.ts';
import { type ChatClient, openChatClient } from './chat-client.ts';
import { newUser, openPlace, openTab, type Tab, until } from './ground.ts';

const test = suite('sockets: calls');

const paint = { name: 'paint', description: 'Paints', schema: {} };
const request = { message: 'go', agActions: [paint] };
const WORDS = Array.from({ length: 12 }, (_, at) => `w${at} `);

/** A whole server whose model calls an action, thinks and talks. */
async function chatted(hasSocket: boolean, play: (client: ChatClient) => Promise<void>): Promise<void> {
  const model = await modelServer(
    calls(thought('I will paint'), called('paint', '{"colour":"red"}')),
    async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const part of [thought('painted'), ...WORDS.map(said)]) {
        response.write(part);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      response.end(ended());
    },
  );
  const { headers } = await newServedUser();
  const invocation = headers.authorization!.slice('Bearer '.length);
  try {
    await withServer({ env: { ORACLE_KEY, MODEL_BASE_URL: model.url, MODEL_NAME: 'small' } }, async ({ url, ask }) => {
      const made = await ask('/sessions', { method: 'POST', headers });
      const session = (made.json() as { sessionId: string }).sessionId;
      const socket = { auth: { invocation } };
      const client = openChatClient({ url, session, headers, ...(hasSocket && { socket }) });
      try {
        if (hasSocket) await until(() => client.tab!.heard.length > 0, 'greeted');
        await play(client);
      } finally {
        client.close();
      }
    });
  } finally {
    await model.close();
  }
}

test('with a stream that breaks never, once and twice, an action runs once and nothing without words is shown', async () => {
  for (const cuts of [[], [5], [5, 9]])
    await chatted(true, async ({ send, ran, shown }) => {
      assert.is(await send(request, cuts), WORDS.join(''));
      assert.is(ran.length, 1, `cut after ${cuts}`);
      assert.equal([...shown.values()], ['done', WORDS.join('')]);
    });
});

test('a client with a stream alone sees how an action goes: nobody answers it', () =>
  chatted(false, async ({ send, shown }) => {
    assert.is(await send(request, [4]), WORDS.join(''));
    assert.equal([...shown.values()], ['error', WORDS.join('')]);
  }));

interface Scene {
  /** Begins a run that calls the action; resolves when the call waits. */
  go(): Promise<void>;
  /** A tab that answers every flat event of the action at once; resolves when it was greeted. */
  open(auth?: object): Promise<Tab>;
  /** Answers the call in the place of a tab that has not yet. */
  answer(tab: Tab, result: unknown): Promise<{ readonly success: boolean }>;
  /** What came of the call, when the run has ended. */
  outcome(): Promise<unknown>;
  readonly here: ReturnType<typeof ground>;
}

interface SceneOptions {
  readonly here?: ReturnType<typeof ground>;
  /** Whether tabs answer at once. @default false */
  readonly answers?: boolean;
}

async function scene({ here = ground(), answers = false }: SceneOptions, play: (scene: Scene) => Promise<void>) {
  const outcomes: unknown[] = [];
  const responder = scripted(async function* ({ tools }) {
    outcomes.push(await tools.call('paint', { colour: 'red' }, { id: 'c0' }));
    yield { type: 'text', text: 'done' };
  });
  const place = await openPlace({ here, responder });
  const user = newUser(here);
  const session = await newSession(place.agent, user.did);
  const invocation = await user.invocation();
  const tabs: Tab[] = [];
  let run = '';
  try {
    await play({
      here,
      async go() {
        run = await say(place.agent, session, 'go', { owner: user.did, request });
        const stored = () => here.documents.get<{ status: string }>({ name: 'agent-run', indexes: {} }, run);
        while ((await stored())!.body.status !== 'waiting') await new Promise(setImmediate);
      },
      async open(auth = {}) {
        const tab = openTab(place.url, { query: { sessionId: session }, auth: { invocation, ...auth } });
        tabs.push(tab);
        if (answers)
          tab.socket.on('action_call', ({ toolCallId }) =>
            tab.socket.emit('action_call_result', { toolCallId, result: 'red' }),
          );
        await until(() => tab.heard.length > 0, 'greeted');
        return tab;
      },
      answer: (tab, result) =>
        tab.socket.timeout(10_000).emitWithAck('action_call_result', { toolCallId: 'c0', sessionId: session, result }),
      async outcome() {
        await framesOf(place.agent, run, user.did);
        return outcomes[0];
      },
    });
  } finally {
    for (const tab of tabs) tab.close();
    await place.close();
  }
}

async function cut(tab: Tab): Promise<void> {
  const states = tab.states.length;
  tab.socket.io.engine.close();
  await until(() => tab.states.length > states, 'cut');
}

async function back(tab: Tab): Promise<void> {
  const greetings = tab.said('connected').length;
  tab.socket.connect();
  await until(() => tab.said('connected').length > greetings, 'back');
}

/** Resolves when everything that the server had to say to this tab so far has come. */
const caughtUp = (tab: Tab) => tab.socket.timeout(10_000).emitWithAck('status');

test('a call that was made before a client came reaches the first that comes, and nobody else', () =>
  scene({}, async ({ go, open, answer, outcome }) => {
    await go();
    const first = await open();
    await until(() => first.said('action_call').length > 0, 'called');
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
    await until(() => tab.said('action_call').length > 0, 'called');
    await cut(tab);
    await back(tab);
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
    await back(tab);
    assert.equal(await outcome(), { ok: true, output: 'red' });
    assert.is(tab.said('action_call').length, 1);
  }));

test('a call that nobody waits for any more is not told to a client that comes back, nor to a new one', () =>
  scene({}, async ({ go, open, outcome, here }) => {
    const [tab, witness] = [await open(), await open()];
    await cut(tab);
    await go();
    await until(() => witness.said('action_call').length > 0, 'called');
    await (here.clock as unknown as { advance(ms: number): Promise<void> }).advance(AGENT_LIMITS.actionMs);
    assert.equal(await outcome(), { ok: false, error: 'The action was not answered in time.' });
    await back(tab);
    const anew = await open();
    for (const one of [tab, anew]) await caughtUp(one);
    assert.equal(
      [tab, anew].map((one) => one.said('action_call').length),
      [0, 0],
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
    await go().catch(() => {});
    assert.equal(await outcome(), { ok: true, output: 'red' });
  });
});

test.run();
