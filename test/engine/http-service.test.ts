// http.get and http.post against real servers on the loopback: what they send, what they answer, where they refuse to go.

import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createRawServer, type Server as RawServer, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ServiceCall } from '../../lib/engine/service.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Resolve } from '../../lib/http/hosts.ts';
import { HTTP_LIMITS } from '../../lib/http/limits.ts';
import { httpServices } from '../../lib/http/service.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';

const test = suite('http services');

interface Seen {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const servers: (Server | RawServer)[] = [];
const sockets: Socket[] = [];
let seen: Seen[] = [];
let port = 0;

const json = (text: string, type = 'application/json; charset=utf-8'): RequestListener => {
  return (_, response) => response.writeHead(200, { 'content-type': type }).end(text);
};

const ROUTES: { readonly [path: string]: RequestListener } = {
  '/ok': json('{"balance":12.5,"tx":[{"label":"Rénté"}]}'),
  '/vendor': json('{"a":1}', 'application/vnd.api+json'),
  '/sniffed': json(' {"a":1}', 'text/html'),
  '/text': json('12', 'text/plain'),
  '/braces': json('{not json}', 'text/plain'),
  '/broken': json('{"a":'),
  '/empty': (_, response) => response.writeHead(204).end(),
  '/proto': json('{"__proto__":{"admin":true},"a":{"constructor":1,"prototype":2,"b":3},"list":[{"__proto__":1}]}'),
  '/numbers': json('[-0,1.5]'),
  '/huge': json('{"a":[1e999]}'),
  '/rounded': json('{"id":9007199254740993}'),
  '/deep': json('['.repeat(HTTP_LIMITS.httpAnswerDepth) + ']'.repeat(HTTP_LIMITS.httpAnswerDepth)),
  '/deeper': json('['.repeat(20_000) + ']'.repeat(20_000)),
  '/fits': json('x'.repeat(HTTP_LIMITS.httpAnswerBytes), 'text/plain'),
  '/big': json('x'.repeat(HTTP_LIMITS.httpAnswerBytes + 1), 'text/plain'),
  '/endless': (request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'.repeat(16_384)), 1);
    request.socket.on('close', () => clearInterval(timer));
  },
  '/gzip': (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('zip'),
  '/redirect': (_, response) => response.writeHead(302, { location: `http://127.0.0.1:${port}/ok?token=hidden` }).end(),
  '/400': (_, response) => response.writeHead(400).end('hidden'),
  '/404': (_, response) => response.writeHead(404).end('hidden'),
  '/429': (_, response) => response.writeHead(429).end('hidden'),
  '/503': (_, response) => response.writeHead(503).end('hidden'),
  '/silent': () => {},
  '/half': (_, response) => response.writeHead(200).write('half'),
  '/cut': (_, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('half');
    setTimeout(() => response.destroy(), 5);
  },
};

const handler: RequestListener = (request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
    ROUTES[new URL(request.url ?? '', 'http://x').pathname]?.(request, response);
  });
};

async function listen<S extends Server | RawServer>(server: S, host = '127.0.0.1'): Promise<number> {
  servers.push(server);
  server.on('connection', (socket) => sockets.push(socket));
  await new Promise<void>((ready) => server.listen(0, host, ready));
  return (server.address() as AddressInfo).port;
}

test.before(async () => {
  port = await listen(createServer(handler));
});

test.before.each(() => {
  seen = [];
});

test.after(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) await new Promise((closed) => server.close(closed));
});

const call = (signal = new AbortController().signal): ServiceCall => ({
  signal,
  idempotencyKey: 'session-1:4:pay',
  session: { id: 'session-1' },
});

const LOOPBACK: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];

function services(hosts = [`127.0.0.1:${port}`], lookup: Resolve = LOOPBACK) {
  return httpServices({ hosts, lookup });
}

const get = (path: string, more: JsonObject = {}) =>
  services()['http.get']({ url: `http://127.0.0.1:${port}${path}`, ...more }, call());

const post = (path: string, more: JsonObject = {}) =>
  services()['http.post']({ url: `http://127.0.0.1:${port}${path}`, ...more }, call());

async function failure(work: Promise<Json> | undefined): Promise<TwinlineError> {
  const error = await work?.then(
    (answer) => new Error(`it answered ${JSON.stringify(answer).slice(0, 200)}`),
    (thrown) => thrown,
  );
  assert.instance(error, TwinlineError, String(error));
  assert.not.match((error as TwinlineError).message, /hidden|topsecret/);
  return error as TwinlineError;
}

test('get asks with query and headers, and answers status and JSON', async () => {
  const answer = await get('/ok?fixed=1', {
    query: { phone: '+263 77&x=1', n: 5, on: true, none: null, tag: ['a', 'b'] },
    headers: { Authorization: 'Bearer t', 'X-Own': 'yes' },
  });
  assert.equal(answer, { status: 200, body: { balance: 12.5, tx: [{ label: 'Rénté' }] } });
  const [request] = seen;
  assert.is(request?.line, 'GET /ok?fixed=1&phone=%2B263+77%26x%3D1&n=5&on=true&tag=a&tag=b');
  assert.is(request?.headers.authorization, 'Bearer t');
  assert.is(request?.headers['x-own'], 'yes');
  assert.is(request?.headers['accept-encoding'], 'identity');
  assert.is(request?.headers['idempotency-key'], undefined);
});

test('post sends JSON and the key of the call, so that a repeated try acts once', async () => {
  await post('/ok', { body: { amount: 5, to: 'Ré' } });
  await post('/ok');
  assert.is(seen[0]?.body, '{"amount":5,"to":"Ré"}');
  assert.is(seen[0]?.headers['content-type'], 'application/json');
  assert.is(seen[0]?.headers['content-length'], '23');
  assert.is(seen[0]?.headers['idempotency-key'], 'session-1:4:pay');
  assert.is(seen[1]?.body, '');
  assert.is(seen[1]?.headers['content-length'], '0');
});

test('put, patch and delete send the key of the call as post does; a delete has no body', async () => {
  const url = `http://127.0.0.1:${port}/ok`;
  for (const method of ['put', 'patch'] as const)
    await services()[`http.${method}`]({ url, body: { bags: 4 } }, call());
  await services()['http.delete']({ url }, call());
  assert.equal(
    seen.map(({ line, body, headers }) => [line, body, headers['idempotency-key']]),
    [
      ['PUT /ok', '{"bags":4}', 'session-1:4:pay'],
      ['PATCH /ok', '{"bags":4}', 'session-1:4:pay'],
      ['DELETE /ok', '', 'session-1:4:pay'],
    ],
  );
  const error = await failure(services()['http.delete']({ url, body: {} }, call()));
  assert.is(error.code, 'ERR_INPUT');
});

test('the headers of an origin go to it alone, in the place of what a flow wrote', async () => {
  const own = `http://127.0.0.1:${port}`;
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  const headers = { [own]: { Authorization: 'Bearer of-the-server', 'x-tenant': 't1' } };
  const ask = httpServices({ hosts, lookup: LOOPBACK, headers })['http.get'];
  const written = { headers: { authorization: 'Bearer of-the-flow' } };
  await ask({ url: `${own}/ok`, ...written }, call());
  await ask({ url: `http://localhost:${port}/ok`, ...written }, call());
  assert.equal(
    seen.map(({ headers }) => [headers.authorization, headers['x-tenant']]),
    [
      ['Bearer of-the-server', 't1'],
      ['Bearer of-the-flow', undefined],
    ],
  );
  for (const [origin, wrong] of [
    [`${own}/path`, { a: 'b' }],
    ['127.0.0.1', { a: 'b' }],
    [own, { host: 'topsecret' }],
    [own, { a: 'topsecret\n' }],
    [own, 'topsecret'],
  ] as const)
    assert.throws(
      () => httpServices({ hosts, headers: { [origin]: wrong as never } }),
      (error: TwinlineError) => error.code === 'ERR_CONFIG' && !error.message.includes('topsecret'),
    );
});

test('a key that no header can carry is sent as its digest, the same each time', async () => {
  const odd = { ...call(), idempotencyKey: 'é\r\nX-Evil: 1' };
  for (let tries = 0; tries < 2; tries++) await services()['http.post']({ url: `http://127.0.0.1:${port}/ok` }, odd);
  assert.match(String(seen[0]?.headers['idempotency-key']), /^[\w-]{43}$/);
  assert.is(seen[0]?.headers['idempotency-key'], seen[1]?.headers['idempotency-key']);
  assert.is(seen[0]?.headers['x-evil'], undefined);
});

test('a body is JSON where it is, else text, else null', async () => {
  assert.equal(await get('/vendor'), { status: 200, body: { a: 1 } });
  assert.equal(await get('/sniffed'), { status: 200, body: { a: 1 } });
  assert.equal(await get('/text'), { status: 200, body: '12' });
  assert.equal(await get('/braces'), { status: 200, body: '{not json}' });
  assert.equal(await get('/empty'), { status: 204, body: null });
  const broken = await failure(get('/broken'));
  assert.match(broken.message, 'malformed JSON');
});

test('an answer holds nothing that JSON or a prototype chokes on', async () => {
  const answer = (await get('/proto')) as { body: JsonObject };
  assert.equal(answer.body, { a: { b: 3 }, list: [{}] });
  assert.is(JSON.stringify(answer.body), '{"a":{"b":3},"list":[{}]}');
  assert.is(JSON.stringify(await get('/numbers')), '{"status":200,"body":[0,1.5]}');
  assert.not(Object.is(((await get('/numbers')) as { body: number[] }).body[0], -0));
  assert.match((await failure(get('/huge'))).message, 'has a number that is too large, at /a/0');
  assert.match((await failure(get('/rounded'))).message, 'would be rounded; send it as a string, at /id');
  await get('/deep');
  assert.match((await failure(get('/deeper'))).message, `${HTTP_LIMITS.httpAnswerDepth} levels`);
});

test('an answer is read up to its limit, and a longer one is cut off', async () => {
  assert.is(((await get('/fits')) as { body: string }).body.length, HTTP_LIMITS.httpAnswerBytes);
  for (const path of ['/big', '/endless']) {
    const error = await failure(get(path));
    assert.match(error.message, `more than ${HTTP_LIMITS.httpAnswerBytes} bytes`);
    assert.not(error.retry);
  }
  assert.match((await failure(get('/gzip'))).message, 'coding "gzip"');
});

test('anything but 2xx rejects with the status, and only 5xx and 429 are worth another try', async () => {
  const cases = [
    ['/400', 400, false],
    ['/404', 404, false],
    ['/429', 429, true],
    ['/503', 503, true],
  ] as const;
  for (const [path, status, retry] of cases) {
    const error = await failure(get(path, { query: { pin: 'topsecret' } }));
    assert.is(error.code, 'ERR_SERVICE');
    assert.equal(error.cause, { status });
    assert.is(error.retry, retry, path);
    assert.is(error.message, `GET http://127.0.0.1:${port}${path} answered ${status}.`);
  }
});

test('redirects are not followed', async () => {
  const error = await failure(get('/redirect'));
  assert.match(error.message, 'answered 302; redirects are not followed');
  assert.not(error.retry);
  assert.is(seen.length, 1);
});

test('messages show neither query nor body nor headers', async () => {
  const closed = createRawServer();
  const gone = await listen(closed);
  await new Promise((done) => closed.close(done));
  servers.pop();
  const input = { query: { q: 'topsecret' }, body: 'topsecret', headers: { 'x-key': 'topsecret' } };
  const ask = (url: string) =>
    services([`127.0.0.1:${port}`, `127.0.0.1:${gone}`])['http.post']({ url, ...input }, call());
  const refused = await failure(ask(`http://127.0.0.1:${gone}/pay?x=topsecret#topsecret`));
  assert.is(refused.message, `POST http://127.0.0.1:${gone}/pay failed: ECONNREFUSED.`);
  assert.ok(refused.retry);
  await failure(ask(`http://127.0.0.1:${port}/503?x=topsecret`));
  await failure(ask(`http://127.0.0.1:${port}/cut?x=topsecret`));
  await failure(ask('http://elsewhere.test/?x=topsecret'));
  await failure(ask('http://user:topsecret@elsewhere.test/'));
  await failure(ask('topsecret'));
});

test('the signal stops a call while it resolves, waits or reads', async () => {
  const never: Resolve = () => new Promise(() => {});
  const cases: readonly (readonly [string, Resolve])[] = [
    [`http://slow.test:${port}/ok`, never],
    [`http://127.0.0.1:${port}/silent`, LOOPBACK],
    [`http://127.0.0.1:${port}/half`, LOOPBACK],
  ];
  for (const [url, lookup] of cases) {
    const stop = new AbortController();
    const work = services([`127.0.0.1:${port}`, `slow.test:${port}`], lookup)['http.get']({ url }, call(stop.signal));
    setTimeout(() => stop.abort(), 20);
    assert.is((await failure(work)).code, 'ERR_TIMEOUT', url);
  }
  seen = [];
  assert.is(
    (await failure(services()['http.get']({ url: `http://127.0.0.1:${port}/ok` }, call(AbortSignal.abort())))).code,
    'ERR_TIMEOUT',
  );
  assert.is(seen.length, 0);
});

test('connections are used again, also after a refusal', async () => {
  const own = services();
  const ask = (path: string) => own['http.get']({ url: `http://127.0.0.1:${port}${path}` }, call());
  await ask('/ok');
  const before = sockets.length;
  await failure(ask('/404'));
  await ask('/ok');
  await ask('/text');
  assert.is(sockets.length, before);
});

test('a kept connection that the server closed is replaced, unnoticed', async () => {
  let opened = 0;
  let requests = 0;
  const server = createRawServer((socket) => {
    opened++;
    socket.on('error', () => {});
    socket.on('data', () => {
      if (++requests === 2) socket.resetAndDestroy();
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    });
  });
  const at = await listen(server);
  const own = services([`127.0.0.1:${at}`]);
  const ask = () => own['http.post']({ url: `http://127.0.0.1:${at}/` }, call());
  for (let times = 0; times < 2; times++) assert.equal(await ask(), { status: 200, body: 'ok' });
  // The second one was sent on the first connection, which ended, and again on a new one.
  assert.equal([opened, requests], [2, 3]);
});

test('only listed hosts and ports are called', async () => {
  const lookups: string[] = [];
  const spy: Resolve = async (host) => {
    lookups.push(host);
    return [];
  };
  const own = services(['api.example.com', 'Pay.Example.com:8443', '*.shop.example', 'BÜCHER.example'], spy);
  const ask = (url: string) => failure(own['http.get']({ url }, call()));
  const listed = [
    'http://api.example.com/',
    'https://API.example.com:443/',
    'https://pay.example.com:8443/',
    'http://a.shop.example/',
    'https://a.b.shop.example/',
    'http://bücher.example/',
  ];
  for (const url of listed) assert.match((await ask(url)).message, 'resolves to an address that is not public', url);
  assert.is(lookups.length, listed.length);
  const others = 'api.example.com:8080 api.example.com:443 shop.example a.shop.example:81 evilshop.example';
  const more = 'api.example.com.evil.test api.example.com. 127.0.0.1 localhost';
  for (const host of `${others} ${more}`.split(' ')) {
    const error = await ask(`http://${host}/`);
    assert.match(error.message, 'is not allowed', host);
    assert.not(error.retry);
  }
  assert.match((await ask('https://pay.example.com/')).message, 'is not allowed');
  assert.is(lookups.length, listed.length);
});

test('a listed name that leads to a private address is not called, also when only one of its addresses is', async () => {
  // Which addresses are public: test/http/hosts.test.ts.
  for (const address of ['127.0.0.1', '169.254.169.254', '::ffff:7f00:1', 'fd00:ec2::254', 'not an address']) {
    const family = address.includes(':') ? 6 : 4;
    const lookup: Resolve = async () => [
      { address: '93.184.215.14', family: 4 },
      { address, family },
    ];
    const error = await failure(
      services([`name.test:${port}`], lookup)['http.get']({ url: `http://name.test:${port}/ok` }, call()),
    );
    assert.match(error.message, 'resolves to an address that is not public');
    assert.is(error.code, 'ERR_SERVICE');
    assert.not(error.retry, address);
  }
  assert.is(seen.length, 0);
});

test('localhost is called when it is listed, and only on the loopback', async () => {
  const ask = (lookup: Resolve) =>
    services([`localhost:${port}`], lookup)['http.get']({ url: `http://localhost:${port}/text` }, call());
  assert.equal(await ask(LOOPBACK), { status: 200, body: '12' });
  const elsewhere = await failure(ask(async () => [{ address: '10.0.0.1', family: 4 }]));
  assert.match(elsewhere.message, 'not loopback');
});

test('a name is resolved once for a connection, and the socket goes to that very address', async () => {
  const own = await listen(createServer(json('"pinned"')), '127.0.0.2');
  let asked = 0;
  const rebinding: Resolve = async () => [{ address: asked++ === 0 ? '127.0.0.2' : '127.0.0.1', family: 4 }];
  const work = services([`localhost:${own}`], rebinding)['http.get']({ url: `http://localhost:${own}/` }, call());
  assert.equal(await work, { status: 200, body: 'pinned' });
  assert.is(asked, 1);
});

test('a name that cannot be resolved may be tried again', async () => {
  const lookup: Resolve = async () => {
    throw Object.assign(new Error('getaddrinfo ENOTFOUND name.test'), { code: 'ENOTFOUND' });
  };
  const error = await failure(services(['name.test'], lookup)['http.get']({ url: 'http://name.test/a' }, call()));
  assert.is(error.message, 'GET http://name.test/a failed: ENOTFOUND.');
  assert.ok(error.retry);
});

test('malformed input is ERR_INPUT, before anything is sent', async () => {
  const url = `http://127.0.0.1:${port}/ok`;
  const cases: readonly (readonly [JsonObject, RegExp])[] = [
    [{}, /"url" must be an absolute URL/],
    [{ url: '/ok' }, /absolute/],
    [{ url: 5 }, /absolute/],
    [{ url: `${url}?${'x'.repeat(2048)}` }, /2048 characters/],
    [{ url: 'ftp://127.0.0.1/' }, /http:\/\/ or https/],
    [{ url: 'file:///etc/passwd' }, /http:\/\/ or https/],
    [{ url: 'http://u:p@127.0.0.1/' }, /user name or password/],
    [{ url, querry: {} }, /no field "querry".*url, query, headers/],
    [{ url, query: 'a=1' }, /"query" must be an object/],
    [{ url, query: { a: {} } }, /"query\.a"/],
    [{ url, query: { a: [[1]] } }, /"query\.a"/],
    [{ url, headers: [] }, /"headers" must be an object/],
    [{ url, headers: { Host: 'evil' } }, /"Host" cannot be set/],
    [{ url, headers: { 'Transfer-Encoding': 'chunked' } }, /cannot be set/],
    [{ url, headers: { 'Idempotency-Key': '1' } }, /cannot be set/],
    [{ url, headers: { 'a b': '1' } }, /cannot be set/],
    [{ url, headers: { 'x-a': 'topsecret\r\nX-Evil: 1' } }, /"headers\.x-a" is not a single line/],
    [{ url, headers: { 'x-a': 1 } }, /"headers\.x-a"/],
    [{ url, body: {} }, /no field "body"/],
  ];
  for (const [input, message] of cases) {
    const error = await failure(services()['http.get'](input, call()));
    assert.is(error.code, 'ERR_INPUT', JSON.stringify(input));
    assert.match(error.message, message);
  }
  assert.is(seen.length, 0);
});

test('a list of hosts that cannot be is refused as a whole, with every reason', () => {
  const bad = ['http://a.test', 'a.test/x', '2130706433', '*', '*.com', 'a.test.', 'a b', '', 'a.test:0', 'x@y', '::1'];
  for (const entry of bad)
    assert.throws(
      () => services([entry]),
      (error: TwinlineError) => error.code === 'ERR_CONFIG',
      entry,
    );
  assert.throws(
    () => services(bad),
    (error: TwinlineError) => bad.every((entry) => error.message.includes(`"${entry}" `)),
  );
  services(['a.test', '10.0.0.1', '[::1]:8080', 'localhost', '*.a.test:81', 'xn--bcher-kva.example']);
});

test.run();
