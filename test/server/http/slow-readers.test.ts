// Clients that ask and do not read: they hold no place of others, little memory, and are let go.

import { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { sendResponse } from '../../../server/gateway/answers/response.ts';
import { watchConnections } from '../../../server/http/connections.ts';
import { Answer } from '../../../server/http/guard.ts';
import type { CutReason } from '../../../server/telemetry/metrics.ts';
import { until } from '../../support/until.ts';
import { DIAL, readMetric, type Served, testRoutes, withServer } from '../support/serve.ts';

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
  readonly isClosed: () => boolean;
}

/** A client that has sent these bytes and reads only when it is told to. */
async function ask(url: string, bytes: string): Promise<Reader> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let got = 0;
  let goal = Number.POSITIVE_INFINITY;
  let isClosed = false;
  socket.on('data', (chunk) => {
    got += chunk.length;
    if (got >= goal) socket.pause();
  });
  socket.pause();
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
  });
  await new Promise((resolve) => socket.on('connect', resolve));
  socket.write(bytes);
  const readTo = async (bytes: number) => {
    goal = bytes;
    socket.resume();
    await until(`${bytes} bytes`, () => got >= bytes);
  };
  return { socket, got: () => got, readTo, isClosed: () => isClosed };
}

const get = (path: string, headers = '', version = '1.1') => `GET ${path} HTTP/${version}\r\nHost: a\r\n${headers}\r\n`;

const cutOff = (server: Served) => readMetric(server, 'twinline_connections_cut_total{reason="stalled"}');
const untilUnsent = (server: Served, bytes: number) =>
  until(
    `${bytes} bytes to wait for clients`,
    async () => (await readMetric(server, 'twinline_unsent_bytes')) === bytes,
  );

function openEvents({ url, developmentKey }: Served): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${developmentKey}` };
  return new Promise((resolve, reject) =>
    request(`${url}/v1/events`, { headers, agent: false }, resolve).on('error', reject).end(),
  );
}

// A client that reads nothing sees the end of its connection only when it reads.
const FORMS: Readonly<Record<string, string>> = {
  'with a length': get('/large'),
  'as JSON': get('/large-json'),
  'in chunks': get('/large-chunked'),
  'of HTTP/1.0': get('/large', '', '1.0'),
  'of a POST': 'POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n',
  'behind others on its connection': get('/livez') + get('/large') + get('/large') + get('/livez'),
};

test('a large answer that nobody reads is cut off and not kept; HEAD, small answers, streams and idle connections stay', () =>
  withServer({ routes: [large], connections: { stallMs: 100 } }, async (server) => {
    const events = await openEvents(server);
    const patient: Reader[] = [];
    for (const bytes of ['HEAD /large HTTP/1.1\r\nHost: a\r\n\r\n', get('/livez'), get('/livez').repeat(20)])
      patient.push(await ask(server.url, bytes));
    for (const [at, [what, bytes]] of Object.entries(FORMS).entries()) {
      const reader = await ask(server.url, bytes);
      await until(`an answer ${what} to be cut off`, async () => (await cutOff(server)) === at + 1);
      await untilUnsent(server, 0);
      reader.socket.resume();
      await until('its end', reader.isClosed);
      assert.ok(reader.got() < LARGE, what);
    }
    assert.ok(server.logged.some(({ msg }) => String(msg).startsWith('connections are cut')));
    // Each of these has been still for longer than those that were cut off.
    assert.is(events.closed, false);
    events.destroy();
    for (const { socket, got, readTo } of patient) {
      socket.write(get('/livez'));
      await readTo(got() + 100);
      socket.destroy();
    }
    assert.is(await cutOff(server), Object.keys(FORMS).length);
  }));

test('answers that wait take no place of requests; there is room for so many bytes of one client and of all, small ones pass', () =>
  withServer(
    {
      routes: [large],
      env: { TRUST_PROXY_ENABLED: 'true', TRUST_PROXY_CIDRS: '127.0.0.1' },
      overload: { requestsAtOnce: 1, loopDelayMs: 60_000, requestWaitMs: 600_000 },
      unsent: { perClient: LARGE * 1.5, all: LARGE * 2.5 },
    },
    async (server) => {
      const wait = (address: string) => ask(server.url, get('/large', `X-Forwarded-For: ${address}\r\n`));
      const askFrom = (address: string, path: string, method = 'GET') =>
        server.ask(path, { method, headers: { 'x-forwarded-for': address } });
      const [one, two, three] = ['203.0.113.1', '203.0.113.2', '203.0.113.3'] as const;
      const readers = [await wait(one)];
      await untilUnsent(server, LARGE);
      const full = await askFrom(one, '/large-json');
      assert.equal([full.status, full.headers['retry-after'], full.headers.etag], [503, '5', undefined]);
      assert.is((full.json() as { code: string }).code, 'unavailable');
      assert.is(full.headers['cache-control'], undefined);
      assert.is((await askFrom(one, '/health')).status, 200);
      assert.is((await askFrom(one, '/large', 'POST')).status, 200, 'what was done is answered');
      assert.match(await server.ussd(DIAL), /^CON /);
      assert.is(await readMetric(server, 'twinline_refused_total{why="unsent"}'), 1);
      await untilUnsent(server, LARGE);
      assert.is((await askFrom(two, '/large')).status, 200, 'another client');
      readers.push(await wait(two));
      await untilUnsent(server, 2 * LARGE);
      assert.is((await askFrom(three, '/large')).status, 503, 'no room for anybody');
      for (const { socket } of readers) socket.destroy();
      await untilUnsent(server, 0);
      assert.is((await askFrom(one, '/large')).status, 200);
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

test('one address has so many connections, not more; known proxies and gateways have any number', async () => {
  const opened = async (env: NodeJS.ProcessEnv) => {
    let alive = 0;
    await withServer({ env, connections: { perClient: 5 } }, async (server) => {
      const readers: Reader[] = [];
      for (let at = 0; at < 9; at++) readers.push(await ask(server.url, get('/livez')));
      for (const { socket } of readers) socket.resume();
      await until('each to be answered or cut', () => readers.every(({ isClosed, got }) => isClosed() || got() > 0));
      alive = readers.filter(({ isClosed }) => !isClosed()).length;
      for (const { socket } of readers) socket.destroy();
      const asked = () => server.ask('/livez').catch(() => ({ status: 0 }));
      await until('a place that was left', async () => (await asked()).status === 200);
    });
    return alive;
  };
  assert.is(await opened({}), 5);
  assert.is(await opened({ TRUST_PROXY_ENABLED: 'true', TRUST_PROXY_CIDRS: '127.0.0.1' }), 9);
  assert.is(await opened({ RATE_LIMIT_EXEMPT: '127.0.0.0/8' }), 9);
});

type Handle = (req: IncomingMessage, res: ServerResponse) => void;

interface Ground {
  readonly url: string;
  readonly clock: SimulatedClock;
  readonly cuts: CutReason[];
  readonly look: () => void;
}

/** A server by the limits that are shipped; its connections are looked at when a test says so, by a clock that stands still. */
async function withWatched(handle: Handle, work: (ground: Ground) => Promise<void>): Promise<void> {
  const [clock, cuts] = [new SimulatedClock(), [] as CutReason[]];
  const server = createServer({ ServerResponse: Answer }, handle);
  const connections = watchConnections(server, { clock, onCut: (reason) => cuts.push(reason) });
  connections.stop();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await work({ url: `http://127.0.0.1:${port}`, clock, cuts, look: connections.look });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

test('a client is let go after 30 s without a byte, not before, and not when it takes some meanwhile', () => {
  let answers = 0;
  const handle: Handle = (_req, res) => {
    answers++;
    res.end(PAGE);
  };
  return withWatched(handle, async ({ url, clock, cuts, look }) => {
    const [still, slow] = [await ask(url, get('/')), await ask(url, get('/'))];
    await until('both answers to wait', () => answers === 2);
    look();
    await clock.advance(29_999);
    // More than the system has taken without that.
    await slow.readTo(0.75 * LARGE);
    look();
    assert.equal(cuts, []);
    await clock.advance(1);
    look();
    assert.equal(cuts, ['stalled']);
    await clock.advance(29_000);
    await slow.readTo(LARGE);
    look();
    assert.equal(cuts, ['stalled']);
    still.socket.destroy();
    slow.socket.destroy();
  });
});

test('a client must take 256 KiB of a large answer in each minute', async () => {
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

const POST = 'POST / HTTP/1.1\r\nHost: a\r\n';
const DRIPS: Readonly<Record<string, readonly [head: string, isAnswered: boolean]>> = {
  'with a length': [`${POST}Content-Length: 100000\r\n\r\n`, false],
  'in chunks': [`${POST}Transfer-Encoding: chunked\r\n\r\n`, false],
  'that is answered already': [`${POST}Content-Length: 100000\r\n\r\n`, true],
};

for (const [what, [head, isAnswered]] of Object.entries(DRIPS))
  test(`a body ${what} that comes too slowly is cut off, one that comes fast enough is not`, () => {
    const { bodyLeastBytes, bodyLeastMs } = SERVER_LIMITS;
    let [requests, received] = [0, 0];
    const handle: Handle = (req, res) => {
      requests++;
      req.on('data', (chunk) => {
        received += chunk.length;
      });
      if (isAnswered) res.end('{}');
    };
    const bytes = (count: number) => (what === 'in chunks' ? '1\r\n \r\n'.repeat(count) : ' '.repeat(count));
    return withWatched(handle, async ({ url, clock, cuts, look }) => {
      const [drips, flows] = [await ask(url, head), await ask(url, head)];
      for (const { socket } of [drips, flows]) socket.resume();
      await until('both requests', () => requests === 2);
      look();
      for (let round = 1; round <= 2; round++) {
        drips.socket.write(bytes(1));
        flows.socket.write(bytes(bodyLeastBytes));
        const sum = (bodyLeastBytes + 1) * round;
        await until(`${sum} bytes`, () => received >= (cuts.length ? sum - 1 : sum));
        await clock.advance(bodyLeastMs);
        look();
        assert.equal(cuts, ['body']);
      }
      await until('the end of the slow one', drips.isClosed);
      assert.is(flows.isClosed(), false);
      flows.socket.destroy();
    });
  });

test('a body that the server does not read yet is not held against its client', () => {
  let late: IncomingMessage | undefined;
  const handle: Handle = (req) => {
    late = req;
    req.pause();
  };
  return withWatched(handle, async ({ url, clock, cuts, look }) => {
    const { socket } = await ask(url, `${POST}Content-Length: 500000\r\n\r\n${' '.repeat(400_000)}`);
    await until('the body to wait', () => late && late.readableLength >= late.readableHighWaterMark);
    for (let at = 0; at < 3; at++) {
      look();
      await clock.advance(SERVER_LIMITS.bodyLeastMs);
    }
    look();
    assert.equal(cuts, []);
    socket.destroy();
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
