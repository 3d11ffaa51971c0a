// One HTTP request and its bounded answer. Follows no redirects; messages show origin and path only.

import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { TwinlineError } from '../errors.ts';
import { LIMITS } from '../limits.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
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
export type Exchange = (
  request: HttpRequest,
  options: { readonly lookup: LookupFunction; readonly signal: AbortSignal },
) => Promise<HttpAnswer>;

/**
 * ERR_SERVICE about one request. Unlike the code itself, one such error knows whether trying again can help: its `retry`.
 * The `cause` holds the HTTP status where there is one.
 */
export function httpFailure(
  request: HttpRequest,
  problem: string,
  about: { retry: boolean; status?: number },
): TwinlineError {
  const { method, url } = request;
  const message = `${method} ${url.origin}${url.pathname} ${problem}.`;
  const cause = about.status === undefined ? {} : { cause: { status: about.status } };
  return withRetry(new TwinlineError('ERR_SERVICE', message, cause), about.retry);
}

/** An exchange with its own connections, kept open between requests for a few seconds. */
export function httpExchange(): Exchange {
  const options = { keepAlive: true, maxSockets: 64, maxFreeSockets: 16, timeout: 5_000 };
  const [plain, tls] = [new PlainAgent(options), new TlsAgent(options)];

  const send: Exchange = (request, { lookup, signal }) =>
    new Promise((resolve, reject) => {
      const { url, method, headers, body } = request;
      const secure = url.protocol === 'https:';
      const settings = { method, headers, lookup, agent: secure ? tls : plain };
      const outgoing = (secure ? tlsRequest : plainRequest)(url, settings);
      let answered = false;
      const settle = (): void => signal.removeEventListener('abort', late);
      const stop = (error: Error): void => {
        settle();
        reject(error);
        outgoing.destroy();
      };
      const late = (): void => {
        stop(new TwinlineError('ERR_TIMEOUT', `${method} ${url.origin}${url.pathname} did not answer in time.`));
      };
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        // The server closed a kept connection just as it was used again; it answered nothing, so a new one is tried.
        if (outgoing.reusedSocket && error.code === 'ECONNRESET' && !answered && !signal.aborted) {
          settle();
          resolve(send(request, { lookup, signal }));
          return;
        }
        stop(error instanceof TwinlineError ? withRetry(error, false) : unreachable(request, error));
      });
      outgoing.on('response', (incoming) => {
        answered = true;
        readAnswer(request, incoming).then((answer) => {
          settle();
          resolve(answer);
        }, stop);
      });
      signal.addEventListener('abort', late, { once: true });
      if (signal.aborted) late();
      else outgoing.end(body);
    });
  return send;
}

// Reads to the end before it judges, so that the connection can be used again.
async function readAnswer(request: HttpRequest, incoming: IncomingMessage): Promise<HttpAnswer> {
  const status = incoming.statusCode ?? 0;
  const fail = (problem: string, retry = false) => httpFailure(request, problem, { retry, status });
  const { 'content-encoding': coding = 'identity', 'content-type': contentType = '' } = incoming.headers;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > LIMITS.httpAnswerBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw unreachable(request, error as NodeJS.ErrnoException);
  }
  if (status >= 300 && status < 400)
    throw fail(`answered ${status}; redirects are not followed. Call the target itself`);
  if (status < 200 || status > 299) throw fail(`answered ${status}`, status >= 500 || status === 429);
  if (bytes > LIMITS.httpAnswerBytes) throw fail(`answered more than ${LIMITS.httpAnswerBytes} bytes. Ask for less`);
  if (coding !== 'identity') throw fail(`answered in the coding "${coding}", which was not asked for`);
  return { status, contentType, text: new TextDecoder().decode(Buffer.concat(chunks)) };
}

// Codes only: the texts of system errors can hold addresses.
function unreachable(request: HttpRequest, error: NodeJS.ErrnoException): TwinlineError {
  return httpFailure(request, `failed: ${error.code ?? 'the connection broke'}`, { retry: true });
}

function withRetry(error: TwinlineError, retry: boolean): TwinlineError {
  return Object.defineProperty(error, 'retry', { value: retry });
}
