// What no route has taken: the wrong method, an unknown path, or an unknown method.

import type { Middleware } from 'koa';
import { Refusal } from '../errors.ts';

const KNOWN = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Refuses with 501, 404, or 405 and `Allow`; answers OPTIONS with `Allow`. */
export function notFound(): Middleware {
  return (ctx) => {
    if (!KNOWN.has(ctx.method)) throw new Refusal('not-implemented');
    const matched = (ctx as unknown as { matched?: readonly { methods: readonly string[] }[] }).matched ?? [];
    const allowed = new Set(matched.flatMap(({ methods }) => methods));
    if (allowed.size === 0) throw new Refusal('not-found');
    ctx.set('Allow', [...allowed].join(', '));
    if (ctx.method !== 'OPTIONS') throw new Refusal('method-not-allowed');
    ctx.status = 204;
  };
}
