// Streams of frames of whole servers: they end for good when there is no more, and when the token of their reader is revoked.

import { EventSource } from 'eventsource';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { type Answer, hangs, modelServer, said, says } from '../../agent/model-server.ts';
import { until } from '../../support/until.ts';
import { newSession, newUser, ORACLE_KEY, type User } from '../plugins/users.ts';
import { type Reading, readEvents } from '../support/event-reader.ts';
import { json, sharedServer } from '../support/serve.ts';

const test = suite('streams of the agent');
/** Asked to wait it begins and says no more. */
const answer: Answer = (response, asked) =>
  (asked.body.messages.at(-1)!.content === 'wait' ? hangs(said('one ')) : says('Hello'))(response, asked);
const model = await modelServer(answer);
const server = sharedServer(test, { env: { ORACLE_KEY, MODEL_BASE_URL: model.url, MODEL_NAME: 'small' } });
test.after(() => model.close());

async function begin() {
  const user = await newUser();
  const session = await newSession(server(), user);
  const { headers } = user;
  const send = (message: string, as: User['headers'] = headers) =>
    readEvents(`${server().url}/messages/${session}`, as, JSON.stringify({ message, stream: true }));
  const join = (run: unknown) => readEvents(`${server().url}/runs/${run}`, headers);
  // The server would wait at its end for runs that go on.
  const abort = () => server().ask('/messages/abort', json({ sessionId: session }, headers));
  return { user, headers, session, send, join, abort };
}

const hears = (reading: Reading, event: string) =>
  reading.until(() => reading.blocks.some((block) => block.event === event));

test('an EventSource reads a run to its end, comes back once, and is told that there is no more', async () => {
  const { headers, send } = await begin();
  const sent = await send('hi');
  await sent.ended;
  const run = sent.headers['x-run-id']!;
  const statuses: number[] = [];
  const events: string[] = [];
  const source = new EventSource(`${server().url}/runs/${run}`, {
    fetch: async (url, init) => {
      const reply = await fetch(url, { ...init, headers: { ...init.headers, ...headers } });
      statuses.push(reply.status);
      return reply;
    },
  });
  source.addEventListener('done', ({ lastEventId }) => events.push(lastEventId));
  await until('the EventSource has closed', () => source.readyState === EventSource.CLOSED);
  assert.equal([statuses, events.length], [[200, 204], 1]);
  const { text } = await server().ask('/metrics');
  for (const line of ['runs_ended_total{status="finished"} 1', 'runs_ended_total{status="failed"} 0'])
    assert.match(text, `twinline_agent_${line}`);
  assert.match(text, `twinline_agent_frames_total ${events[0]}`);
  assert.match(text, /twinline_model_tokens_total\{direction="output"\} [1-9]/);
  assert.match(text, /twinline_tokens_accepted_total\{token="invocation"\} [1-9]/);
  const last = Number(events[0]);
  const statusOf = async (path: string, more: object = {}) =>
    (await server().ask(path, { headers: { ...headers, ...more } })).status;
  assert.is(await statusOf(`/runs/${run}`, { 'last-event-id': String(last - 1) }), 200);
  assert.is(await statusOf(`/runs/${run}`, { 'last-event-id': '999999999' }), 204, 'beyond the end');
  for (const after of [last, last + 1]) assert.is(await statusOf(`/runs/${run}?after=${after}`), 200);
});

test('a stream ends at once when the token of its reader is revoked, and the run goes on', async () => {
  const { user, headers, session, send, join, abort } = await begin();
  const raw = await user.delegation();
  const stored = await server().ask('/delegation', json({ raw }, headers));
  assert.is(stored.status, 200, stored.text);
  const reading = await send('wait', { 'x-ucan-delegation': raw, 'content-type': 'application/json' });
  await hears(reading, 'message');
  const other = await join(reading.headers['x-run-id']);
  await hears(other, 'message');
  assert.is((await server().ask('/delegation', { method: 'DELETE', headers })).status, 200);
  assert.is(await reading.ended, 'ended');
  assert.not.ok(reading.blocks.some(({ event }) => event === 'done'));
  const { run: open } = (await server().ask(`/sessions/${session}/run`, { headers })).json() as { run: object };
  assert.ok(open, 'the run goes on');
  assert.is((await abort()).status, 200);
  await hears(other, 'done');
  const { text } = await server().ask('/metrics');
  assert.match(text, 'twinline_revocations_total 1');
  assert.match(text, /twinline_tokens_accepted_total\{token="delegation"\} [1-9]/);
  assert.match(text, 'twinline_agent_runs_ended_total{status="aborted"} 1');
});

test('one user may have so many streams at a time, and another has room', async () => {
  const { send, join, abort } = await begin();
  const first = await send('wait');
  const run = first.headers['x-run-id'];
  const open = await Promise.all(Array.from({ length: SERVER_LIMITS.eventStreamsPerUser - 1 }, () => join(run)));
  const one = await join(run);
  assert.equal([open.every(({ status }) => status === 200), one.status], [true, 503]);
  const stranger = await begin();
  const theirs = await stranger.send('wait');
  assert.is(theirs.status, 200);
  for (const reading of [first, ...open, one, theirs]) await reading.close();
  await Promise.all([abort(), stranger.abort()]);
});

test.run();
