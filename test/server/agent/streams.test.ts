// Streams of frames of whole servers: they end for good when there is no more, and when the token of their reader is revoked.

import { EventSource } from 'eventsource';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseOracleKey } from '../../../lib/delegation/issuer/oracle-key.ts';
import { mintDelegation, mintInvocation } from '../../../lib/delegation/tokens.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { type Answer, hangs, modelServer, said, says } from '../../agent/model-server.ts';
import { newKey } from '../../delegation/keys.ts';
import { readEvents } from '../support/event-reader.ts';
import { type Served, withServer } from '../support/serve.ts';

const test = suite('streams of the agent');
const ORACLE_KEY = makeOracleKey();
const { did: audience } = parseOracleKey(ORACLE_KEY);
const capability = { can: '*', with: 'ixo:oracle' };

interface Here {
  readonly server: Served;
  /** Of an invocation, and of a delegation of the same user. */
  readonly headers: Readonly<Record<string, string>>;
  readonly delegated: Readonly<Record<string, string>>;
  readonly delegation: string;
  readonly session: string;
}

async function served(answer: Answer, work: (here: Here) => Promise<void>): Promise<void> {
  const model = await modelServer(answer);
  try {
    await withServer({ env: { ORACLE_KEY, MODEL_BASE_URL: model.url, MODEL_NAME: 'small' } }, async (server) => {
      const key = newKey();
      const token = await mintInvocation({ key, audience, capability, expiresIn: 600 });
      const delegation = await mintDelegation({ key, audience, capabilities: [capability], expiresIn: 3_600 });
      const json = { 'content-type': 'application/json' };
      const headers = { authorization: `Bearer ${token}`, 'x-auth-type': 'ucan', ...json };
      const delegated = { 'x-ucan-delegation': delegation, ...json };
      const made = await server.ask('/sessions', { method: 'POST', headers });
      const { sessionId: session } = made.json() as { sessionId: string };
      await work({ server, headers, delegated, delegation, session });
    });
  } finally {
    await model.close();
  }
}

const message = JSON.stringify({ message: 'hi', stream: true });

test('an EventSource reads a run to its end, comes back once, and is told that there is no more', () =>
  served(says('Hello'), async ({ server, headers, session }) => {
    const sent = await server.ask(`/messages/${session}`, { method: 'POST', headers, body: message });
    const run = sent.headers['x-run-id']!;
    const statuses: number[] = [];
    const events: string[] = [];
    const source = new EventSource(`${server.url}/runs/${run}`, {
      fetch: async (url, init) => {
        const answer = await fetch(url, { ...init, headers: { ...init.headers, ...headers } });
        statuses.push(answer.status);
        return answer;
      },
    });
    source.addEventListener('done', ({ lastEventId }) => events.push(lastEventId));
    for (let waited = 0; source.readyState !== EventSource.CLOSED && waited < 20_000; waited += 50)
      await new Promise((resolve) => setTimeout(resolve, 50));
    source.close();
    assert.equal([statuses, events.length], [[200, 204], 1]);
    const { text } = await server.ask('/metrics');
    for (const line of ['runs_ended_total{status="finished"} 1', 'runs_ended_total{status="failed"} 0'])
      assert.match(text, `twinline_agent_${line}`);
    assert.match(text, `twinline_agent_frames_total ${events[0]}`);
    assert.match(text, /twinline_model_tokens_total\{direction="output"\} [1-9]/);
    assert.match(text, /twinline_tokens_accepted_total\{token="invocation"\} [1-9]/);
    const ask = (path: string, last?: string) =>
      server.ask(path, { headers: { ...headers, ...(last !== undefined && { 'last-event-id': last }) } });
    const last = Number(events[0]);
    assert.is((await ask(`/runs/${run}`, String(last - 1))).status, 200);
    assert.is((await ask(`/runs/${run}`, '999999999')).status, 204, 'beyond the end');
    for (const after of [last, last + 1]) assert.is((await ask(`/runs/${run}?after=${after}`)).status, 200);
  }));

test('a stream ends at once when the token of its reader is revoked, and the run goes on', () =>
  served(hangs(said('one ')), async ({ server, headers, delegated, delegation, session }) => {
    const stored = await server.ask('/delegation', {
      method: 'POST',
      headers,
      body: JSON.stringify({ raw: delegation }),
    });
    assert.is(stored.status, 200, stored.text);
    const reading = await readEvents(`${server.url}/messages/${session}`, delegated, message);
    await reading.until(() => reading.blocks.some(({ event }) => event === 'message'));
    const run = reading.headers['x-run-id'];
    const other = await readEvents(`${server.url}/runs/${run}`, headers);
    await other.until(() => other.blocks.some(({ event }) => event === 'message'));
    assert.is((await server.ask('/delegation', { method: 'DELETE', headers })).status, 200);
    assert.is(await reading.ended, 'ended');
    assert.not.ok(reading.blocks.some(({ event }) => event === 'done'));
    const { run: open } = (await server.ask(`/sessions/${session}/run`, { headers })).json() as { run: object };
    assert.ok(open, 'the run goes on');
    assert.is(
      (await server.ask('/messages/abort', { method: 'POST', headers, body: JSON.stringify({ sessionId: session }) }))
        .status,
      200,
    );
    await other.until(() => other.blocks.some(({ event }) => event === 'done'));
    const { text } = await server.ask('/metrics');
    assert.match(text, 'twinline_revocations_total 1');
    assert.match(text, /twinline_tokens_accepted_total\{token="delegation"\} [1-9]/);
    assert.match(text, 'twinline_agent_runs_ended_total{status="aborted"} 1');
  }));

test('one user may have so many streams at a time, and another has room', () =>
  served(hangs(said('one ')), async ({ server, headers, session }) => {
    const first = await readEvents(`${server.url}/messages/${session}`, headers, message);
    const run = first.headers['x-run-id'];
    const open = await Promise.all(
      Array.from({ length: SERVER_LIMITS.eventStreamsPerUser - 1 }, () =>
        readEvents(`${server.url}/runs/${run}`, headers),
      ),
    );
    const one = await readEvents(`${server.url}/runs/${run}`, headers);
    assert.equal([open.every(({ status }) => status === 200), one.status], [true, 503]);
    const token = await mintInvocation({ key: newKey(), audience, capability, expiresIn: 600 });
    const stranger = { ...headers, authorization: `Bearer ${token}` };
    const made = await server.ask('/sessions', { method: 'POST', headers: stranger });
    const { sessionId } = made.json() as { sessionId: string };
    const theirs = await readEvents(`${server.url}/messages/${sessionId}`, stranger, message);
    assert.is(theirs.status, 200);
    for (const reading of [first, ...open, one, theirs]) await reading.close();
    // The server would wait for runs that go on.
    for (const [who, id] of [[headers, session] as const, [stranger, sessionId] as const])
      await server.ask('/messages/abort', { method: 'POST', headers: who, body: JSON.stringify({ sessionId: id }) });
  }));

test.run();
