// Requests to the agent service, without a server: bodies that are taken and refused, and what becomes of a message. What is taken is what
// /openapi.json describes: test/server/openapi.

import type { Middleware } from 'koa';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Agent } from '../../../lib/agent/agent.ts';
import type { Sent } from '../../../lib/agent/requests.ts';
import { redactor } from '../../../lib/redact.ts';
import { AGENT_ROUTES } from '../../../server/agent/routes.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { addRoutes, newRouter } from '../../../server/http/route-table.ts';
import { AgentError, answerAgentErrors } from '../../../server/user/errors.ts';
import { AGENT_INPUT } from '../../../server/user/input.ts';
import { askMiddleware } from '../support/middleware.ts';
import { type AskOptions, json } from '../support/serve.ts';

const test = suite('requests to the agent service');

const ANN = { did: 'did:ex:ann', expiresAt: Number.MAX_SAFE_INTEGER, keys: [], secrets: {} };
const faults: unknown[] = [];
const noteFault = (error: unknown) => void (error instanceof AgentError || faults.push(error));
test.after(() => assert.equal(faults, []));

/** Asks the routes of an agent that does this. */
function asker(agent: Partial<Agent>) {
  const router = newRouter();
  const user: Middleware = (ctx, next) => {
    ctx.state.user = ANN;
    return next();
  };
  const readClient = () => ({ bucket: 'here', exempt: false, proxy: false });
  const deps = { agent, readClient } as never;
  addRoutes(router, AGENT_ROUTES, { deps, guards: { user }, input: AGENT_INPUT });
  const answerErrors = answerAgentErrors({ onFault: noteFault, redact: redactor([]) });
  const routes = router.routes() as Middleware;
  return (path: string, how?: AskOptions) =>
    askMiddleware((ctx, next) => answerErrors(ctx, () => routes(ctx, next)), path, how);
}

/** Nobody has a session: what is taken is 404. */
const ask = asker({ send: async () => ({ kind: 'unknown' }) });
const TAKEN = 404;

test('a body that is too long is told so in one line, and nothing in it is looked at', async () => {
  const send = async (body: object) => {
    const { status, text } = await ask('/messages/none', json(body));
    assert.is(status, 400);
    return (JSON.parse(text) as { message: string[] }).message;
  };
  const count = SERVER_LIMITS.declaredTools;
  assert.equal(await send({ message: 'hi', tools: Array(count + 1).fill(1) }), [
    `tools must contain no more than ${count} elements`,
  ]);
  const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, at]));
  assert.equal(await send({ message: 'hi', ...unknown }), [
    'the body has 10000 fields that are not known, such as "k0"',
  ]);
  const many = await send({ message: 'hi', mcpInvocations: unknown });
  assert.ok(many.length <= 101, String(many.length));
  assert.match(many.at(-1)!, /more are not listed/);
});

test('addresses of attachments lead out of no folder and hold no control character', async () => {
  const statusOf = async (mxcUri: string) => {
    const attachments = [{ mxcUri, filename: 'a', mimetype: 'image/png' }];
    return (await ask('/messages/none', json({ message: 'hi', attachments }))).status;
  };
  const evil = [
    ...['mxc://h/a\n/../x', 'mxc://h/../x', 'mxc://h/a/..', 'mxc://h/%2e%2E/x', 'https://h\\..\\x', 'mxc://h/a\u0000b'],
    ...['mxc://h\n/a', 'ftp://h/a', 'mxc:///'],
  ];
  for (const uri of evil) assert.is(await statusOf(uri), 400, JSON.stringify(uri));
  for (const uri of ['mxc://h/abc', 'https://h.example/a..b?c=1', 'http://h/.a'])
    assert.is(await statusOf(uri), TAKEN, uri);
});

test('a body of another type than JSON is not read as JSON', async () => {
  const body = JSON.stringify({ message: 'hi' });
  const statusOf = async (type?: string) =>
    (await ask('/messages/none', { method: 'POST', headers: type === undefined ? {} : { 'content-type': type }, body }))
      .status;
  for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'nonsense'])
    assert.is(await statusOf(type), 415, type);
  const read = ['application/json', 'application/json; charset=utf-8', 'application/ld+json'];
  // curl says that any data is a form.
  for (const type of [undefined, 'application/x-www-form-urlencoded', ...read])
    assert.is(await statusOf(type), TAKEN, type);
});

test('a message that is not taken is told why: the session is busy, everything is, or there is none', async () => {
  const told = async (outcome: Sent) => {
    const { status, headers, text } = await asker({ send: async () => outcome })(
      '/messages/s',
      json({ message: 'hi' }),
    );
    const { runId } = JSON.parse(text) as { runId?: string };
    return [status, runId, headers['retry-after']];
  };
  assert.equal(await told({ kind: 'busy', runId: 'r1' }), [409, 'r1', undefined]);
  assert.equal(await told({ kind: 'full' }), [503, undefined, '1']);
  assert.equal(await told({ kind: 'unknown' }), [404, undefined, undefined]);
});

test('a run that has ended is 204 for who comes back after its last frame, with its own ids; a foreign one is 404', async () => {
  const run = { runId: 'r1', requestId: 'q1' } as never;
  const follow: Agent['follow'] = async ({ runId }) => (runId === 'r1' ? ({ run, isOver: true } as never) : undefined);
  const own = asker({ follow });
  const { status, headers, text } = await own('/runs/r1', { headers: { 'last-event-id': '7' } });
  assert.equal([status, text, headers['x-run-id'], headers['x-request-id']], [204, '', 'r1', 'q1']);
  assert.is((await own('/runs/r2')).status, 404);
  assert.is((await own('/runs/r1?after=x')).status, 400);
});

test('a session is stopped, read and deleted by its owner only', async () => {
  const seen: unknown[] = [];
  const own = asker({
    abort: async (request) => {
      seen.push(request);
      return request.session === 's1' ? true : undefined;
    },
    openRun: async (owner, session) => (owner === ANN.did && session === 's1' ? null : undefined),
    deleteSession: async (owner, session) => owner === ANN.did && session === 's1',
  });
  const stop = (sessionId: string) => own('/messages/abort', json({ sessionId, runId: 'r1' }));
  assert.equal((await stop('s1')).json(), { success: true });
  assert.equal(seen, [{ owner: ANN.did, session: 's1', runId: 'r1' }]);
  assert.equal((await own('/sessions/s1/run')).json(), { run: null });
  assert.is((await own('/sessions/s1', { method: 'DELETE' })).status, 200);
  const foreign = [stop('s2'), own('/sessions/s2/run'), own('/sessions/s2', { method: 'DELETE' })];
  for (const { status, text } of await Promise.all(foreign))
    assert.equal([status, JSON.parse(text).message], [404, 'Session not found']);
});

test.run();
