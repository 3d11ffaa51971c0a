// Sends responses directly on Node's response, with one array of headers, because this is a hot path. Errors shared by the
// whole server, such as too many requests, get the gateway's own form.

import type { HttpAnswer, StatusAnswers } from '../../../lib/gateway/index.ts';
import { REFUSALS, Refusal, type RefusalKind } from '../../http/errors.ts';
import type { Exchange } from '../../http/fast-path.ts';
import { SECURITY_HEADERS } from '../../http/middleware/security-headers.ts';
import { mayBeSent } from '../../http/unsent.ts';

export interface GatewayResponse {
  readonly http: number;
  readonly body?: string | Buffer;
  /** Of the body. @default 'application/json' */
  readonly type?: string;
  /** Alternating names and values. */
  readonly headers?: readonly string[] | undefined;
  /** HTTP trailers, sent only to clients with `TE: trailers`. */
  readonly trailers?: Readonly<Record<string, string>>;
}

// Headers of every response. `Vary` matches that of the CORS middleware, which runs only for requests from other origins.
const ALWAYS: readonly string[] = ['Vary', 'Origin', ...SECURITY_HEADERS.flat()];

const FULL: GatewayResponse = {
  http: 503,
  body: '{"code":14,"message":"Too many bytes of responses are waiting to be read. Try again later.","details":[]}',
  headers: ['Retry-After', '5'],
};

/** Sends a response; a large one becomes a 503 while too many bytes are waiting to be read. */
export function sendResponse(exchange: Exchange, response: GatewayResponse): void {
  const { res, requestId } = exchange;
  // Once headers are sent we can only cut the response short.
  if (res.headersSent) return void res.destroy();
  const sendable = mayBeSent(res, Buffer.byteLength(response.body ?? '')) ? response : FULL;
  const { http, body, type = 'application/json', headers = [], ...rest } = sendable;
  const list = [...ALWAYS, 'X-Request-Id', requestId, ...headers];
  const trailers = rest.trailers && body !== undefined ? filterTrailers(exchange, rest.trailers) : undefined;
  if (body !== undefined) list.push('Content-Type', type);
  // With trailers, the body is chunked.
  if (trailers) list.push('Trailer', Object.keys(trailers).join(', '));
  else if (body !== undefined) list.push('Content-Length', String(Buffer.byteLength(body)));
  res.writeHead(http, list);
  if (trailers) res.addTrailers(trailers);
  res.end(body);
}

function filterTrailers(
  { req }: Exchange,
  trailers: NonNullable<GatewayResponse['trailers']>,
): GatewayResponse['trailers'] {
  const takes =
    /\btrailers\b/i.test(String(req.headers.te ?? '')) && req.httpVersion === '1.1' && req.method !== 'HEAD';
  return takes && Object.keys(trailers).length ? trailers : undefined;
}

/** Sends the headers of a response whose body follows later, if at all. */
export function beginResponse({ res, requestId }: Exchange, headers: readonly string[]): void {
  res.writeHead(200, [...ALWAYS, 'X-Request-Id', requestId, ...headers]);
  res.flushHeaders();
}

// gRPC codes.
const CODES: { readonly [kind in RefusalKind]: number } = {
  'bad-request': 3,
  unauthorized: 16,
  'not-found': 5,
  'method-not-allowed': 12,
  conflict: 10,
  gone: 5,
  'too-large': 8,
  'unsupported-media-type': 3,
  'too-many-requests': 8,
  internal: 13,
  'not-implemented': 12,
  'bad-gateway': 13,
  unavailable: 14,
};

/** The response to any thrown error. */
export function errorResponse(error: unknown, answers: StatusAnswers): HttpAnswer {
  if (!(error instanceof Refusal)) return answers.ofError(error);
  const body = { code: CODES[error.kind], message: error.message, details: [] };
  return { http: REFUSALS[error.kind].status, body: JSON.stringify(body) };
}
