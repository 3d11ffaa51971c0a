// How the gateway answers: straight to the response of Node, with one array of headers, for this is a hot path.

import { SECURITY_HEADERS } from '../middleware/security-headers.ts';
import { mayBeSent } from '../unsent.ts';
import type { Exchange } from './exchange.ts';

export interface Reply {
  readonly http: number;
  /** JSON. */
  readonly body?: string | Buffer;
  /** Names and values in turn. */
  readonly headers?: readonly string[] | undefined;
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
export function reply({ res, requestId }: Exchange, answer: Reply): void {
  // Of an answer that has begun only the end can be taken away.
  if (res.headersSent) return void res.destroy();
  const { http, body, headers = [] } = mayBeSent(res, bytesOf(answer)) ? answer : FULL;
  const list = [...ALWAYS, 'X-Request-Id', requestId, ...headers];
  if (body !== undefined)
    list.push('Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(body)));
  res.writeHead(http, list);
  res.end(body);
}

const bytesOf = ({ body = '' }: Reply) => Buffer.byteLength(body);

/** Sends the head of an answer whose body comes later, or never. */
export function begin({ res, requestId }: Exchange, headers: readonly string[]): void {
  res.writeHead(200, [...ALWAYS, 'X-Request-Id', requestId, ...headers]);
  res.flushHeaders();
}
