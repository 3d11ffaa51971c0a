// Clients that ask and do not read: they hold no place of others, little memory, and are let go.

import { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { sendResponse } from '../../../server/gateway/answers/response.ts';
import { type ConnectionRules, type CutReason, watchConnections } from '../../../server/http/connections.ts';
import { Answer } from '../../../server/http/guard.ts';
import { unsentBytes } from '../../../server/http/unsent.ts';
import { DIAL, type Served, testRoutes, withServer } from '../support/serve.ts';

const test = suite('slow readers');

/** More than the system takes for a client that reads nothing. */
const LARGE = 20_000_000;
const PAGE = 'x'.repeat(LARGE);

/** Routes whose answers are as large as that, in the ways in which answers are sent. */
const large = testRoutes({
  'GET /large': (ctx) => {
    ctx.body = PAGE;
  },
  'GET /large-json': (ctx) => {
    ctx.set('ETag', '"one"');
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = { page: PAGE };
  },
  'GET /large-chunked': (ctx) => {
    ctx.body = Readable.from(Array.from({ length: 300 }, () => PAGE.slice(0, 65_536)));
  },
  'POST /large': (ctx) => {
    ctx.body = PAGE;
  },
});

interface Reader {
  readonly socket: Socket;
  /** Bytes that were read. */
  readonly got: () => number;
  /** Reads until it has so many bytes, then no more. */
  readonly readTo: (bytes: number) => Promise<void>;
  readonly closed: Promise<void>;
}

/** A client that has sent these bytes and reads only when it is told to. */
async function ask(url: string, bytes: string): Promise<Reader> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let got = 0;
  let goal = Number.POSITIVE_INFINITY;
  socket.on('data', (chunk) => {
    got += chunk.length;
    if (got >= goal) socket.pause();
  });
  socket.pause();
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  await new Promise((resolve) => socket.on('connect', resolve));
  socket.write(bytes);
  const readTo = async (bytes: number) => {
    goal = bytes;
    socket.resume();
    await until(() => got >= bytes, `${bytes} bytes`);
  };
  return { socket, got: () => got, readTo, closed };
}

const get = (path: string, version = '1.1') => `GET ${path} HTTP/${version}\r\nHost: a\r\n\r\n`;

async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let at = 0; at < 400; at++) {
    if (await holds()) return;
    await pause(25);
  }
  throw new Error(`in vain: ${what}`);
}

const metric = async (server: Served, series: string) => {
  const { text } = await server.ask('/metrics');
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
};

const cutOff = (server: Served) => metric(server, 'twinline_connections_cut_total{reason="stalled"}');

// A client that reads nothing sees the end of its connection only when it reads.
const FORMS: Readonly<Record<string, string>> = {
  'with a length': get('/large'),
  'as JSON': get('/large-json'),
  'in chunks': get('/large-chunked'),
  'of HTTP/1.0': get('/large', '1.0'),
  'of a POST': 'POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n',
  'behind others on its connection': get('/livez') + get('/large') + get('/large') + get('/livez'),
};

for (const [what, bytes] of Object.entries(FORMS))
  test(`an answer ${what} that nobody reads is cut off, and nothing of it is kept`, () =>
    withServer({ routes: [large], connections: { stallMs: 400 } }, async (server) => {
      const reader = await ask(server.url, bytes);
      await until(async () => (await cutOff(server)) === 1, 'to be cut off');
      await until(async () => (await metric(server, 'twinline_unsent_bytes')) === 0, 'nothing to wait');
      reader.socket.resume();
      await reader.closed;
      assert.ok(reader.got() < LARGE);
      assert.ok(server.logged.some(({ msg }) => String(msg).startsWith('connections are cut')));
    }));

test('a client that reads slowly, with pauses that are shorter, gets all of it', () =>
  withServer({ routes: [large], connections: { stallMs: 1_500, leastBytes: 100_000 } }, async (server) => {
    const reader = await ask(server.url, get('/large'));
    for (let goal = 5_000_000; goal <= LARGE; goal += 5_000_000) {
      await pause(700);
      await reader.readTo(goal);
    }
    assert.is(await cutOff(server), 0);
    reader.socket.destroy();
  }));

test('HEAD, small answers and idle connections are never cut off', () =>
  withServer({ routes: [large], connections: { stallMs: 100 } }, async (server) => {
    const readers = [];
    for (const bytes of ['HEAD /large HTTP/1.1\r\nHost: a\r\n\r\n', get('/livez'), get('/livez').repeat(20)])
      readers.push(await ask(server.url, bytes));
    await pause(500);
    for (const { socket } of readers) socket.write(get('/livez'));
    await pause(200);
    for (const { socket } of readers) socket.resume();
    await pause(100);
    for (const { socket, got } of readers) assert.equal([socket.destroyed, got() > 100], [false, true]);
    assert.is(await cutOff(server), 0);
    for (const { socket } of readers) socket.destroy();
  }));

test('a stream of events that has nothing to tell stays open, and so does its reader who reads late', () =>
  withServer({ connections: { stallMs: 100 } }, async (server) => {
    const { port, hostname } = new URL(server.url);
    const headers = { authorization: `Bearer ${server.developmentKey}` };
    const res = await new Promise<IncomingMessage>((resolve, reject) =>
      request({ port, hostname, path: '/v1/events', headers, agent: false }, resolve).on('error', reject).end(),
    );
    let isOver = false;
    res.on('close', () => {
      isOver = true;
    });
    await pause(600);
    assert.is(isOver, false);
    assert.is(await cutOff(server), 0);
    res.destroy();
  }));

test('answers that wait for their clients take no place of requests that are worked on', () =>
  withServer({ routes: [large], overload: { requestsAtOnce: 3, loopDelayMs: 60_000 } }, async (server) => {
    const readers = [];
    for (let at = 0; at < 8; at++)
      readers.push(await ask(server.url, get(at < 2 ? '/large' : '/docs/swagger-ui-bundle.js')));
    await until(async () => (await metric(server, 'twinline_requests_in_flight')) === 1, 'only this question');
    assert.match(await server.ussd(DIAL), /^CON /);
    for (const { socket } of readers) socket.destroy();
  }));

test('beyond what may wait for one client, large answers are 503 and small ones are given', () =>
  withServer({ routes: [large], unsent: { perClient: LARGE * 2.5 } }, async (server) => {
    const readers = [];
    for (let at = 0; at < 2; at++) readers.push(await ask(server.url, get('/large')));
    await until(async () => (await metric(server, 'twinline_unsent_bytes')) === 2 * LARGE, 'both to wait');
    const full = await server.ask('/large-json');
    assert.equal([full.status, full.headers['retry-after'], full.headers.etag], [503, '5', undefined]);
    assert.is((full.json() as { code: string }).code, 'unavailable');
    assert.is(full.headers['cache-control'], undefined);
    assert.is((await server.ask('/health')).status, 200);
    assert.is((await server.ask('/large', { method: 'POST' })).status, 200, 'what was done is answered');
    assert.match(await server.ussd(DIAL), /^CON /);
    assert.is(await metric(server, 'twinline_refused_total{why="unsent"}'), 1);
    for (const { socket } of readers) socket.destroy();
    await until(async () => (await metric(server, 'twinline_unsent_bytes')) === 0, 'room');
    assert.is((await server.ask('/large')).status, 200);
  }));

test('another client is not bound by what waits for the first, until there is no room for anybody', () =>
  withServer(
    {
      routes: [large],
      env: { TRUST_PROXY_ENABLED: 'true', TRUST_PROXY_CIDRS: '127.0.0.1' },
      unsent: { perClient: LARGE * 1.5, all: LARGE * 2.5 },
    },
    async (server) => {
      const from = (address: string) => `GET /large HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\n\r\n`;
      const readers = [await ask(server.url, from('203.0.113.1'))];
      const status = async (address: string) =>
        (await server.ask('/large', { headers: { 'x-forwarded-for': address } })).status;
      await until(async () => (await metric(server, 'twinline_unsent_bytes')) === LARGE, 'one to wait');
      assert.equal([await status('203.0.113.1'), await status('203.0.113.2')], [503, 200]);
      readers.push(await ask(server.url, from('203.0.113.2')));
      await until(async () => (await metric(server, 'twinline_unsent_bytes')) === 2 * LARGE, 'two to wait');
      assert.is(await status('203.0.113.3'), 503);
      for (const { socket } of readers) socket.destroy();
    },
  ));

test('the query gateway refuses large replies in its own form while there is no room, and sends small ones', async () => {
  const refusing = { bytes: 0, admit: (_answer: ServerResponse, bytes: number) => bytes < 100, count: () => {} };
  const server = createServer({ ServerResponse: Answer }, (req, res) => {
    res.unsent = refusing;
    const body = req.url === '/large' ? Buffer.alloc(1_000, 120) : '{}';
    sendResponse({ req, res, requestId: 'r1' }, { http: 200, body, headers: ['ETag', '"one"'] });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const [large, small] = [await fetch(`http://127.0.0.1:${port}/large`), await fetch(`http://127.0.0.1:${port}/small`)];
  assert.equal([large.status, large.headers.get('retry-after'), large.headers.get('etag')], [503, '5', null]);
  assert.is(((await large.json()) as { code: number }).code, 14);
  assert.equal([small.status, await small.text()], [200, '{}']);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test('the answer of a client that is gone is not counted', () => {
  const readClient = () => ({ address: 'a', bucket: 'a', loopback: false, exempt: false, proxy: false });
  const unsent = unsentBytes({ readClient });
  const answer = new ServerResponse({ method: 'GET' } as IncomingMessage);
  answer.destroy();
  assert.is(unsent.admit(answer, 1_000_000), true);
  assert.is(unsent.bytes, 0);
});

test('one address has so many connections, not more; known proxies and gateways have any number', async () => {
  const opened = async (env: NodeJS.ProcessEnv) => {
    let alive = 0;
    await withServer({ env, connections: { perClient: 5 } }, async (server) => {
      const readers = [];
      for (let at = 0; at < 9; at++) readers.push(await ask(server.url, get('/livez')));
      for (const { socket } of readers) socket.resume();
      await pause(200);
      alive = readers.filter(({ socket, got }) => !socket.destroyed && got() > 0).length;
      for (const { socket } of readers) socket.destroy();
      await pause(50);
      assert.is((await server.ask('/livez')).status, 200, 'a place that was left is free');
      const refused = await metric(server, 'twinline_refused_total{why="connections"}');
      assert.is(refused, 9 - alive);
    });
    return alive;
  };
  assert.is(await opened({}), 5);
  assert.is(await opened({ TRUST_PROXY_ENABLED: 'true', TRUST_PROXY_CIDRS: '127.0.0.1' }), 9);
  assert.is(await opened({ RATE_LIMIT_EXEMPT: '127.0.0.0/8' }), 9);
});

/** A server that answers all with one large page, looked at only when a test says so. */
async function withWatched(
  options: ConnectionRules,
  work: (watched: { url: string; cuts: CutReason[]; look: () => void }) => Promise<void>,
): Promise<void> {
  const cuts: CutReason[] = [];
  const server = createServer({ ServerResponse: Answer }, (_req, res) => res.end(PAGE));
  const connections = watchConnections(server, { ...options, onCut: (reason) => cuts.push(reason) });
  connections.stop();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await work({ url: `http://127.0.0.1:${port}`, cuts, look: connections.look });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

test('by the limits that are shipped a client is let go after 30 s without a byte, not before', async () => {
  const clock = new SimulatedClock();
  await withWatched({ clock }, async ({ url, cuts, look }) => {
    const still = await ask(url, get('/'));
    await pause(300);
    look();
    await clock.advance(29_999);
    look();
    assert.equal(cuts, []);
    await clock.advance(1);
    look();
    assert.equal(cuts, ['stalled']);
    still.socket.destroy();
  });
});

test('by the limits that are shipped a client must take 256 KiB of a large answer in each minute', async () => {
  const clock = new SimulatedClock();
  const taken = { tooSlow: 0, slow: 0 };
  const server = new EventEmitter() as Server;
  const cuts: CutReason[] = [];
  const connections = watchConnections(server, { clock, onCut: (reason) => cuts.push(reason) });
  connections.stop();
  const tooSlow = connectionThatTook(() => taken.tooSlow);
  const slow = connectionThatTook(() => taken.slow);
  for (const socket of [tooSlow, slow]) server.emit('connection', socket);
  connections.look();
  for (let at = 0; at < 9; at++) {
    taken.tooSlow += 80_000;
    taken.slow += 90_000;
    await clock.advance(20_000);
    connections.look();
  }
  assert.equal([cuts, tooSlow.destroyed, slow.destroyed], [['slow'], true, false]);
});

test('a client that reads far less than it must is let go, though it always reads something', async () => {
  const clock = new SimulatedClock();
  await withWatched({ clock, leastBytes: LARGE }, async ({ url, cuts, look }) => {
    const reader = await ask(url, get('/'));
    await pause(300);
    look();
    for (let goal = 4_000_000; goal <= 12_000_000; goal += 4_000_000) {
      await reader.readTo(goal);
      await clock.advance(20_000);
      look();
    }
    assert.equal(cuts, ['slow']);
    reader.socket.destroy();
  });
});

const POST = 'POST /api/ussd HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
const DRIPS: Readonly<Record<string, string>> = {
  'with a length': `${POST}Content-Length: 100000\r\n\r\n`,
  'in chunks': `${POST}Transfer-Encoding: chunked\r\n\r\n`,
  'that is answered already': 'POST /v1/domains HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n',
};

for (const [what, head] of Object.entries(DRIPS))
  test(`a body ${what} that comes a byte at a time is cut off, one that comes fast enough is not`, () =>
    withServer({ connections: { bodyMs: 1_000, bodyBytes: 1_000 } }, async (server) => {
      const bytes = (count: number) => (what === 'in chunks' ? '1\r\n \r\n'.repeat(count) : ' '.repeat(count));
      const drips = await ask(server.url, head);
      const flows = await ask(server.url, head);
      for (const { socket } of [drips, flows]) socket.resume();
      let [isCut, isOver] = [false, false];
      drips.socket.on('close', () => (isCut = true)).on('error', () => {});
      flows.socket.on('close', () => (isOver = true)).on('error', () => {});
      for (let at = 0; at < 60 && !isCut; at++) {
        drips.socket.write(bytes(1));
        flows.socket.write(bytes(600));
        await pause(100);
      }
      assert.equal([isCut, isOver], [true, false]);
      assert.is(await metric(server, 'twinline_connections_cut_total{reason="body"}'), 1);
      flows.socket.destroy();
    }));

test('a body that the server does not read yet is not held against its client', () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const late = testRoutes({
    'GET /late': async (ctx) => {
      await held;
      ctx.body = {};
    },
  });
  const options = {
    routes: [late],
    overload: { requestsAtOnce: 1 },
    connections: { bodyMs: 200, bodyBytes: 1_000_000_000, stallMs: 400 },
  };
  return withServer(options, async (server) => {
    const first = server.ask('/late');
    await pause(50);
    const reader = await ask(server.url, `${POST}Content-Length: 500000\r\n\r\n`);
    reader.socket.write(' '.repeat(400_000));
    let isCut = false;
    reader.socket.on('close', () => (isCut = true)).on('error', () => {});
    reader.socket.resume();
    await pause(900);
    assert.is(isCut, false);
    release();
    assert.is((await first).status, 200);
    reader.socket.destroy();
  });
});

/** As much of a connection as is looked at: a large answer, and how far the system has come with it. */
function connectionThatTook(taken: () => number): Socket {
  const handle = {
    bytesWritten: LARGE,
    get writeQueueSize() {
      return LARGE - taken();
    },
  };
  const socket = new EventEmitter();
  const destroy = () => {
    Object.assign(socket, { destroyed: true });
    socket.emit('close');
  };
  const answer = { isWaiting: false, writableEnded: true };
  const looked = { _handle: handle, _httpMessage: answer, writableLength: LARGE, destroyed: false, destroy };
  return Object.assign(socket, looked) as unknown as Socket;
}

test.run();
