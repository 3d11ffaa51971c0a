// Sessions and transcripts: listed, paged, titled and deleted, each user their own.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AGENT_KINDS, MESSAGE, SESSION, USAGE } from '../../lib/agent/kinds.ts';
import { AGENT_LIMITS } from '../../lib/agent/limits.ts';
import type { Run } from '../../lib/agent/run/run.ts';
import { makeQuestion, openTranscript, type StoredMessage } from '../../lib/agent/session/message.ts';
import { makeTitle } from '../../lib/agent/session/session.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { DocumentStore, Kind } from '../../lib/store/store.ts';
import { ANN, BOB, endless, ground, newSession, say, saying, scripted, settled } from './ground.ts';

const test = suite('chat sessions');

test('a message reads the document of its session once before its turn is written', async () => {
  const documents = memoryDocuments();
  const calls: string[] = [];
  const noted =
    (name: 'get' | 'replace') =>
    (kind: Kind, id: string, ...more: unknown[]) => {
      if (kind.name === SESSION.name) calls.push(name);
      return (documents[name] as (...args: unknown[]) => unknown)(kind, id, ...more);
    };
  const here = ground({ documents: { ...documents, get: noted('get'), replace: noted('replace') } as DocumentStore });
  const agent = await here.agent(endless());
  const session = await newSession(agent);
  await say(agent, session, 'hello');
  assert.equal(calls.slice(0, 2), ['get', 'replace']);
  await agent.close();
});

test('sessions are listed for their owner, the one used last first, from any offset', async () => {
  const here = ground();
  const agent = await here.agent(saying('yes'));
  const ids: string[] = [];
  for (let at = 0; at < 7; at++) {
    ids.push(await newSession(agent));
    await here.clock.advance(1_000);
  }
  await newSession(agent, BOB);
  await say(agent, ids[2]!, 'again');
  await agent.idle();
  const order = [2, 6, 5, 4, 3, 1, 0].map((at) => ids[at]);
  for (const offset of [0, 2, 6, 7, 50]) {
    const { sessions, total } = await agent.sessions.list(ANN, { limit: 3, offset });
    assert.equal([sessions.map(({ sessionId }) => sessionId), total], [order.slice(offset, offset + 3), 7]);
  }
  const [used] = (await agent.sessions.list(ANN)).sessions;
  assert.equal(used, {
    sessionId: ids[2],
    title: 'again',
    createdAt: '2023-11-14T22:13:22.000Z',
    lastUpdatedAt: '2023-11-14T22:13:27.000Z',
    oracleName: 'Twinline',
    oracleDid: 'did:key:oracle',
    oracleEntityDid: 'did:ixo:entity:oracle',
  });
  for (const page of [{ limit: 0 }, { limit: 1.5 }, { offset: -1 }, { offset: AGENT_LIMITS.sessionOffsetMax + 1 }])
    assert.is(await agent.sessions.list(ANN, page).catch((error) => error.code), 'ERR_INPUT');
});

test('a title is made of the first words, unless the responder gives one, and stays', async () => {
  const titles = ['', 'By the model'];
  const here = ground();
  const responder = scripted(async function* ({ request }) {
    yield { type: 'text', text: 'yes' };
    if (request.metadata?.titled) yield { type: 'title', title: titles[1]! };
  });
  const agent = await here.agent(responder);
  const [plain, titled] = [await newSession(agent), await newSession(agent)];
  await say(agent, plain, 'What is  a\ntwin?');
  await say(agent, titled, 'x', { request: { message: 'x', metadata: { titled: true } } });
  await agent.idle();
  await say(agent, plain, 'And now?');
  await agent.idle();
  assert.equal(
    [(await agent.sessions.get(ANN, plain))!.title, (await agent.sessions.get(ANN, titled))!.title],
    ['What is a twin?', 'By the model'],
  );
  assert.is(makeTitle('word '.repeat(40)), `${'word '.repeat(11).trim()}…`);
  assert.is(makeTitle(`${'😀'.repeat(80)}`), `${'😀'.repeat(59)}…`);
});

test('a transcript is paged both ways, without gaps or repeats', async () => {
  const agent = await ground().agent(saying('yes'));
  const session = await newSession(agent);
  for (let at = 0; at < 6; at++) {
    await say(agent, session, `${at}`);
    await agent.idle();
  }
  const all = await agent.transcript.all(session);
  assert.is(all.length, 12);
  const back: unknown[] = [];
  let page = await agent.transcript.page(session, { limit: 5 });
  assert.is(page.hasNewer, false);
  for (;;) {
    back.unshift(...page.messages);
    if (!page.hasOlder) break;
    page = await agent.transcript.page(session, { limit: 5, before: page.prevCursor! });
    assert.is(page.hasNewer, true);
  }
  assert.equal(back, all);
  const forth: unknown[] = [];
  page = await agent.transcript.page(session, { limit: 5, after: '0' });
  for (;;) {
    forth.push(...page.messages);
    if (!page.hasNewer) break;
    page = await agent.transcript.page(session, { limit: 5, after: page.nextCursor! });
    assert.is(page.hasOlder, true);
  }
  assert.equal(forth, all);
  const end = await agent.transcript.page(session, { after: page.nextCursor! });
  assert.equal([end.messages, end.nextCursor, end.hasOlder, end.hasNewer], [[], page.nextCursor, true, false]);
  const empty = await agent.transcript.page(await newSession(agent));
  assert.equal(empty, { messages: [], prevCursor: null, nextCursor: null, hasOlder: false, hasNewer: false });
  for (const bad of [{ before: 'x' }, { after: '-1' }, { before: '1', after: '1' }, { limit: 0 }])
    assert.is(await agent.transcript.page(session, bad).catch((error) => error.code), 'ERR_INPUT');
});

test('a page holds no more bytes than a whole transcript, and one message at least', async () => {
  const documents = memoryDocuments();
  await documents.declare(AGENT_KINDS);
  const transcript = openTranscript(documents);
  const half = AGENT_LIMITS.transcriptBytes / 2;
  // What the store says of their bytes is what counts.
  for (const [place, bytes] of [0, half, half, 1, 3 * half].entries()) {
    const message = makeQuestion({ id: `run ${place}`, body: { request: { message: `${place}` } } as Run['body'] });
    const body: StoredMessage = { session: 's', place, fence: 1, bytes, message, pieces: 0 };
    await documents.insert(MESSAGE, message.id, body);
  }
  const pages: unknown[] = [];
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const page = await transcript.page('s', { after });
    pages.push([page.messages.map(({ content }) => content), page.hasOlder]);
    after = page.hasNewer ? page.nextCursor! : undefined;
  }
  for (let before: string | undefined = '99'; before !== undefined; ) {
    const page = await transcript.page('s', { before });
    pages.push([page.messages.map(({ content }) => content), page.hasNewer]);
    before = page.hasOlder ? page.prevCursor! : undefined;
  }
  assert.equal(pages, [
    [['1', '2'], true],
    [['3'], true],
    [['4'], true],
    [['4'], false],
    [['2', '3'], true],
    [['0', '1'], true],
  ]);
});

test('a responder reads what was said before, and keeps a little for itself', async () => {
  const seen: unknown[] = [];
  const responder = scripted(async function* ({ history, state }) {
    const before = await history();
    const count = ((await state.get()) as number | undefined) ?? 0;
    await state.set(count + 1);
    seen.push([before.map(({ content }) => content), count]);
    yield { type: 'text', text: `${count}` };
  });
  const agent = await ground().agent(responder);
  const session = await newSession(agent);
  for (const message of ['a', 'b']) {
    await say(agent, session, message);
    await agent.idle();
  }
  assert.equal(seen, [
    [[], 0],
    [['a', '0'], 1],
  ]);
});

test('of a deleted session nothing is left: no transcript, run, log or document; its live run ends', async () => {
  const here = ground();
  const forgotten: string[] = [];
  const responder = endless('half', { forget: async (session) => void forgotten.push(session) });
  const agent = await here.agent(responder);
  const session = await newSession(agent);
  const runId = await say(agent, session, 'hi');
  await say(agent, session, 'next', { multitask: 'enqueue' });
  await settled();
  assert.is(await agent.deleteSession(ANN, session), true);
  assert.equal(
    [
      await agent.sessions.get(ANN, session),
      (await agent.sessions.list(ANN)).total,
      await agent.openRun(ANN, session),
      await agent.deleteSession(ANN, session),
      (await agent.send({ owner: ANN, session, requestId: 'r', request: { message: 'x' } })).kind,
    ],
    [undefined, 0, undefined, false, 'unknown'],
  );
  await agent.idle();
  await here.clock.advance(AGENT_LIMITS.sessionRemainsMs + 1);
  await agent.sweep();
  await agent.sweep();
  const kinds = AGENT_KINDS.filter((kind) => kind !== USAGE);
  for (const kind of kinds) assert.is(await here.documents.count(kind), 0, kind.name);
  assert.is(await here.logs.state(`run/${runId}`), undefined);
  assert.ok(forgotten.includes(session));
  assert.equal(here.problems, []);
});

test.run();
