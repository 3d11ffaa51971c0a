// What pages of other sites may not do: have a browser read or change here what is for its people.

import type { IncomingHttpHeaders } from 'node:http';
import type { Middleware } from 'koa';
import { Refusal } from '../errors.ts';

/** Whether the header `Origin` names this host; undefined without the header. */
function namesOwnHost({ origin, host }: IncomingHttpHeaders): boolean | undefined {
  return origin === undefined ? undefined : URL.canParse(origin) && new URL(origin).host === host;
}

/** Whether a page of another origin asks. Following a link that leads here does not count. */
export function isForeign(headers: IncomingHttpHeaders): boolean {
  const isOwnHost = namesOwnHost(headers);
  if (isOwnHost !== undefined) return !isOwnHost;
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

/** Lets through only what a page of this host posts as JSON. Cookies with `SameSite=Strict` protect the same routes. */
export function ownPagesOnly(): Middleware {
  return (ctx, next) => {
    const site = ctx.get('sec-fetch-site');
    if (!namesOwnHost(ctx.req.headers) || (site !== '' && site !== 'same-origin'))
      throw new Refusal('bad-request', 'Only pages of this server may ask for this: the header Origin names another');
    // Forms of other sites cannot send this type.
    if (!ctx.is('application/json')) throw new Refusal('unsupported-media-type');
    return next();
  };
}
