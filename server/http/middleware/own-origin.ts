// What pages of other sites may not do: have a browser read or change here what is for its people.

import type { IncomingHttpHeaders } from 'node:http';
import type { Middleware } from 'koa';
import { Refusal } from '../errors.ts';

// A page of another site can reach this machine by a name of its own that leads here, but not by ours.
const LOCAL_NAME = /^(localhost|[\w-]+\.localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i;

/**
 * Whether a browser asked this machine by its own name, as somebody does who sits at it or has a tunnel to it: behind a proxy that
 * says so, everybody's socket comes from the proxy.
 */
export function isAskedLocally({ host = '', ...headers }: IncomingHttpHeaders): boolean {
  return headers['x-forwarded-for'] === undefined && headers.forwarded === undefined && LOCAL_NAME.test(host);
}

/**
 * Whether the header `Origin` names this server: the origin of `publicUrl`, and the host that was asked where that is a name of this
 * machine or there is no `publicUrl`. Undefined without the header.
 */
function namesThisServer(headers: IncomingHttpHeaders, publicUrl: string | undefined): boolean | undefined {
  const { origin, host } = headers;
  if (origin === undefined) return undefined;
  if (publicUrl !== undefined && origin === new URL(publicUrl).origin) return true;
  const countsHost = publicUrl === undefined || isAskedLocally(headers);
  return countsHost && URL.canParse(origin) && new URL(origin).host === host;
}

/** Whether a page of another origin asks. Following a link that leads here does not count. */
export function isForeign(headers: IncomingHttpHeaders, publicUrl?: string): boolean {
  const isOwnPage = namesThisServer(headers, publicUrl);
  if (isOwnPage !== undefined) return !isOwnPage;
  const site = headers['sec-fetch-site'];
  const isOwn = site === undefined || site === 'same-origin' || site === 'none';
  return !isOwn && headers['sec-fetch-mode'] !== 'navigate';
}

/** Refuses what pages of other origins ask for. */
export function ownOriginOnly(publicUrl: string | undefined): Middleware {
  return (ctx, next) => {
    if (isForeign(ctx.req.headers, publicUrl))
      throw new Refusal('bad-request', 'Only pages of this server may read this: the header Origin names another');
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    return next();
  };
}

/** Lets through only what a page of this server posts as JSON. Cookies with `SameSite=Strict` protect the same routes. */
export function ownPagesOnly(publicUrl: string | undefined): Middleware {
  return (ctx, next) => {
    const site = ctx.get('sec-fetch-site');
    if (!namesThisServer(ctx.req.headers, publicUrl) || (site !== '' && site !== 'same-origin'))
      throw new Refusal('bad-request', 'Only pages of this server may ask for this: the header Origin names another');
    // Forms of other sites cannot send this type.
    if (!ctx.is('application/json')) throw new Refusal('unsupported-media-type');
    return next();
  };
}
