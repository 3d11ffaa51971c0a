// How the gateway answers: straight to the response of Node, with one array of headers, for this is a hot path.

import type { Context } from 'koa';
import { SECURITY_HEADERS } from '../middleware/security-headers.ts';

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

/** Sends an answer whole. */
export function reply(ctx: Context, { http, body, headers = [] }: Reply): void {
  const { res } = ctx;
  ctx.respond = false;
  // Of an answer that has begun only the end can be taken away.
  if (res.headersSent) return void res.destroy();
  const list = [...ALWAYS, 'X-Request-Id', ctx.state.requestId as string, ...headers];
  if (body !== undefined)
    list.push('Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(body)));
  res.writeHead(http, list);
  res.end(body);
}

/** Sets what {@link reply} adds by itself, for answers that Koa or a stream sends. */
export function setHeaders({ res, state }: Context): void {
  for (let at = 0; at < ALWAYS.length; at += 2) res.setHeader(ALWAYS[at]!, ALWAYS[at + 1]!);
  res.setHeader('X-Request-Id', state.requestId as string);
}
