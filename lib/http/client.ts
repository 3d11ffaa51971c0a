// One HTTP request with a bounded response: no redirects, limited size, cancelled by its signal.

import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import { addressProblem, dnsResolver, guardedLookup } from './hosts.ts';
import { HTTP_LIMITS } from './limits.ts';
import { withTrace } from './tracing.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  readonly body?: string;
}

export interface HttpAnswer {
  /** 200 to 299. */
  readonly status: number;
  readonly contentType: string;
  /** The body as UTF-8. */
  readonly text: string;
}

/** Sends a request; rejects with ERR_SERVICE for anything but a 2xx answer, and ERR_TIMEOUT when `signal` aborts. */
export type HttpExchange = (
  request: HttpRequest,
  options: { readonly lookup: LookupFunction; readonly signal: AbortSignal },
) => Promise<HttpAnswer>;

/** An exchange with its own keep-alive connections. Error messages show origin and path only. */
export function httpExchange({ ca }: Pick<SenderOptions, 'ca'> = {}): HttpExchange {
  const { httpSockets: maxSockets, httpIdleSockets: maxFreeSockets, httpIdleMs: timeout } = HTTP_LIMITS;
  const options = { keepAlive: true, maxSockets, maxFreeSockets, timeout };
  const agents = { plain: new PlainAgent(options), tls: new TlsAgent({ ...options, ...(ca && { ca }) }) };
  return (request, { lookup, signal }) =>
    send(request, { lookup, signal, agents }, (incoming) => readAnswer(request, incoming)).catch((error) => {
      if (signal.aborted) throw new TwinlineError('ERR_TIMEOUT', `${nameRequest(request)} did not answer in time.`);
      if (error instanceof TwinlineError) throw error;
      throw httpFailure(request, `failed: ${error.code ?? 'the connection broke'}`, { retry: true });
    });
}

/** ERR_SERVICE for one request, whose `retry` overrides that of the code. `cause` holds the HTTP status, if any. */
export function httpFailure(
  request: HttpRequest,
  problem: string,
  about: { retry: boolean; status?: number },
): TwinlineError {
  const cause = about.status === undefined ? {} : { cause: { status: about.status } };
  return withRetry(new TwinlineError('ERR_SERVICE', `${nameRequest(request)} ${problem}.`, cause), about.retry);
}

export interface Posted {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

/** The response: its status, and up to HTTP_LIMITS.httpAnswerBytes of text. */
export interface HttpReply {
  readonly status: number;
  readonly text: string;
}

/** What a receiver answered. */
export interface Receipt {
  readonly status: number;
  /** Its Retry-After, as it came. */
  readonly retryAfter?: string | undefined;
}

/**
 * Sends a POST request. Rejects with ERR_SERVICE or ERR_TIMEOUT; messages contain no secrets.
 */
export type Post = (message: Posted, signal: AbortSignal) => Promise<Receipt>;

export interface SenderOptions {
  /**
   * Resolves the address to connect to.
   * @default DNS only, public addresses only
   */
  readonly lookup?: LookupFunction;
  /**
   * CA certificates in PEM.
   * @default those of Node
   */
  readonly ca?: string;
  /**
   * Milliseconds a receiver may keep sending its body after the status.
   * @default COMMON_LIMITS.webhookAnswerMs
   */
  readonly restMs?: number;
}

/** A webhook sender: https to public addresses only, with a new connection and lookup per request. */
export function webhookSender({ restMs = COMMON_LIMITS.webhookAnswerMs, ...options }: SenderOptions = {}): Post {
  return poster(options, async (incoming) => {
    // Drain the body so that the receiver can finish; its content is ignored.
    const timer = setTimeout(() => incoming.destroy(), restMs);
    readText(incoming).then(
      () => clearTimeout(timer),
      () => clearTimeout(timer),
    );
    return { status: incoming.statusCode ?? 0, retryAfter: incoming.headers['retry-after'] };
  });
}

/** Like {@link webhookSender}, for services whose response is read. */
export function publicExchange(
  options: SenderOptions = {},
): (message: Posted, signal: AbortSignal) => Promise<HttpReply> {
  return poster(options, async (incoming) => {
    const text = await readText(incoming);
    if (text === undefined) throw Object.assign(new Error('too long'), { code: 'ANSWER_TOO_LONG' });
    return { status: incoming.statusCode ?? 0, text };
  });
}

function poster<T>({ lookup = guardedLookup(dnsResolver(), 'public'), ca }: SenderOptions, read: Read<T>) {
  return async ({ url, headers: extra, body }: Posted, signal: AbortSignal): Promise<T> => {
    // Node connects to a literal address without a lookup, so check it here.
    const problem = addressProblem(url);
    if (problem !== undefined) throw new TwinlineError('ERR_SERVICE', `the URL ${problem}`);
    const headers = { 'content-type': 'application/json', 'user-agent': 'Twinline', ...extra };
    const request = { method: 'POST', url: new URL(url), headers, body } as const;
    return send(request, { lookup, signal, ca }, read).catch((error) => {
      const late = `no answer within ${COMMON_LIMITS.webhookAnswerMs / 1_000} s`;
      if (signal.aborted) throw new TwinlineError('ERR_TIMEOUT', late);
      const isRefused = error instanceof TwinlineError;
      const broken = `the connection failed: ${error.code ?? 'it broke'}`;
      const words = isRefused ? 'the host name resolves to an address that is not public' : broken;
      throw new TwinlineError('ERR_SERVICE', words);
    });
  };
}

/** Extracts a result from a response, which may still be streaming. */
type Read<T> = (incoming: IncomingMessage) => Promise<T>;

interface Connecting {
  readonly lookup: LookupFunction;
  readonly signal: AbortSignal;
  /**
   * Agents with keep-alive connections.
   * @default a new connection per request
   */
  readonly agents?: { readonly plain: PlainAgent; readonly tls: TlsAgent };
  readonly ca?: string | undefined;
}

// Rejects with the error of the system, the lookup or the reader, or with any error when the signal aborts. Messages of
// system errors may contain addresses: show only their codes.
function send<T>(request: HttpRequest, connecting: Connecting, read: Read<T>): Promise<T> {
  const { url, method, body } = request;
  const headers = withTrace(request.headers);
  const { lookup, signal, agents, ca } = connecting;
  return new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const agent = agents?.[secure ? 'tls' : 'plain'] ?? false;
    const settings = { method, headers, lookup, agent, ...(ca !== undefined && { ca }) };
    const outgoing = (secure ? tlsRequest : plainRequest)(url, settings);
    let answered = false;
    const settle = () => signal.removeEventListener('abort', stop);
    const stop = (error: unknown) => {
      settle();
      reject(error);
      outgoing.destroy();
    };
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed a keep-alive connection just as we reused it. It sent no response, so retry on a new one.
      if (outgoing.reusedSocket && error.code === 'ECONNRESET' && !answered && !signal.aborted) {
        settle();
        resolve(send(request, connecting, read));
        return;
      }
      stop(error instanceof TwinlineError ? withRetry(error, false) : error);
    });
    outgoing.on('response', (incoming) => {
      answered = true;
      read(incoming).then((value) => {
        settle();
        resolve(value);
      }, stop);
    });
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop(signal.reason);
    else outgoing.end(body);
  });
}

// Reads to the end before judging, so that the connection can be reused.
async function readAnswer(request: HttpRequest, incoming: IncomingMessage): Promise<HttpAnswer> {
  const status = incoming.statusCode ?? 0;
  const fail = (problem: string, retry = false) => httpFailure(request, problem, { retry, status });
  const { 'content-encoding': coding = 'identity', 'content-type': contentType = '' } = incoming.headers;
  const text = await readText(incoming);
  if (status >= 300 && status < 400)
    throw fail(`answered ${status}; redirects are not followed. Call the target itself`);
  if (status < 200 || status > 299) throw fail(`answered ${status}`, status >= 500 || status === 429);
  if (text === undefined) throw fail(`answered more than ${HTTP_LIMITS.httpAnswerBytes} bytes. Ask for less`);
  if (coding !== 'identity') throw fail(`answered with the content encoding "${coding}", which was not requested`);
  return { status, contentType, text };
}

/** The body as UTF-8; undefined beyond HTTP_LIMITS.httpAnswerBytes, which also closes the connection. */
async function readText(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > HTTP_LIMITS.httpAnswerBytes) return undefined;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function nameRequest({ method, url }: HttpRequest): string {
  return `${method} ${url.origin}${url.pathname}`;
}

function withRetry(error: TwinlineError, retry: boolean): TwinlineError {
  return Object.defineProperty(error, 'retry', { value: retry });
}
