// What may come over connections: requests one behind another, in pieces, with too many or repeated header fields, with questions for other
// protocols, half-closed, unread, given up at any byte. For each seed some clients do that to one server with every kind of answer; when they
// are gone, nothing that a server counts is left of them, and no client had more than its turns.

import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import type { JsonObject } from '@bufbuild/protobuf';
import { INVALID_SPAN_CONTEXT, type Span, SpanKind, type SpanOptions, type Tracer, trace } from '@opentelemetry/api';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { parseOracleKey } from '../../../lib/delegation/oracle-key.ts';
import { mintInvocation } from '../../../lib/delegation/tokens.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { scripted } from '../../agent/ground.ts';
import { newKey } from '../../delegation/keys.ts';
import { numbersFrom } from '../../support/random.ts';
import { chooseSize } from '../../support/size.ts';
import { until } from '../../support/until.ts';
import { type Place, withGateway } from '../gateway/place.ts';
import { DIAL, findSample, type Served, testRoutes } from '../support/serve.ts';

const test = suite('wire');

const SEEDS = chooseSize({ short: 300, day: 1_500, whole: 30_000 });
const FIRST_SEED = Number(process.env.TEST_SEED ?? 1) * 1_000_000;
/** What they found once: a stream behind a large answer and before an upgrade outlived its client. */
const OLD_FINDS = [20_261_128_000_811];
const ORACLE_KEY = makeOracleKey();
/** What looks for something now and then, as followers of events do, ends at its next look. */
const LOOK_AGAIN_MS = 1_000;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** More than the system takes for a client that reads nothing. */
const LARGE = Buffer.alloc(12_000_000, 'x');
const PIECE = LARGE.subarray(0, 65_536);
const large = testRoutes({
  'GET /large': (ctx) => {
    ctx.body = LARGE;
  },
  'GET /late': async (ctx) => {
    for (let left = 10; left > 0; left--) await turn();
    ctx.body = LARGE;
  },
  'GET /pieces': (ctx) => {
    ctx.body = Readable.from(Array.from({ length: 150 }, () => PIECE));
  },
});

/** Answers what it is told to at once, and anything else never. */
const responder = scripted(async function* ({ request, signal }) {
  yield { type: 'text', text: 'hello' };
  if (request.message !== 'now') await new Promise((resolve) => signal.addEventListener('abort', resolve));
});

/** Counts spans that are open, and how many requests begin in one turn of the event loop. */
function countRequests() {
  const seen = { open: 0, mostAtOnce: 0 };
  let atOnce = 0;
  function begin(): Span {
    seen.open++;
    if (atOnce++ === 0)
      setImmediate(() => {
        atOnce = 0;
      });
    seen.mostAtOnce = Math.max(seen.mostAtOnce, atOnce);
    const span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
    return Object.assign(Object.create(span), { end: () => void seen.open-- });
  }
  const tracer = {
    startActiveSpan: (_name: string, { kind }: SpanOptions, _parent: unknown, work: (span: Span) => unknown) =>
      work(kind === SpanKind.SERVER ? begin() : trace.wrapSpanContext(INVALID_SPAN_CONTEXT)),
  };
  trace.setGlobalTracerProvider({ getTracer: () => tracer as unknown as Tracer });
  return seen;
}

const post = (path: string, headers: string, body: unknown) => {
  const text = JSON.stringify(body);
  return `POST ${path} HTTP/1.1\r\n${headers}Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
};
const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\n${headers}\r\n`;
const SOCKET =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

const GROVE = ['/grove/follow/x', '/grove/tree/x', '/grove/tree/never'];
const PATHS = [
  '/livez',
  '/metrics',
  '/nowhere',
  '/large',
  '/late',
  '/pieces',
  '/pages/site.css',
  '/inspector/stream',
  ...GROVE,
];

/** Requests of every kind, by what answers them. Two runs of the agent go on until the server ends; one of them is followed by its id. */
async function writeRequests({ url, developmentKey }: Served, clock: SimulatedClock): Promise<readonly string[]> {
  const { did: audience } = parseOracleKey(ORACLE_KEY);
  const capability = { can: '*', with: 'ixo:oracle' } as const;
  const invocation = await mintInvocation({ key: newKey(), audience, clock, capability, expiresIn: 900 });
  const user = `Authorization: Bearer ${invocation}\r\nX-Auth-Type: ucan\r\n`;
  const key = `Authorization: Bearer ${developmentKey}\r\n`;
  const headers = { authorization: `Bearer ${invocation}`, 'x-auth-type': 'ucan', 'content-type': 'application/json' };
  const send = (path: string, body: unknown) =>
    fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const sessions = await Promise.all([1, 2, 3].map(async () => (await send('/sessions', {})).json()));
  const [quick, slow, followed] = (sessions as { sessionId: string }[]).map(
    ({ sessionId }) => `/messages/${sessionId}`,
  );
  const runs = await Promise.all([slow!, followed!].map((path) => send(path, { message: 'later', stream: true })));
  for (const { body } of runs) await body!.cancel();
  return [
    ...PATHS.map((path) => get(path)),
    get('/large').replace('GET', 'HEAD'),
    get('/v1/domains', key),
    get('/v1/events?after=0', key),
    get(`/runs/${runs[1]!.headers.get('x-run-id')}`, user),
    post(quick!, user, { message: 'now', stream: true }),
    post(slow!, user, { message: 'later', metadata: { multitask: 'interrupt' } }),
    post('/api/ussd', '', DIAL),
    post('/v1/domains', key, { type: 'x' }),
    ...['/socket.io/?EIO=4&transport=websocket', '/inspector/stately', '/livez'].map((path) => get(path, SOCKET)),
    'OPTIONS * HTTP/1.1\r\n\r\n',
    'CONNECT a:1 HTTP/1.1\r\n\r\n',
  ];
}

/** A server keeps these for a while after their connections. */
const POLL = get('/socket.io/?EIO=4&transport=polling');

const ADDED = [
  ...Array<string>(8).fill(''),
  'Connection: close\r\n',
  'Connection: keep-alive\r\n',
  'Connection: Upgrade\r\nUpgrade: h2c\r\n',
  'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  'Expect: 100-continue\r\n',
  'Expect: something\r\n',
  'Host: b\r\n',
  'Authorization: Bearer x\r\nAuthorization: Bearer y\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Content-Length: 7\r\n',
  `X-Long: ${'x'.repeat(17_000)}\r\n`,
  Array.from({ length: 101 }, (_, nth) => `X-${nth}: 1\r\n`).join(''),
];

/** What one client does. */
interface Plan {
  /** Sent one after the other. */
  readonly pieces: readonly Buffer[];
  readonly reads: boolean;
  /** After the piece of this number it leaves. */
  readonly leavesAt: number;
  readonly leaves: 'at once' | 'with a reset' | 'by half' | 'later';
}

function planClient(random: () => number, kinds: readonly string[]): Plan {
  const below = (most: number) => Math.floor(random() * most);
  const choose = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const write = () => {
    const bytes = choose(kinds).replace('\r\n', `\r\n${random() < 0.03 ? '' : 'Host: a\r\n'}${choose(ADDED)}`);
    return random() < 0.08 ? bytes.replace('HTTP/1.1', 'HTTP/1.0') : bytes;
  };
  const one = write();
  const isFlood = random() < 0.15;
  const requests = isFlood ? Array<string>(20 + below(120)).fill(one) : Array.from({ length: 1 + below(6) }, write);
  const bytes = Buffer.from(requests.join(''), 'latin1');
  const cuts = Array.from({ length: below(4) }, () => below(bytes.length)).sort((a, b) => a - b);
  const pieces = [0, ...cuts].map((from, nth) => bytes.subarray(from, cuts[nth] ?? bytes.length));
  const leaves = choose(['at once', 'with a reset', 'by half', 'later', 'later'] as const);
  return { pieces, reads: random() < 0.4, leavesAt: random() < 0.3 ? below(pieces.length) : pieces.length - 1, leaves };
}

async function play(url: string, { pieces, reads, leavesAt, leaves }: Plan, random: () => number): Promise<void> {
  const { hostname, port } = new URL(url);
  const wire = connect(Number(port), hostname);
  wire.on('error', () => {});
  if (reads) wire.resume();
  else wire.pause();
  await Promise.race([once(wire, 'connect'), once(wire, 'close')]);
  const turns = async (most: number) => {
    for (let left = Math.floor(random() * most); left > 0; left--) await turn();
  };
  for (const [nth, piece] of pieces.entries()) {
    if (wire.writable) wire.write(piece);
    await turns(4);
    if (nth === leavesAt) break;
  }
  if (leaves === 'with a reset') return void wire.resetAndDestroy();
  if (leaves === 'by half') wire.end();
  if (leaves !== 'at once') await turns(20);
  wire.destroy();
}

/** Calls of the node that end when their client leaves. */
const isEndless = (rpc: string, { id }: JsonObject) => rpc === 'Query/Follow' || id === 'never';

/** What a server counts of clients. */
async function readGauges({ server, node }: Place): Promise<Readonly<Record<string, number>>> {
  const { text } = await server.ask('/metrics');
  return {
    live: findSample(text, 'twinline_live_streams'),
    unsent: findSample(text, 'twinline_unsent_bytes'),
    inFlight: findSample(text, 'twinline_requests_in_flight') - 1,
    calls: node.seen.filter(({ rpc, request, isCancelled }) => isEndless(rpc, request) && !isCancelled).length,
  };
}

const isNothing = (gauges: Readonly<Record<string, number>>) => Object.values(gauges).every((value) => value === 0);

test('whatever comes over connections: when they are gone nothing is counted for them, and in each turn a client begins little', async () => {
  const clock = new SimulatedClock();
  const spans = countRequests();
  const env = { ORACLE_KEY, RATE_LIMIT_MAX: '1000000000' };
  try {
    await withGateway({}, (place) => fuzz(place, { clock, spans }), {
      env,
      clock,
      routes: [large],
      parts: { responder },
    });
  } finally {
    trace.disable();
  }
});

async function fuzz(
  place: Place,
  { clock, spans }: { clock: SimulatedClock; spans: ReturnType<typeof countRequests> },
) {
  const { server, node } = place;
  const end = new AbortController();
  const over = new Promise((resolve) => end.signal.addEventListener('abort', resolve));
  node.script = ({ rpc, request }) =>
    isEndless(rpc, request) ? { replies: [{ text: 'a' }], after: over } : { reply: { text: 'a' } };
  const kinds = await writeRequests(server, clock);
  let waits: number | undefined;
  const seeds = [...OLD_FINDS, ...Array.from({ length: SEEDS }, (_, nth) => FIRST_SEED + nth)];
  for (const [nth, seed] of seeds.entries()) {
    const isLast = nth >= SEEDS * 0.9;
    const clients = Array.from({ length: 1 + (seed % 4) }, (_, client) => numbersFrom(10 * seed + client));
    spans.mostAtOnce = 0;
    await Promise.all(
      clients.map((random) => play(server.url, planClient(random, isLast ? [...kinds, POLL] : kinds), random)),
    );
    assert.ok(spans.mostAtOnce <= 2 * clients.length, `seed ${seed}: ${spans.mostAtOnce} requests began in one turn`);
    if (isLast) continue;
    await until(`all of seed ${seed} to be over`, async () => isNothing(await readGauges(place)) && spans.open === 0);
    waits ??= clock.pending().length;
    await until(`what waits for seed ${seed} to end`, async () => {
      if (clock.pending().length <= waits!) return true;
      await clock.advance(LOOK_AGAIN_MS);
      return false;
    });
  }
  await until('everything to be over', async () => isNothing(await readGauges(place)) && spans.open === 0);
  assert.equal(
    server.logged.filter(({ level }) => Number(level) >= 50),
    [],
  );
  end.abort();
}

test.run();
