// How the gateway answers: straight to the response of Node, with one array of headers, for this is a hot path.

import { SECURITY_HEADERS } from '../../http/middleware/security-headers.ts';
import { mayBeSent } from '../../http/unsent.ts';
import type { Exchange } from '../front.ts';

export interface Reply {
  readonly http: number;
  readonly body?: string | Buffer;
  /** Of the body. @default 'application/json' */
  readonly type?: string;
  /** Names and values in turn. */
  readonly headers?: readonly string[] | undefined;
  /** Of HTTP, after the body: only for who says `TE: trailers`. */
  readonly trailers?: Readonly<Record<string, string>>;
}

// What every answer of the server carries; `Vary` as the middleware for CORS sets it, which is asked only when a page of
// another origin calls.
const ALWAYS: readonly string[] = ['Vary', 'Origin', ...SECURITY_HEADERS.flat()];

const FULL: Reply = {
  http: 503,
  body: '{"code":14,"message":"Too many bytes of answers wait to be read. Try again later.","details":[]}',
  headers: ['Retry-After', '5'],
};

/** Sends an answer whole; 503 instead of a large one while too many wait to be read. */
export function reply(exchange: Exchange, answer: Reply): void {
  const { res, requestId } = exchange;
  // Of an answer that has begun only the end can be taken away.
  if (res.headersSent) return void res.destroy();
  const chosen = mayBeSent(res, bytesOf(answer)) ? answer : FULL;
  const { http, body, type = 'application/json', headers = [], ...rest } = chosen;
  const list = [...ALWAYS, 'X-Request-Id', requestId, ...headers];
  const trailers = rest.trailers && body !== undefined ? trailersFor(exchange, rest.trailers) : undefined;
  if (body !== undefined) list.push('Content-Type', type);
  // With trailers the body is chunked.
  if (trailers) list.push('Trailer', Object.keys(trailers).join(', '));
  else if (body !== undefined) list.push('Content-Length', String(Buffer.byteLength(body)));
  res.writeHead(http, list);
  if (trailers) res.addTrailers(trailers);
  res.end(body);
}

function trailersFor({ req }: Exchange, trailers: NonNullable<Reply['trailers']>): Reply['trailers'] {
  const takes =
    /\btrailers\b/i.test(String(req.headers.te ?? '')) && req.httpVersion === '1.1' && req.method !== 'HEAD';
  return takes && Object.keys(trailers).length ? trailers : undefined;
}

const bytesOf = ({ body = '' }: Reply) => Buffer.byteLength(body);

/** Sends the head of an answer whose body comes later, or never. */
export function begin({ res, requestId }: Exchange, headers: readonly string[]): void {
  res.writeHead(200, [...ALWAYS, 'X-Request-Id', requestId, ...headers]);
  res.flushHeaders();
}
