// Many sessions at once, long replies, and readers that take nothing: none of them holds up another, or much memory.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AGENT_LIMITS } from '../../lib/agent/limits.ts';
import { ANN, framesOf, ground, newSession, say, saying, scripted, shownText, soundLog } from './ground.ts';

const test = suite('many runs');

const reversed = scripted(async function* ({ request }) {
  for (const letter of [...request.message].reverse()) {
    yield { type: 'text', text: letter };
    await new Promise(setImmediate);
  }
});

test('500 sessions at once are answered each in their own words, on three instances', async () => {
  const here = ground();
  const agents = await Promise.all([1, 2, 3].map(() => here.agent(reversed)));
  const at = (index: number) => agents[index % 3]!;
  const chats = await Promise.all(
    Array.from({ length: 500 }, async (_, index) => {
      const session = await newSession(at(index), `did:key:${index}`);
      const runId = await say(at(index), session, `message ${index}`, { owner: `did:key:${index}` });
      const frames = await framesOf(at(index + 1), runId, `did:key:${index}`);
      soundLog(frames);
      return [shownText(frames), (await at(index + 2).transcript.all(session)).length];
    }),
  );
  assert.equal(
    chats,
    chats.map((_, index) => [[...`message ${index}`].reverse().join(''), 2]),
  );
  await Promise.all(agents.map((agent) => agent.idle()));
  assert.equal(here.problems, []);
});

test('a reply has so many bytes at most, and is kept whole up to there, in as many pieces as it takes', async () => {
  const here = ground();
  const endlessText = scripted(async function* () {
    for (;;) yield { type: 'text', text: `${'ä€😀"\u0001'.repeat(500)}` };
  });
  const agent = await here.agent(endlessText, { replyBytes: 1_000_001 });
  const session = await newSession(agent);
  const runId = await say(agent, session, 'hi');
  const frames = await framesOf(agent, runId);
  soundLog(frames);
  assert.is(frames.at(-1)!.json.status, 'failed');
  const text = shownText(frames);
  const bytes = Buffer.byteLength(text);
  assert.ok(bytes <= 1_000_001 && bytes > 999_990, `${bytes} bytes`);
  assert.not.match(text, '\ufffd');
  await agent.idle();
  const [, answer] = await agent.transcript.all(session);
  assert.is(answer!.content, text);
  await agent.deleteSession(ANN, session);
  await here.clock.advance(AGENT_LIMITS.sessionRemainsMs + 1);
  await agent.sweep();
  assert.equal(await agent.transcript.all(session), []);
});

test('half surrogate pairs of a model become one character, however they were split', async () => {
  const agent = await ground().agent(saying('a\ud83d', '\ude00b\ud83d'));
  const session = await newSession(agent);
  const runId = await say(agent, session, 'hi');
  soundLog(await framesOf(agent, runId));
  await agent.idle();
  assert.is((await agent.transcript.all(session)).length, 2);
});

test.run();
