// Requests that two servers could read differently, and the names of requests.

import { Agent, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DIAL, json, raw, sharedServer } from '../support/serve.ts';

const test = suite('requests');
const server = sharedServer(test, {});

const get = (lines: string) => raw(server().url, `GET /health HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`);

test('one Host header is fine; two, none, or a URL with a host other than Host is 400', async () => {
  assert.match(await get('Host: a\r\n'), /^HTTP\/1\.1 200 /);
  for (const bytes of ['Host: a\r\nHost: b\r\n', 'Host: a\r\nhost: a\r\n', ''])
    assert.match(await get(bytes), /^HTTP\/1\.1 400 /, bytes);
  const absolute = 'GET http://evil.example/health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
  assert.match(await raw(server().url, absolute), /^HTTP\/1\.1 400 /);
});

test('a whole URL, as clients of proxies write it, is taken where its host is that of Host, and not else', async () => {
  const ask = (target: string, host = 'a') =>
    raw(server().url, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  for (const target of ['http://a/livez', 'HTTPS://A/livez?x=http://b', 'http://a', 'http://a?x'])
    assert.match(await ask(target), /^HTTP\/1\.1 200 /, target);
  assert.match(await ask('http://a:1/livez', 'A:1'), /^HTTP\/1\.1 200 /);
  const bad = [
    'http://a:1/livez',
    'http://b/livez',
    'http://a@b/livez',
    'http://b@a/livez',
    'http:///livez',
    'a/livez',
    'ftp://a/livez',
  ];
  for (const target of bad) assert.match(await ask(target), /^HTTP\/1\.1 400 /, target);
  assert.match(await ask('http://a/livez', 'a\r\nHost: a'), /^HTTP\/1\.1 400 /);
});

const SMUGGLED: Readonly<Record<string, string>> = {
  'a length and chunks': 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
  'two lengths': 'Content-Length: 5\r\nContent-Length: 6\r\n',
  'a space before the colon': 'Transfer-Encoding : chunked\r\n',
  'an unknown coding': 'Transfer-Encoding: xchunked\r\n',
  'a signed length': 'Content-Length: +5\r\n',
  'a folded header': 'X-A: 1\r\n 2\r\n',
};

for (const [what, header] of Object.entries(SMUGGLED))
  test(`a request with ${what} is 400 and ends its connection`, async () => {
    const body = '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
    const said = await raw(server().url, `POST /api/ussd HTTP/1.1\r\nHost: a\r\n${header}\r\n${body}`);
    assert.match(said, /^HTTP\/1\.1 400 /);
    assert.is(said.match(/HTTP\/1\.1/g)?.length, 1, said);
  });

const fields = (count: number) => Array.from({ length: count }, (_, nth) => `X-${nth}: 1\r\n`).join('');
const ASKS: Readonly<Record<string, string>> = {
  'a plain request': '',
  'one for a WebSocket': 'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  'one for another protocol': 'Connection: Upgrade\r\nUpgrade: h2c\r\n',
  'one that waits for 100 Continue': 'Expect: 100-continue\r\n',
};

test('of 100 header fields the last is read; with one more a request is 431, for Node would leave it out unseen', async () => {
  assert.match(await get(`Host: a\r\n${fields(97)}X-Request-Id: last\r\n`), /^HTTP\/1\.1 200 .*X-Request-Id: last\r/s);
  for (const [what, lines] of Object.entries(ASKS))
    for (const count of [100, 140, 1_000])
      assert.match(
        await get(`Host: a\r\n${lines}${fields(count)}X-Forwarded-For: 203.0.113.7\r\n`),
        /^HTTP\/1\.1 431 .*too-many-headers/s,
        what,
      );
});

test('two fields of which Node would drop one are 400', async () => {
  for (const line of ['Authorization: Bearer a\r\n', 'Content-Type: text/plain\r\n'])
    assert.match(await get(`Host: a\r\n${line}${line.toLowerCase()}`), /^HTTP\/1\.1 400 /, line);
});

test('headers of more than 16 KiB are refused', async () => {
  assert.match(await get(`Host: a\r\nX-A: ${'x'.repeat(17_000)}\r\n`), /^HTTP\/1\.1 431 /);
});

test('a fit X-Request-Id comes back, another is replaced, and without one there is a new one each time', async () => {
  const idOf = async (id?: string) => {
    const headers: Record<string, string> = id === undefined ? {} : { 'x-request-id': id };
    const ussd = await server().ask('/api/ussd', json(DIAL, headers));
    const health = await server().ask('/health', { headers });
    return [ussd.headers['x-request-id']!, health.headers['x-request-id']!];
  };
  for (const id of ['abc', 'A-b_c.1', 'x'.repeat(128)]) assert.equal(await idOf(id), [id, id]);
  const made: string[] = [];
  for (const id of ['x'.repeat(129), 'a b', 'a;b', '<script>', 'é', undefined]) made.push(...(await idOf(id)));
  assert.is(new Set(made).size, made.length);
  for (const id of made) assert.match(id, /^[\w.-]{1,128}$/);
});

test('a body that is given up before its end does not hold up the next request of its connection', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = (method: string, path: string, headers: Record<string, string> = {}, body?: Buffer) =>
    new Promise<[number, boolean]>((resolve, reject) => {
      const asking = request(server().url, { agent, method, path, headers }, (answer) => {
        answer.resume().on('end', () => resolve([answer.statusCode!, asking.reusedSocket]));
      });
      asking.on('error', reject);
      asking.end(body);
    });
  const type = { 'content-type': 'application/json' };
  const large = Buffer.alloc(3_000_000, 'x');
  const given: readonly (readonly [Record<string, string>, Buffer])[] = [
    [{ ...type, 'content-encoding': 'gzip' }, large],
    [type, large],
    [{ ...type, 'transfer-encoding': 'chunked' }, large],
    [{ ...type, 'content-encoding': 'gzip' }, gzipSync(large)],
  ];
  for (const [headers, body] of given) {
    const [status] = await send('POST', '/1.0/identifiers/did:x:y', headers, body);
    assert.ok(status === 400 || status === 413, `${status}`);
    assert.equal(await send('GET', '/livez'), [200, true], JSON.stringify(headers));
  }
  agent.destroy();
});

test('nothing is built from the Host header', async () => {
  const answer = await server().ask('/', { headers: { host: 'good:3000@evil.example' } });
  assert.not.match(answer.text + JSON.stringify(answer.headers), /evil/);
});

test.run();
