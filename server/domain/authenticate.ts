// Who asks: the bearer token of every request to the domain service.

import type { Context, Middleware } from 'koa';
import type { Caller } from '../../lib/domain/caller.ts';
import { refuse } from '../../lib/domain/problems.ts';
import type { ApiKeys } from './api-keys.ts';

const BEARER = /^Bearer +([\x21-\x7e]{1,1024})$/i;

/** Puts the caller into `ctx.state.caller`; throws `unauthorized`, with the same words for every unknown key. */
export function authenticate(keys: ApiKeys): Middleware {
  return (ctx, next) => {
    const token = BEARER.exec(ctx.get('authorization'))?.[1];
    const caller = token === undefined ? undefined : keys.callerOf(token);
    if (!caller) throw refuse('unauthorized', 'Send an API key: Authorization: Bearer <key>.');
    ctx.state.caller = caller;
    ctx.state.isKnown = () => keys.callerOf(token!)?.tenant === caller.tenant;
    return next();
  };
}

/** Asks whether the key of a request that is long under way still counts. */
export function recheckOf(ctx: Pick<Context, 'state'>): () => boolean {
  return ctx.state.isKnown as () => boolean;
}

/** The caller of an authenticated request. */
export function callerOf(ctx: Pick<Context, 'state'>): Caller {
  return ctx.state.caller as Caller;
}
