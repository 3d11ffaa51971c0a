// Replies that clients read over connections that are cut: at every byte of the first one, and at random ones of several.

import { createServer } from 'node:http';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ResponderPart } from '../../lib/agent/responder.ts';
import { agentClient, ConnectionError, ProblemError, type ReplyFrame } from '../../lib/client/index.ts';
import { SimulatedClock } from '../../lib/clock.ts';
import { mintInvocation } from '../../lib/delegation/tokens.ts';
import { scripted } from '../agent/ground.ts';
import { IDENTITY, newUser, ORACLE_DID, ORACLE_KEY, type User } from '../server/plugins/users.ts';
import { sharedServer, withServer } from '../server/support/serve.ts';
import { type FaultProxy, faultProxy, PASS } from '../support/fault-proxy.ts';
import { listenLow } from '../support/ports.ts';
import { isShort } from '../support/size.ts';

const test = suite('replies of the client');

/** What each message lets go on: the second half of its reply. */
const gates = new Map<string, () => void>();
const FIRST: readonly ResponderPart[] = [
  { type: 'reasoning', text: 'Hm.\n' },
  { type: 'text', text: 'Grüße ☕ — ' },
  { type: 'tool-call', id: 'c1', name: 'look', args: { at: 'id: 7' } },
];
const SECOND: readonly ResponderPart[] = [
  { type: 'tool-result', id: 'c1', output: { found: '\n\nevent: done\n\n' } },
  { type: 'text', text: 'done.' },
];
const responder = scripted(async function* ({ request }) {
  yield* FIRST;
  if (request.message !== 'at once') await new Promise<void>((resolve) => gates.set(request.message, resolve));
  yield* SECOND;
});
const server = sharedServer(test, { env: { ORACLE_KEY }, parts: { responder } });

/** Waits for nothing. */
const AT_ONCE = { now: () => 0, wait: async () => {} };
let user: User;
let proxy: FaultProxy;
test.before(async () => {
  user = await newUser();
  proxy = await faultProxy({ port: Number(new URL(server().url).port) });
});
test.after(() => proxy.close());

const clientOf = (url: string, tries = 50) => agentClient({ url, tries, credential: () => user.token, clock: AT_ONCE });

let count = 0;

/** Sends a message whose connections are cut after so many bytes, and reads the reply, which waits in its middle. */
async function readCut(after: readonly number[]) {
  const direct = clientOf(server().url);
  const { sessionId } = await direct.ask('POST /sessions');
  await proxy.set({ kind: 'cut', after });
  const message = `message ${++count}`;
  const frames: ReplyFrame[] = [];
  const reply = await clientOf(`http://127.0.0.1:${proxy.port}`).sendMessage(sessionId, message);
  for await (const frame of reply) {
    frames.push(frame);
    if (frame.event === 'tool_call') gates.get(message)!();
  }
  const whole: ReplyFrame[] = [];
  for await (const frame of direct.follow(reply.runId!)) whole.push(frame);
  const path = { sessionId };
  const { messages } = await direct.ask('GET /messages/{sessionId}', { path });
  // A user may have 1,000 sessions.
  await direct.ask('DELETE /sessions/{sessionId}', { path });
  return { frames, whole, messages };
}

async function checkCut(after: readonly number[]): Promise<void> {
  const { frames, whole, messages } = await readCut(after);
  assert.equal(frames, whole, String(after));
  assert.equal(
    whole.map(({ n }) => n),
    whole.map((_, at) => at + 1),
  );
  assert.is(whole.at(-1)!.event, 'done');
  assert.equal(
    messages.map(({ type }: { type: string }) => type),
    ['human', 'ai'],
    'the message was taken once',
  );
}

test('a reply that is cut at any byte of it, from the first of its head on, is read whole, each frame once', async () => {
  await proxy.set(PASS);
  const { sessionId } = await clientOf(server().url).ask('POST /sessions');
  const headers = { ...user.headers, 'x-request-id': 'a'.repeat(32) };
  const body = JSON.stringify({ message: 'at once', stream: true });
  const answer = await fetch(`${server().url}/messages/${sessionId}`, { method: 'POST', headers, body });
  const head = [...answer.headers].join().length;
  const bytes = head + (await answer.text()).length;
  const step = isShort ? 41 : 1;
  const first = Number(process.env.TEST_SEED ?? 1) % step;
  for (let at = first; at < bytes; at += step) await checkCut([at]);
});

test('a reply whose connections are cut again and again is read whole', () =>
  fc.assert(fc.asyncProperty(fc.array(fc.nat(1_500), { maxLength: 8 }), checkCut), {
    numRuns: isShort ? 15 : 300,
    endOnFailure: true,
  }));

test('a message that may have arrived is not sent again; where its reply is over already, an error says where to look', async () => {
  const { sessionId } = await clientOf(server().url).ask('POST /sessions');
  await proxy.set({ kind: 'lose-reply', to: /^POST/, after: 'close' });
  const sending = clientOf(`http://127.0.0.1:${proxy.port}`).sendMessage(sessionId, 'at once');
  const error = await sending.then(
    () => assert.unreachable('it was not told'),
    (refused: unknown) => refused,
  );
  assert.instance(error, ConnectionError);
  assert.match((error as Error).message, /^POST \/messages\/[0-9a-f]{32}: no answer came \(\w+\)\.$/);
  const kept = await clientOf(server().url).ask('GET /messages/{sessionId}', { path: { sessionId } });
  assert.is(kept.messages.filter(({ type }: { type: string }) => type === 'human').length, 1);
});

test('a message that was taken before its stream was refused is not lost: its run is followed', async () => {
  let requestId: unknown;
  const frames = 'event: run\nid: 1\ndata: {"runId":"r1"}\n\nevent: done\nid: 2\ndata: {"status":"finished"}\n\n';
  const full = createServer(({ method, url: asked, headers }, response) => {
    if (method === 'POST') {
      requestId = headers['x-request-id'];
      response.writeHead(503).end('{"error":"There are too many open streams","code":"unavailable","requestId":"r"}');
    } else if (asked === '/runs/r1?after=0')
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames);
    else {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ run: { runId: 'r1', requestId } }));
    }
  });
  const url = `http://127.0.0.1:${await listenLow(full)}`;
  const reply = await clientOf(url).sendMessage('s', 'hi');
  assert.equal(await reply.whole(), { text: '', status: 'finished' });
  const page = await clientOf(url, 3)
    .follow('r2')
    .whole()
    .catch((error: unknown) => error);
  assert.match((page as Error).message, 'the answer (application/json) is no stream', 'and not asked for ever');
  full.close();
});

test('while another reply is written, a message is refused with the run that is in the way', async () => {
  const client = clientOf(server().url);
  const { sessionId } = await client.ask('POST /sessions');
  const reply = await client.sendMessage(sessionId, 'first');
  const refused = await client.sendMessage(sessionId, 'second').catch((error: unknown) => error);
  assert.instance(refused, ProblemError);
  const { code, status, body, message } = refused as ProblemError;
  assert.equal([code, status, body.runId], ['conflict', 409, reply.runId]);
  assert.is(message, 'A reply of this session is still being written');
  const whole = (async () => {
    for await (const { event } of client.follow(reply.runId!)) if (event === 'tool_call') gates.get('first')!();
    return reply.whole();
  })();
  assert.equal(await whole, { text: 'Grüße ☕ — done.', status: 'finished' });
});

test('an iterator stops at its signal with the reason of it, and the reply goes on', async () => {
  const client = clientOf(server().url);
  const { sessionId } = await client.ask('POST /sessions');
  const stop = new AbortController();
  const reply = await client.sendMessage(sessionId, 'stopped', { signal: stop.signal });
  const reason = new Error('enough');
  const read = (async () => {
    for await (const { event } of reply) if (event === 'tool_call') stop.abort(reason);
  })();
  assert.is(await read.catch((error: unknown) => error), reason);
  gates.get('stopped')!();
  const rest = client.follow(reply.runId!, { after: 3 });
  assert.equal((await rest.whole()).status, 'finished');
  const unknown = client.follow('00000000-0000-4000-8000-000000000000').whole();
  assert.is(await unknown.catch(({ code }) => code), 'not-found', 'what is final is told at once');
});

test('a connection on which nothing comes any more is made again', async () => {
  await proxy.set(PASS);
  const url = `http://127.0.0.1:${proxy.port}`;
  const client = agentClient({ url, tries: 1e6, silenceMs: 40, credential: () => user.token, clock: AT_ONCE });
  const { sessionId } = await clientOf(server().url).ask('POST /sessions');
  let losses = 0;
  const onConnected = (isConnected: boolean) => {
    if (!isConnected && ++losses === 2) void proxy.set(PASS);
  };
  const reply = await client.sendMessage(sessionId, 'frozen', { onConnected });
  const events: string[] = [];
  for await (const { event } of reply) {
    events.push(event);
    if (event !== 'tool_call') continue;
    await proxy.set({ kind: 'freeze' });
    gates.get('frozen')!();
  }
  assert.is(events.at(-1), 'done');
  assert.is(new Set(events).size, 5, events.join());
});

test('a token that ends in the middle of a reply is made anew, once for each request', async () => {
  const clock = new SimulatedClock(Date.UTC(2026, 0, 1));
  let go = () => {};
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  const waiting = scripted(async function* () {
    yield { type: 'text', text: 'one ' };
    await gone;
    yield { type: 'text', text: 'two' };
  });
  await withServer({ env: { ORACLE_KEY }, clock, parts: { responder: waiting } }, async ({ url }) => {
    const own = await faultProxy({ port: Number(new URL(url).port) });
    let made = 0;
    const credential = () => {
      made++;
      return mintInvocation({ key: user.key, audience: ORACLE_DID, capability: IDENTITY, expiresIn: 60, clock });
    };
    const client = agentClient({ url: `http://127.0.0.1:${own.port}`, credential, clock: AT_ONCE });
    try {
      const { sessionId } = await client.ask('POST /sessions');
      const reply = await client.sendMessage(sessionId, 'go');
      assert.is(made, 1);
      let text = '';
      for await (const { event, data } of reply) {
        if (event !== 'message') continue;
        text += data.content;
        if (data.content !== 'one ') continue;
        await clock.advance(120_000);
        go();
        await own.set({ kind: 'reset' });
        await own.set(PASS);
      }
      assert.equal([text, made], ['one two', 2]);
    } finally {
      await own.close();
    }
  });
});

test.run();
