// Two instances on one Redis: what is said to one of them about a run counts for the run, whoever writes it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { shownText } from '../../agent/ground.ts';
import { type Answer, hangs, type ModelServer, modelServer, said, says } from '../../agent/model-server.ts';
import { type RunningServer, startProcess } from '../../support/process.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { ORACLE_KEY } from '../plugins/users.ts';
import { type Chatter, newChatter, type Reader, readOut } from './chats.ts';

const test = suite('the agent service on two instances');

/** Asked to wait it begins and says no more; else it says what it was asked. */
const answer: Answer = (response, asked) => {
  const words = String(asked.body.messages.at(-1)!.content);
  return words.startsWith('wait')
    ? hangs(said('So far. '))(response, asked)
    : says(`You said ${words}.`)(response, asked);
};

let redis: RedisServer;
let model: ModelServer;
let ann: Chatter;
let [a, b]: RunningServer[] = [];
let folder: string;

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'twinline-test-'));
  // First and alone: where there is none, nothing else is open.
  redis = await startRedis();
  [model, ann] = await Promise.all([modelServer(answer), newChatter()]);
  const env = {
    ORACLE_KEY,
    REDIS_URL: redis.url,
    DATA_DIR: join(folder, 'data'),
    MODEL_BASE_URL: model.url,
    MODEL_API_KEY: 'k',
    MODEL_NAME: 'small',
  };
  [a, b] = await Promise.all([startProcess(env), startProcess(env)]);
});
test.after(async () => {
  await Promise.all([a?.kill(), b?.kill()]);
  await Promise.all([redis?.stop(), model?.close()]);
  rmSync(folder, { recursive: true, force: true });
});

/** A reply that A has begun and is not going to end. */
async function begun(message = 'wait'): Promise<{ session: string; first: Reader }> {
  const session = await ann.begin(a!.url);
  const first = await ann.say(a!.url, session, message);
  await first.until('message');
  return { session, first };
}

test('what one instance writes is aborted at the other: every reader has the end, and the model is left', async () => {
  const { session, first } = await begun();
  const second = await ann.join(b!.url, first.run);
  await second.until('message');
  const aborted = await ann.abort(b!.url, session);
  assert.equal([aborted.status, aborted.json()], [200, { success: true }]);
  const [here, there] = await Promise.all([readOut(first, 'aborted'), readOut(second, 'aborted')]);
  assert.equal(here, there);
  assert.is(shownText(here), 'So far. ');
  assert.equal(await ann.kept(b!.url, session), ['human: wait', 'ai: So far. ']);
  assert.equal((await ann.abort(a!.url, session)).json(), { success: false });
  await until('nobody listens to the model any more', () => model.cut() === 1);
});

test('a second message while the first is being answered: 409 with the run, at every instance', async () => {
  const { session, first } = await begun();
  for (const { url } of [a!, b!]) {
    const path = `/messages/${session}`;
    const refused = await ann.ask(url, path, { method: 'POST', body: JSON.stringify({ message: 'more' }) });
    const { statusCode, runId } = refused.json() as { statusCode: number; runId: string };
    assert.equal([refused.status, statusCode, runId], [409, 409, first.run]);
    const { run } = (await ann.ask(url, `/sessions/${session}/run`)).json() as { run: { runId: string } };
    assert.is(run.runId, first.run);
  }
  await ann.abort(a!.url, session);
  await readOut(first, 'aborted');
  assert.equal(await ann.kept(b!.url, session), ['human: wait', 'ai: So far. '], 'what was refused is nowhere');
});

test('tabs: two that watch, one that comes late and one that was cut off all read the same frames', async () => {
  const { session, first } = await begun();
  const watching = await ann.join(b!.url, first.run);
  const cut = await ann.join(b!.url, first.run);
  await cut.until('message');
  await cut.close();
  await ann.abort(a!.url, session);
  const frames = await readOut(first, 'aborted');
  assert.equal(await readOut(watching, 'aborted'), frames);
  const seen = cut.frames();
  const rest = await readOut(await ann.join(a!.url, first.run, seen.length), 'aborted');
  assert.equal([...seen, ...rest], frames);
  for (const { url } of [a!, b!]) assert.equal(await readOut(await ann.join(url, first.run), 'aborted'), frames);
});

test.run();
