// Requests that only our own pages may make: browsers name the page that asks, and other sites are turned away.

import type { Middleware } from 'koa';
import { Refusal } from '../../http/errors.ts';

/** Lets through what a page of this very host asks with a JSON body; SameSite cookies guard the same door. */
export function ownPagesOnly(): Middleware {
  return (ctx, next) => {
    const origin = ctx.get('origin');
    const host = URL.canParse(origin) ? new URL(origin).host : undefined;
    const site = ctx.get('sec-fetch-site');
    if (host !== ctx.host || (site !== '' && site !== 'same-origin'))
      throw new Refusal('bad-request', 'Only pages of this server may ask for this: the header Origin names another');
    // Forms of other sites cannot send this type.
    if (!ctx.is('application/json')) throw new Refusal('unsupported-media-type');
    return next();
  };
}
