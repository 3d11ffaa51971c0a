// The door of the query gateway: paths, methods, queries and bodies to calls of a node, replies and errors to HTTP.

import { once } from 'node:events';
import { connect } from 'node:net';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { json } from '../support/serve.ts';
import { metadataOf } from './node.ts';
import { LONG_MS, sharedGateway } from './place.ts';

const test = suite('door of the query gateway');
const { at, scripted } = sharedGateway(test);

const NOTHING = { tree: null, trees: [], text: '', counts: {}, extra: null };
const status = (code: number, message: string, details: unknown[] = []) => ({ code, message, details });
const ask = (path: string, how = {}) => at().server.ask(path, how);

test('a path with a DID asks the node, and the reply is JSON in the Cosmos form', async () => {
  const did = 'did:ixo:tree:1';
  const { server, node } = scripted(() => ({
    reply: { tree: { id: did, rings: '7', planted: '2024-01-02T03:04:05Z' } },
  }));
  const answer = await server.ask(`/grove/tree/${did}?pagination.limit=5&unknown=1`);
  assert.is(answer.status, 200);
  assert.equal(node.last().request, { id: did, pagination: { limit: '5' } });
  assert.is(node.last().rpc, 'Query/Tree');
  assert.match(answer.headers['content-type']!, /^application\/json/);
  const tree = { id: did, kind: '', rings: '7', planted: '2024-01-02T03:04:05Z', birds: [], parent: null, seed: null };
  assert.equal(answer.json(), { ...NOTHING, tree });
});

test('paths are matched as they came and decoded after that', async () => {
  const { server, node } = scripted(() => ({}));
  for (const [path, rpc, id] of [
    ['/grove/tree/a%2Fmetadata', 'Query/Tree', 'a/metadata'],
    ['/grove/tree/%C3%A4%20b+c', 'Query/Tree', 'ä b+c'],
    ['/grove/places/a%2Fb', 'Query/Named', 'places/a%2Fb'],
  ] as const) {
    assert.is((await server.ask(path)).status, 200, path);
    const { request } = node.last();
    assert.equal([node.last().rpc, request.id ?? request.name], [rpc, id]);
  }
});

test('what is malformed is 400 in the form of the gateway, and asks nobody', async () => {
  const { server, node } = scripted(() => ({}));
  const before = node.seen.length;
  const bad = ['/grove/tree/%zz', '/grove/trees?at_least=x', `/grove/tree/${'x'.repeat(9_000)}`];
  for (const path of bad) {
    const answer = await server.ask(path);
    assert.is(answer.status, 400, path);
    const body = answer.json() as ReturnType<typeof status>;
    assert.equal([body.code, body.details, typeof body.message], [3, [], 'string']);
  }
  for (const timeout of ['1x', '', '-1S', '123456789m', '1.5S'])
    assert.is((await server.ask('/grove/params', { headers: { 'grpc-timeout': timeout } })).status, 400, timeout);
  assert.is(node.seen.length, before);
});

test('a path without a route is 404, another method 405 with Allow, OPTIONS 204', async () => {
  for (const path of ['/grove', '/grove/', '/grove/params/', '/grove/other', '/grove/tree/a/b'])
    assert.equal([(await ask(path)).status, (await ask(path)).json()], [404, status(5, 'Not Found')], path);
  const wrong = await ask('/grove/tree/1', { method: 'PUT' });
  assert.equal([wrong.status, wrong.headers.allow], [405, 'DELETE, GET, HEAD, OPTIONS']);
  assert.equal(wrong.json(), status(12, 'Method Not Allowed'));
  const asked = await ask('/grove/tree/1', { method: 'OPTIONS' });
  assert.equal([asked.status, asked.headers.allow, asked.text], [204, 'DELETE, GET, HEAD, OPTIONS', '']);
  assert.is((await ask('/grove/other', { method: 'OPTIONS' })).status, 404);
  const preflight = { origin: 'https://a.example', 'access-control-request-method': 'GET' };
  const allowed = await ask('/grove/tree/1', { method: 'OPTIONS', headers: preflight });
  assert.equal([allowed.status, allowed.headers['access-control-allow-origin']], [204, '*']);
});

test('other doors keep their paths, in their own form', async () => {
  assert.is((await ask('/health')).status, 200);
  assert.is((await ask('/')).status, 200);
  assert.equal(((await ask('/grov')).json() as { code: string }).code, 'not-found');
  assert.is((await ask('/v1/domains')).status, 401);
});

test('a path with several slashes at its start, as of a base URL that ends with one, is the path with one', async () => {
  const { server, node } = scripted(() => ({}));
  for (const path of ['//grove/tree/a?pagination.limit=5', '///grove/tree/a?pagination.limit=5']) {
    assert.is((await server.ask(path)).status, 200);
    assert.equal(node.last().request, { id: 'a', pagination: { limit: '5' } });
  }
  assert.equal(((await server.ask('//grove/nothing')).json() as { code: number }).code, 5);
});

test('HEAD asks as GET does and sends no body', async () => {
  scripted(() => ({ reply: { text: 'long' } }));
  const get = await ask('/grove/params');
  const head = await ask('/grove/params', { method: 'HEAD' });
  assert.equal([head.status, head.text, head.headers['content-length']], [200, '', get.headers['content-length']]);
  assert.is(head.headers.etag, get.headers.etag);
});

test('bodies go where the route says', async () => {
  const { server, node } = scripted(() => ({ reply: { text: 'done' } }));
  const sent = async (path: string, how: object) => {
    const answer = await server.ask(path, how);
    assert.is(answer.status, 200, answer.text);
    return [node.last().rpc, node.last().request];
  };
  assert.equal(await sent('/grove/north/trees?watered=true', json({ id: 'oak', rings: 3 })), [
    'Care/Plant',
    { place: 'north', tree: { id: 'oak', rings: '3' }, watered: true },
  ]);
  for (const method of ['GET', 'PUT', 'REPORT'])
    assert.is((await sent('/grove/search?note=n', { method }))[0], 'Query/Search');
});

test('a body that cannot be read is refused in the form of the gateway', async () => {
  const { server, node } = scripted(() => ({}));
  const before = node.seen.length;
  const refused = async (expected: readonly number[], how: object) => {
    const answer = await server.ask('/grove/north/trees', { method: 'POST', ...how });
    assert.equal([answer.status, (answer.json() as { code: number }).code], expected, answer.text);
  };
  await refused([400, 3], { body: '{' });
  await refused([400, 3], { body: '{"rings":"x"}' });
  await refused([400, 3], { body: Buffer.from([0xff]) });
  await refused([413, 8], { body: Buffer.alloc(1_048_577, ' ') });
  await refused([415, 3], { body: 'x', headers: { 'content-encoding': 'gzip' } });
  assert.is(node.seen.length, before);
  assert.is((await server.ask('/grove/params')).status, 200);
});

test('an error of the node is told with its details, and without addresses', async () => {
  const why = new BinaryWriter().tag(1, 2).string('why').finish();
  const type = 'type.googleapis.com/google.protobuf.StringValue';
  const any = new BinaryWriter().tag(1, 2).string(type).tag(2, 2).bytes(why).finish();
  const rich = new BinaryWriter().tag(1, 0).int32(5).tag(2, 2).string('m').tag(3, 2).bytes(any).finish();
  const metadata = metadataOf({ 'grpc-status-details-bin': Buffer.from(rich) });
  scripted(() => ({ status: { code: 5, details: 'at 10.1.2.3:9090', metadata } }));
  const answer = await ask('/grove/params');
  assert.equal([answer.status, answer.json()], [404, status(5, 'at address', [{ '@type': type, value: 'why' }])]);
});

test('the height goes in and out, and no header goes in that is not marked as metadata', async () => {
  const { server, node } = scripted(() => ({ headers: { 'x-cosmos-block-height': '42', 'x-other': 's' } }));
  const headers = {
    'x-cosmos-block-height': '41',
    'x-other': 'o',
    cookie: 'c',
    authorization: 'Bearer k',
    'x-forwarded-for': '1.2.3.4',
    'grpc-metadata-authorization': 'Bearer k',
    'grpc-metadata-x-forwarded-for': '1.2.3.4',
    'grpc-metadata-grpc-timeout': '1n',
    'grpc-metadata-te': 'x',
    'grpc-metadata-connection': 'x',
    'grpc-metadata-http2-settings': 'x',
    'grpc-metadata-content-type': 'text/html',
  };
  const answer = await server.ask('/grove/params', { headers });
  assert.equal(node.last().metadata.get('x-cosmos-block-height'), ['41']);
  const came = Object.keys(node.last().metadata.toJSON()).filter(
    (name) => !/^(grpc-|user-agent|te$|content-)/.test(name),
  );
  assert.equal(came, ['x-cosmos-block-height']);
  for (const name of ['x-other', 'cookie', 'authorization', 'x-forwarded-for'])
    assert.equal(node.last().metadata.get(name), []);
  assert.is(answer.headers['x-cosmos-block-height'], '42');
  assert.is(answer.headers['grpc-metadata-x-cosmos-block-height'], '42');
  assert.is(answer.headers['grpc-metadata-x-other'], 's');
  assert.is(answer.headers['x-other'], undefined);
});

test('Grpc-Timeout shortens the deadline, the node is told, and 504 is the end', async () => {
  const { server, node } = scripted(() => ({ after: new Promise(() => {}) }));
  const answer = await server.ask('/grove/tree/late', { headers: { 'grpc-timeout': '200m' } });
  assert.equal([answer.status, (answer.json() as { code: number }).code], [504, 4]);
  scripted(() => ({}));
  for (const [timeout, longestMs] of [
    ['60S', 60_000],
    ['9H', LONG_MS],
  ] as const) {
    await server.ask('/grove/params', { headers: { 'grpc-timeout': timeout } });
    assert.ok(node.last().deadlineMs <= longestMs, `${node.last().deadlineMs} ms`);
  }
});

test('a caller with a deadline of his own neither ends nor joins the call of another one', async () => {
  let answer = () => {};
  const wait = new Promise<void>((resolve) => (answer = resolve));
  const { server, node } = scripted(() => ({ reply: { text: 'late' }, after: wait }));
  const before = node.seen.length;
  const stop = new AbortController();
  const headers = { 'grpc-timeout': '60S' };
  const hasty = () => fetch(`${server.url}/grove/tree/haste`, { headers, signal: stop.signal }).catch(() => 'gone');
  const patient = server.ask('/grove/tree/haste');
  await node.until((seen) => seen.length === before + 1);
  const left = hasty();
  await node.until((seen) => seen.length === before + 2);
  stop.abort();
  await left;
  await node.until((seen) => seen[before + 1]!.isCancelled);
  assert.not.ok(node.seen[before]!.isCancelled);
  answer();
  assert.ok((await patient).text.includes('"late"'));
});

test('what may change something is never shared', async () => {
  let answer = () => {};
  const wait = new Promise<void>((resolve) => (answer = resolve));
  const { server, node } = scripted(() => ({ after: wait }));
  const before = node.seen.length;
  const both = [server.ask('/grove/tree/x', { method: 'DELETE' }), server.ask('/grove/tree/x', { method: 'DELETE' })];
  await node.until((seen) => seen.length === before + 2);
  answer();
  for (const { status } of await Promise.all(both)) assert.is(status, 200);
});

// Unlike a client that closes its half of the connection: Node takes that for leaving.
async function sent(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(bytes);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

test('a request line with a fragment or a host of its own does no harm', async () => {
  const { server } = scripted(() => ({}));
  for (const line of [
    'GET /grove/tree/a#b HTTP/1.1',
    'GET http://other/grove/params HTTP/1.1',
    'GET /grove/tree/\\ HTTP/1.1',
  ])
    assert.match(
      await sent(server.url, `${line}\r\nHost: x\r\nConnection: close\r\n\r\n`),
      /^HTTP\/1\.1 (200|400) /,
      line,
    );
});

test.run();
