// Whatever a client sends, the gateway answers, in its form, with nothing that is our fault, and goes on.

import { connect } from 'node:net';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sharedGateway } from './place.ts';

const test = suite('query gateway fuzzed');
const { scripted } = sharedGateway(test);

const PIECES = [
  ...'grove tree trees params metadata follow files places did:ixo:a :prune'.split(' '),
  ...'%2F %00 % %zz %ff .. . * {id} // ä + ~'.split(' '),
  '',
  '\u0001',
];
const NAMES = [
  ...'id pagination pagination.key pagination.limit pagination.limit.x at_least atLeast note note[0]'.split(' '),
  ...'__proto__ constructor . a[b]'.split(' '),
  '',
];
const VALUES = ['', ...'1 -1 1e9 99999999999999999999 AAAA % %f true null {} ; & ='.split(' '), 'x'.repeat(300)];
const METHODS = ['GET', 'GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'QUERY'];
const HEADERS = [
  'Grpc-Timeout: 1n',
  'Grpc-Timeout: x',
  'X-Cosmos-Block-Height: -1',
  'X-Cosmos-Block-Height: \u00e4',
  'Accept: text/event-stream',
  'Accept: ,;q',
  'If-None-Match: *',
  'Authorization: Bearer',
  'Range: bytes=0-1',
  'TE: trailers',
  'Origin: null',
];

const some = (from: readonly string[], max: number) =>
  fc.array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...from) }, fc.string({ maxLength: 8 })), {
    maxLength: max,
  });
const PLAIN = ['/grove/params', '/grove/tree/a', '/grove/trees', '/grove/follow/x', '/grove/north/trees'];
const plain = (path: string): [{ method: string; path: string; query: string; headers: string[]; body: string }] => [
  { method: 'GET', path, query: '', headers: [], body: '' },
];
const requests = fc.record({
  method: fc.constantFrom(...METHODS),
  path: fc.oneof(
    fc.constantFrom(...PLAIN),
    some(PIECES, 5).map((parts) => `/grove/${parts.join('/')}`),
  ),
  query: fc
    .array(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES)), { maxLength: 2 })
    .map((pairs) => pairs.map((pair) => pair.join('=')).join('&')),
  headers: fc.subarray(HEADERS, { maxLength: 2 }),
  body: fc.oneof(fc.constant(''), fc.json(), fc.string({ maxLength: 20 })),
});

function exchange(url: string, bytes: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
    socket.write(bytes);
  });
}

test('any path, query, header and body is answered with what the node says, or with 4xx or 501', async () => {
  const { server, node } = scripted(() => ({ reply: { text: 'fine' }, replies: [{ text: 'fine' }] }));
  const oneLine = (text: string) => text.replace(/[\r\n ]/g, '_');
  await fc.assert(
    fc.asyncProperty(requests, async ({ method, path, query, headers, body }) => {
      const target = oneLine(`${path}${query && `?${query}`}`);
      const content = Buffer.from(body);
      const head = [
        `${method} ${target} HTTP/1.1`,
        'Host: x',
        'Connection: close',
        `Content-Length: ${content.length}`,
        ...headers,
      ];
      const answer = await exchange(
        server.url,
        Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'utf8'), content]),
      );
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
      // 504: a deadline of a nanosecond.
      assert.ok(status < 500 || status === 501 || status === 504, `${JSON.stringify(head)}: ${answer.slice(0, 500)}`);
      assert.not.match(answer, /127\.0\.0\.1:\d/);
    }),
    // The plain ones reach the node whatever chance draws.
    { numRuns: 120, examples: PLAIN.map(plain) },
  );
  assert.ok(node.seen.length >= PLAIN.length, 'some requests reach the node');
  assert.equal(
    server.logged.filter(({ level }) => Number(level) >= 50),
    [],
  );
  assert.is((await server.ask('/grove/params')).status, 200);
});

test('any bytes from the node become JSON, or 500 and 502 in the form of the gateway', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
      const { server } = scripted(() => ({ bytes: Buffer.from(bytes) }));
      const answer = await server.ask('/grove/params');
      assert.ok([200, 500, 502].includes(answer.status), `${answer.status}`);
      const body = answer.json() as { code?: number };
      if (answer.status !== 200) assert.is(typeof body.code, 'number');
    }),
    { numRuns: 60 },
  );
});

test.run();
