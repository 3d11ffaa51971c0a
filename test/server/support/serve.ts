// A server in this process for one test, and clients that say exactly what goes over the wire.

import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from 'koa';
import type { Test } from 'uvu';
import { type Clock, SimulatedClock } from '../../../lib/clock.ts';
import { type RunningServer, type Seams, startServer } from '../../../server/boot/start.ts';
import { readConfig } from '../../../server/config/config.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import type { Method, Route, RouteGroup } from '../../../server/http/route-table.ts';
import { refuseLeaks } from '../../support/canaries.ts';
import { noteTyped } from '../../support/told-secrets.ts';
import { until } from '../../support/until.ts';
import { TEST_TAG } from './documented.ts';
import { listenTo, noteAnswer, undocumentedOf } from './heard.ts';

export interface Served extends RunningServer {
  /** Everything that was logged. */
  readonly logged: readonly Readonly<Record<string, unknown>>[];
  ask(path: string, options?: AskOptions): Promise<Answer>;
  /** `POST /api/ussd` with a JSON body; the answer's text. */
  ussd(fields: Readonly<Record<string, unknown>>): Promise<string>;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The body as JSON. */
  json(): unknown;
}

export type ServeOptions = Omit<Seams, 'log'> & { readonly env?: NodeJS.ProcessEnv };

/** A first dial; fields to be changed as a test needs. */
export const DIAL = { sessionId: 's1', serviceCode: '*2233#', phoneNumber: '+260971230001', text: '' } as const;

// A loaded machine must not make the server turn requests away, except where that is what is tested.
const CALM = { loopDelayMs: 60_000, requestWaitMs: 600_000 };

/** A group of routes for a server in a test, by method and path: `{ 'GET /slow': (ctx) => … }`. */
export function testRoutes(handlers: Readonly<Record<string, (ctx: Context) => unknown>>): RouteGroup<undefined> {
  const routes = Object.entries(handlers).map(([line, handle]): Route<undefined> => {
    const [method, path] = line.split(' ') as [Method, string];
    return { method, path, id: line.replace(/\W+/g, '-'), summary: line, answers: {}, handle };
  });
  return { tag: TEST_TAG, description: 'Of a test.', access: 'public', routes };
}

/**
 * Starts a server on a free port, in memory unless `env` says otherwise; stops it when `work` is done. With `clock: new SimulatedClock()`
 * the time of the server stands still until the test advances it. Fails where an answer was not as /openapi.json describes it.
 */
export async function withServer<T>(options: ServeOptions, work: (server: Served) => Promise<T>): Promise<T> {
  const { env, ...seams } = options;
  const lines: Record<string, unknown>[] = [];
  const log = { write: (line: string) => void lines.push(JSON.parse(line)) };
  // Tests are no telecom gateway; what is taken from whom is tested by itself.
  const given = { PORT: '0', DATA_DIR: ':memory:', RATE_LIMIT_MAX: '100000', USSD_GATEWAYS: '*', ...env };
  const reading = readConfig(given, { makeKeys: true });
  const { config, problems } = reading;
  if (!config) throw new Error(problems.join('\n'));
  const server = await startServer(config, { overload: CALM, ...seams, log });
  const asking = (path: string, how?: AskOptions) => ask(server.url + path, how);
  const screens = new Map<unknown, string>();
  const ussd = async (fields: Readonly<Record<string, unknown>>) => {
    const { sessionId, text: typed } = fields;
    noteTyped(server.url, screens.get(sessionId) ?? '', String(typed).split('*').at(-1)!);
    const { text } = await asking('/api/ussd', json(fields));
    screens.set(sessionId, text);
    return text;
  };
  let result: T;
  let undocumented: string[] = [];
  listenTo(server.url);
  try {
    result = await work({ ...server, logged: lines, ask: asking, ussd });
    undocumented = undocumentedOf(server.url, await asking('/openapi.json').catch(() => ({ status: 0 }) as Answer));
  } finally {
    await closeServer(server, seams.clock);
  }
  if (undocumented.length) throw new Error(`answers that /openapi.json does not describe:\n${undocumented.join('\n')}`);
  refuseLeaks({ ...reading, env: given, url: server.url }, lines.map((line) => JSON.stringify(line)).join('\n'));
  return result;
}

const CLOSING_MS = 5;

async function closeServer(server: RunningServer, clock: Clock | undefined): Promise<void> {
  let isClosed = false;
  const closed = server.close({ drainDelayMs: 0 }).finally(() => {
    isClosed = true;
  });
  // What the end waits for must not wait for a clock that nobody advances any more.
  while (clock instanceof SimulatedClock && !isClosed) {
    await clock.advance(CLOSING_MS);
    await pause(1);
  }
  await closed;
}

/** One server for all tests of a suite, which must not disturb each other. */
export function sharedServer(test: Pick<Test, 'before' | 'after'>, options: ServeOptions): () => Served {
  let server: Served | undefined;
  let done: () => void = () => {};
  let ended: Promise<void> = Promise.resolve();
  test.before(
    () =>
      new Promise<void>((ready, failed) => {
        ended = withServer(options, (started) => {
          server = started;
          ready();
          return new Promise<void>((resolve) => {
            done = resolve;
          });
        });
        ended.catch(failed);
      }),
  );
  test.after(async () => {
    done();
    await ended;
  });
  return () => server!;
}

/** The value of a series at /metrics, 0 where there is none. */
export async function readMetric({ ask }: Pick<Served, 'ask'>, series: string): Promise<number> {
  return findSample((await ask('/metrics')).text, series);
}

/** The same in the text of metrics. */
export function findSample(text: string, series: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? 0);
}

/** A POST with a JSON body. */
export function json(body: unknown, headers: Readonly<Record<string, string>> = {}): AskOptions {
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

/** One request on a connection of its own. */
export function ask(url: string, { method = 'GET', headers = {}, body }: AskOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const answer = { status: res.statusCode!, headers: res.headers as never, text, json: () => JSON.parse(text) };
        noteAnswer(url, method, answer);
        resolve(answer);
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends bytes as they are; what came back until the server closed the connection. */
export function raw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.end(bytes);
  });
}

/** Moves the clock until the server has closed, which leaves idle connections open for a while. */
export async function untilClosed(closing: Promise<void>, clock: SimulatedClock): Promise<void> {
  let isOver = false;
  void closing.then(() => {
    isOver = true;
  });
  await until('the server to close', async () => {
    await clock.advance(SERVER_LIMITS.lingerMs);
    return isOver;
  });
}
