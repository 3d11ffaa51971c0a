// What clients are told when something is wrong: one table of statuses, our own words, and nothing of anybody else's.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AskOptions, json, sharedServer, testRoutes } from '../support/serve.ts';

const test = suite('errors');

const CANARY = 'db password=canary-1';

/** What handlers may throw. */
const THROWN: Readonly<Record<string, unknown>> = {
  plain: new Error(CANARY),
  exposed: Object.assign(new Error(CANARY), { expose: true, status: 200 }),
  statused: Object.assign(new Error(CANARY), { status: 418, statusCode: 418, expose: true, code: 'not-found' }),
  headers: Object.assign(new Error(CANARY), { headers: { 'x-secret': CANARY, location: '/' } }),
  text: CANARY,
  nothing: undefined,
  cause: new Error('outer canary-1', { cause: new Error(CANARY) }),
  code: Object.assign(new Error(CANARY), { code: CANARY }),
  disguised: { name: 'Refusal', kind: 'not-found', message: CANARY, code: 'ERR_INPUT', status: 404 },
};
const routes = testRoutes({
  'GET /throw/:what': ({ params }) => {
    throw THROWN[params.what];
  },
  'POST /echo': (ctx) => {
    ctx.body = { got: ctx.request.body };
  },
});
const server = sharedServer(test, { routes: [routes] });

test('errors of others are 500 without their words, whatever they ask for', async () => {
  for (const name of Object.keys(THROWN)) {
    const answer = await server().ask(`/throw/${name}`);
    assert.is(answer.status, 500, name);
    const { requestId, ...body } = answer.json() as Record<string, unknown>;
    assert.equal(body, { error: 'Internal error', code: 'internal' }, name);
    assert.is(requestId, answer.headers['x-request-id']);
    assert.not.match(JSON.stringify(answer.headers), /canary|location/, name);
  }
  const { logged } = server();
  assert.not.match(JSON.stringify(logged), /canary-1/, 'and the log has their place, not their words');
  assert.ok(logged.some(({ err }) => JSON.stringify(err ?? '').includes('errors.test.ts')));
});

test('an unknown path is 404 and a wrong method 405 with Allow, as JSON', async () => {
  const { ask } = server();
  const nowhere = await ask('/nowhere');
  assert.equal([nowhere.status, (nowhere.json() as { code: string }).code], [404, 'not-found']);
  assert.match(nowhere.headers['content-type']!, /^application\/json/);
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    const wrong = await ask('/health', { method });
    assert.equal([wrong.status, wrong.headers.allow], [405, 'HEAD, GET'], method);
  }
  const options = await ask('/health', { method: 'OPTIONS' });
  assert.equal([options.status, options.headers.allow], [204, 'HEAD, GET']);
  for (const method of ['TRACE', 'PURGE', 'LINK'])
    for (const path of ['/health', '/nowhere', '/api/ussd'])
      assert.is((await ask(path, { method })).status, 501, `${method} ${path}`);
});

const POSTS: Readonly<Record<string, [options: AskOptions, status: number]>> = {
  'an object': [json({ a: 1 }), 200],
  'half an object': [{ ...json(0), body: '{"canary-1":' }, 400],
  'a bare string': [json('canary-1'), 400],
  __proto__: [{ ...json(0), body: '{"__proto__":{"canary-1":1}}' }, 400],
  'more than 1 MiB': [json({ a: 'x'.repeat(1_048_577) }), 413],
  'an unknown encoding': [json({}, { 'content-encoding': 'snappy' }), 415],
  'two encodings': [json({}, { 'content-encoding': 'gzip, gzip' }), 415],
};

test('what is no JSON object, too large or in an unknown encoding is refused without its words', async () => {
  for (const [what, [options, status]] of Object.entries(POSTS)) {
    const answer = await server().ask('/echo', options);
    assert.is(answer.status, status, `${what}: ${answer.text}`);
    assert.not.match(answer.text, /canary/, what);
    assert.is(({} as Record<string, unknown>)['canary-1'], undefined);
  }
  // A page of another origin may post these types without asking.
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const answer = await server().ask('/echo', { ...json({ a: 1 }), headers: { 'content-type': type } });
    assert.equal(answer.json(), { got: {} }, type);
  }
});

test('JSON answers carry the headers that browsers obey, and no cookie', async () => {
  for (const path of ['/health', '/nowhere']) {
    const { headers } = await server().ask(path);
    assert.is(headers['x-content-type-options'], 'nosniff');
    assert.match(headers['content-security-policy']!, /^default-src 'none'/);
    assert.is(headers['referrer-policy'], 'no-referrer');
    for (const name of ['set-cookie', 'x-powered-by', 'server']) assert.is(headers[name], undefined, name);
  }
});

test.run();
