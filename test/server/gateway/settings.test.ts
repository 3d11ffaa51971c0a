// What a GATEWAY_FILE changes at the door: gate, prefixes, rewrites, profiles, what is disabled, headers, cache, channel.

import { createHash } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../support/until.ts';
import { withGateway } from './place.ts';

const test = suite('settings of the query gateway');

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const codeOf = (answer: { json(): unknown }) => (answer.json() as { code: number }).code;

test('the gate asks for a key before anything is told, forbids methods, and keeps the key to itself', async () => {
  const hashed = `sha256:${createHash('sha256').update('second-key').digest('hex')}`;
  const gate = { keys: ['first-key', hashed], forbid: ['grove.Care/*'] };
  await withGateway({ gate, disabled: ['*.Metadata'] }, async ({ server, node }) => {
    node.script = () => ({});
    const keyless = [{}, bearer('other'), bearer(hashed), { headers: { authorization: 'Basic first-key' } }];
    for (const how of keyless)
      for (const path of ['/grove/params', '/grove/nowhere', '/grove/tree/%zz', '/grove/tree/a/metadata']) {
        const answer = await server.ask(path, how);
        assert.equal([answer.status, codeOf(answer)], [401, 16], path);
        assert.match(answer.headers['www-authenticate']!, /^Bearer /);
      }
    assert.is(node.seen.length, 0);
    for (const key of ['first-key', 'second-key']) {
      assert.is((await server.ask('/grove/params', bearer(key))).status, 200);
      assert.not.ok(JSON.stringify(node.last().metadata.getMap()).includes(key));
      assert.is((await server.ask('/grove/nowhere', bearer(key))).status, 404);
    }
    const forbidden = await server.ask('/grove/tree/1', { method: 'DELETE', ...bearer('first-key') });
    assert.equal([forbidden.status, codeOf(forbidden)], [403, 7]);
    assert.is((await server.ask('/grove/tree/a/metadata', bearer('first-key'))).status, 501);
    assert.is(node.seen.length, 2);
    const preflight = { origin: 'https://a.example', 'access-control-request-method': 'GET' };
    assert.is((await server.ask('/grove/params', { method: 'OPTIONS', headers: preflight })).status, 204);
    assert.is((await server.ask('/grove/params', { method: 'OPTIONS' })).status, 401);
    assert.not.ok(JSON.stringify(server.logged).includes('-key'));
    assert.is((await server.ask('/health')).status, 200);
  });
});

test('with prefixes only what lies below them is served, then rewrites', async () => {
  const rewrites = [{ from: '/grove/oak/{id}', to: '/grove/tree/{id}' }];
  await withGateway({ prefixes: { '/hub': '/grove' }, rewrites }, async ({ server, node }) => {
    node.script = () => ({});
    assert.is((await server.ask('/hub/oak/a%2Fb')).status, 200);
    assert.equal([node.last().rpc, node.last().request.id], ['Query/Tree', 'a/b']);
    assert.is(codeOf(await server.ask('/hub/nothing')), 5);
    for (const path of ['/grove/params', '/hubs/params'])
      assert.is(codeOf(await server.ask(path)), 'not-found' as never, path);
  });
});

test('a prefix / serves all but what other doors have, and says so', async () => {
  await withGateway({ prefixes: { '/': '/grove', '/v1': '/grove' } }, async ({ server, node }) => {
    node.script = () => ({});
    assert.is((await server.ask('/params')).status, 200);
    assert.is(codeOf(await server.ask('/nothing')), 5);
    assert.is((await server.ask('/health')).status, 200);
    assert.is((await server.ask('/v1/params')).status, 401);
    const told = server.logged.find(({ msg }) => String(msg).includes('cannot be reached'));
    assert.ok((told!.templates as string[]).includes('/v1/params'));
    assert.not.ok(server.routes.some(({ path }) => path === '/v1/params'));
  });
});

test('the profile of the Cosmos SDK answers 501 to unknown paths and methods', async () => {
  await withGateway({ unknownRoute: 501, disabled: ['grove.Query/Tree'] }, async ({ server, node }) => {
    node.script = () => ({ status: { code: 12, details: 'unknown service' } });
    const expected = (message: string) => ({ code: 12, message, details: [] });
    for (const path of ['/grove/nothing', '/grove/tree/1']) {
      const answer = await server.ask(path);
      assert.equal([answer.status, answer.json()], [501, expected('Not Implemented')], path);
    }
    const own = await server.ask('/grove/params');
    assert.equal([own.status, own.json()], [501, expected('unknown service')]);
    assert.is((await server.ask('/grove/params', { method: 'PUT' })).status, 501);
    assert.is(node.seen.length, 1);
  });
});

test('a cache answers until the height grows, never with errors, which metrics and ETags tell', async () => {
  await withGateway({ cache: { ttlMs: 3_600_000, maxBytes: 1_000_000 } }, async ({ server, node }) => {
    let height = 5;
    node.script = ({ request }) =>
      request.note
        ? { status: { code: 5, details: 'none' } }
        : { reply: { text: `${node.seen.length}` }, headers: { 'x-cosmos-block-height': `${height}` } };
    const text = async (headers = {}) =>
      ((await server.ask('/grove/params', { headers })).json() as { text: string }).text;
    const old = { 'x-cosmos-block-height': '3' };
    assert.equal([await text(), await text(), await text({ 'grpc-timeout': '5000S' })], ['1', '1', '1']);
    assert.equal([await text(old), await text(old)], ['2', '2']);
    height = 6;
    await server.ask('/grove/tree/new');
    assert.equal([await text(), await text(old)], ['4', '2']);
    for (const _ of [1, 2]) assert.is((await server.ask('/grove/params?note=x')).status, 404);
    const { headers } = await server.ask('/grove/params');
    assert.is(headers['x-cosmos-block-height'], '6');
    assert.is((await server.ask('/grove/params', { headers: { 'if-none-match': headers.etag! } })).status, 304);
    assert.is(node.seen.length, 6);
    const metrics = (await server.ask('/metrics')).text;
    assert.match(metrics, /twinline_gateway_reads_total\{from="cache"\} 6/);
    assert.match(metrics, /twinline_gateway_block_height 6/);
  });
});

test('a file that names no channel is served on grpc-js', () =>
  withGateway({}, async ({ server, node }) => {
    node.script = () => ({});
    await server.ask('/grove/params');
    node.script = () => ({ status: { code: 5, details: 'no' } });
    await server.ask('/grove/tree/1');
    const { text } = await server.ask('/metrics');
    for (const code of ['OK', 'NOT_FOUND'])
      assert.match(text, `twinline_gateway_calls_ended_total{from="node",code="${code}"} 1`);
    assert.match(String(node.last().metadata.get('user-agent')), /^grpc-node-js\//);
  }));

test('the channel http2 is our own client, which sends no user-agent', () =>
  withGateway({ channel: 'http2' }, async ({ server, node }) => {
    assert.is((await server.ask('/grove/params')).status, 200);
    assert.equal(node.last().metadata.get('user-agent'), []);
  }));

test('a node that is away is left alone after some tries, which clients and metrics are told', async () => {
  await withGateway({}, async ({ server, node }) => {
    node.stop();
    await server.ask('/grove/params');
    const answer = await until('the breaker is open', async () => {
      const asked = await server.ask('/grove/tree/x');
      return asked.headers['retry-after'] !== undefined && asked;
    });
    assert.is(answer.status, 503);
    assert.ok(Number(answer.headers['retry-after']) >= 1);
    const { text } = await server.ask('/metrics');
    assert.match(text, /twinline_gateway_breaker_state\{state="(open|half-open)"\} 1/);
    assert.match(text, /twinline_gateway_requests_total\{rpc="grove\.Query\/Params",status="5xx"\} 1/);
    assert.match(text, /twinline_gateway_calls_ended_total\{from="channel",code="UNAVAILABLE"\} [1-9]/);
    assert.is((await server.ask('/health')).status, 200);
  });
});

test('what the server refuses before the gateway is told in its form on its paths', async () => {
  await withGateway(
    {},
    async ({ server, node }) => {
      node.script = () => ({});
      const answers = [];
      for (let at = 0; at < 4; at++) answers.push(await server.ask('/grove/params'));
      const last = answers.at(-1)!;
      assert.equal([last.status, codeOf(last)], [429, 8]);
      assert.ok(Number(last.headers['retry-after']) >= 1);
      assert.is(codeOf(await server.ask('/health')), 'too-many-requests' as never);
    },
    { env: { RATE_LIMIT_MAX: '3' } },
  );
  await withGateway(
    {},
    async ({ server }) => {
      const answer = await server.ask('/grove/params');
      assert.equal([answer.status, codeOf(answer)], [503, 14]);
    },
    { overload: { requestsAtOnce: -1 } },
  );
});

test.run();
