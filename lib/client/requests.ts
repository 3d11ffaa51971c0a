// Requests by the line of their route: with a credential, tried again where that is safe, and with errors of two kinds.

import { type Clock, systemClock } from '../clock.ts';
import { TwinlineError } from '../errors.ts';
import { requireGiven } from '../given.ts';
import { type Backoff, retryDelay } from '../retry.ts';
import type { Routes } from './api.ts';
import { keepCredential, type MakeCredential } from './credential.ts';
import { ConnectionError, ProblemError, readProblem } from './errors.ts';

/** The server of a client, and how it is asked. */
export interface ClientOptions {
  /** Address of the server, such as `https://twins.example.com`. @default that of the page */
  readonly url?: string;
  readonly credential: MakeCredential;
  /** How often a request is sent, and how often in a row an iterator connects in vain. @default 3, and 12 for iterators */
  readonly tries?: number;
  /** A stream that is silent for so many milliseconds counts as cut; a server writes every 15 s. @default 45 000 */
  readonly silenceMs?: number;
  /** Time, and waiting between tries. @default the clock of this machine */
  readonly clock?: Pick<Clock, 'now' | 'wait'>;
}

/** The line of a route, such as `GET /v1/domains/{did}`. */
export type RouteLine = keyof Routes & string;
/** What goes into the path, the query, the headers and the body; `signal` ends the request, which rejects with its reason. */
export type RequestParts<Line extends RouteLine> = Omit<Routes[Line], 'answer'> & {
  readonly signal?: AbortSignal | undefined;
};
type PartsArgument<Line extends RouteLine> =
  Record<string, never> extends RequestParts<Line> ? [parts?: RequestParts<Line>] : [parts: RequestParts<Line>];

/** Requests to the routes of a server. They reject with {@link ProblemError} or {@link ConnectionError}. */
export interface Requests {
  /** Resolves to the content of the answer: JSON as a value, other types as a text; undefined where there is none. */
  ask<Line extends RouteLine>(line: Line, ...parts: PartsArgument<Line>): Promise<Routes[Line]['answer']>;
  /** Resolves to the answer as soon as its headers are there: for streams, files and ETags. */
  send<Line extends RouteLine>(line: Line, ...parts: PartsArgument<Line>): Promise<Response>;
}

const BACKOFF: Backoff = { firstMs: 500, maxMs: 8_000, jitter: 0.5 };
/** A longer `Retry-After` is told at once. */
const MAX_WAIT_MS = 60_000;

/** Makes the requests of a client; `authorize` gives the headers of a credential. `open` sends once. */
export function openRequests(options: ClientOptions, authorize: (credential: string) => Record<string, string>) {
  requireGiven('make a client', options, { credential: 'function' });
  const { url = '', tries: most = 3, clock = systemClock } = options;
  if (url === '' && !('location' in globalThis))
    throw new TwinlineError('ERR_CONFIG', 'Cannot make a client: outside of a page it needs a `url`.');
  const findCredential = keepCredential(options.credential, () => clock.now());
  type Outgoing = ReturnType<typeof makeRequest>;

  async function sendOnce({ name, path, init }: Outgoing): Promise<Response> {
    const { signal } = init;
    for (let refused: string | undefined; ; ) {
      const credential = await untilAborted(findCredential(refused), signal);
      const headers = { ...init.headers, ...authorize(credential) };
      const answer = await fetch(url.replace(/\/+$/, '') + path, { ...init, headers }).catch((error) => {
        signal?.throwIfAborted();
        throw new ConnectionError(name, 'no answer came', error);
      });
      if (answer.ok) return answer;
      if (answer.status !== 401 || refused !== undefined) throw await readProblem(name, answer);
      await answer.body?.cancel();
      refused = credential;
    }
  }

  async function repeat<Value>(outgoing: Outgoing, read: (answer: Response) => Promise<Value>): Promise<Value> {
    const { signal } = outgoing.init;
    for (let tries = 1; ; tries++) {
      try {
        return await read(await sendOnce(outgoing));
      } catch (error) {
        signal?.throwIfAborted();
        const wait = tries < most ? findWait(error, tries, outgoing.isRepeatable) : undefined;
        if (wait === undefined || wait > MAX_WAIT_MS) throw error;
        await clock.wait(wait, signal);
      }
    }
  }

  const requests: Requests = {
    send: (line, ...[parts]) => repeat(makeRequest(line, parts), async (answer) => answer),
    ask(line, ...[parts]) {
      const outgoing = makeRequest(line, parts);
      return repeat(outgoing, (answer) => readContent(outgoing.name, answer));
    },
  };
  return { ...requests, open: (line: string, parts: RequestParts<RouteLine>) => sendOnce(makeRequest(line, parts)) };
}

/** Milliseconds until the next try; undefined where none may succeed, or one could do twice what is not repeatable. */
export function findWait(error: unknown, tries: number, isRepeatable: boolean): number | undefined {
  const pause = retryDelay(tries, BACKOFF);
  if (error instanceof ConnectionError) return isRepeatable ? pause : undefined;
  if (!(error instanceof ProblemError)) return undefined;
  const { status, retryAfterMs } = error;
  // These refuse what has not begun.
  const isUntouched = status === 429 || (status === 409 && retryAfterMs !== undefined);
  return isUntouched || (isRepeatable && status >= 500) ? Math.max(pause, retryAfterMs ?? 0) : undefined;
}

function makeRequest(
  line: string,
  { path = {}, query = {}, headers = {}, body, signal }: RequestParts<RouteLine> = {},
) {
  const [method, template] = line.split(' ') as [string, string];
  const place = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const search = new URLSearchParams(listDefined(query)).toString();
  const type = typeof body === 'string' ? 'x-ndjson' : Array.isArray(body) ? 'json-patch+json' : 'json';
  const own = Object.fromEntries(listDefined(headers));
  return {
    name: `${method} ${place.replace(/\?.*/, '')}`,
    path: search === '' ? place : `${place}?${search}`,
    init: {
      method,
      cache: 'no-store' as const,
      headers: { ...(body !== undefined && { 'Content-Type': `application/${type}` }), ...own },
      body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
      ...(signal && { signal }),
    },
    isRepeatable: method === 'GET' || 'Idempotency-Key' in own,
  };
}

const listDefined = (values: object): [string, string][] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));

async function readContent(request: string, answer: Response): Promise<unknown> {
  const type = answer.headers.get('content-type') ?? '';
  const text = await answer.text().catch((error: unknown) => {
    throw new ConnectionError(request, 'the answer was cut off', error);
  });
  if (text === '') return undefined;
  try {
    if (!type.startsWith('text/html')) return /[/+]json/.test(type) ? JSON.parse(text) : text;
  } catch {}
  throw new ConnectionError(request, `the answer (${type}) is not JSON. Does a proxy answer for the server?`);
}

/** Waits for what others wait for, too: the signal ends the wait alone. */
export function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** A random id. `crypto.randomUUID` exists on HTTPS and localhost only. */
export function makeId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
