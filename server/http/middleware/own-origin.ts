// What other sites may not do: have a browser of this machine read for them what is for its people.

import type { IncomingHttpHeaders } from 'node:http';
import type { Middleware } from 'koa';
import { Refusal } from '../errors.ts';

/** Whether a browser asks for a page of another origin. A click on a link that leads here is no such asking. */
export function isForeign({ origin, host, ...headers }: IncomingHttpHeaders): boolean {
  if (origin !== undefined) return !URL.canParse(origin) || new URL(origin).host !== host;
  const site = headers['sec-fetch-site'];
  const isOwn = site === undefined || site === 'same-origin' || site === 'none';
  return !isOwn && headers['sec-fetch-mode'] !== 'navigate';
}

/** Refuses what pages of other origins ask for, and takes from the answer what would let them read it. */
export function ownOriginOnly(): Middleware {
  return (ctx, next) => {
    if (isForeign(ctx.req.headers))
      throw new Refusal('bad-request', 'Only pages of this server may read this: the header Origin names another');
    for (const name of ['Access-Control-Allow-Origin', 'Access-Control-Allow-Credentials']) ctx.remove(name);
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    return next();
  };
}
