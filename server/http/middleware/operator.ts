// Who counts as an operator: whoever has the token; without one, only this machine, and only in development.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Middleware } from 'koa';
import { REFUSALS, Refusal } from '../errors.ts';
import type { ClientOf } from './client.ts';
import { ownOriginOnly } from './own-origin.ts';

export interface OperatorRule {
  readonly token: string | undefined;
  readonly production: boolean;
  readonly clientOf: ClientOf;
}

/** Lets operators through; others get 401 where there is a token, and 404 where there is none. */
export function operatorsOnly({ token, production, clientOf }: OperatorRule): Middleware {
  if (token !== undefined) return tokenHolders(token);
  // Whoever sits at this machine also visits pages of others.
  const ownOrigin = ownOriginOnly();
  return (ctx, next) => {
    const isHere = clientOf(ctx.req).loopback && !isRelayed(ctx.req.headers) && isLocalName(ctx.get('host'));
    if (production || !isHere) throw new Refusal('not-found');
    ctx.set('Cache-Control', 'no-store');
    return ownOrigin(ctx, next);
  };
}

function tokenHolders(token: string): Middleware {
  const holds = bearerCheck(token);
  return (ctx, next) => {
    ctx.set('Cache-Control', 'no-store');
    if (holds(ctx.get('authorization'))) return next();
    ctx.set('WWW-Authenticate', 'Bearer realm="operator"');
    throw new Refusal('unauthorized', `${REFUSALS.unauthorized.words}: send Authorization: Bearer <OPERATOR_TOKEN>`);
  };
}

/** Whether an Authorization header carries this secret as its bearer token; how long that takes says nothing about it. */
export function bearerCheck(secret: string): (authorization: string) => boolean {
  const expected = digest(secret);
  return (authorization) => {
    const given = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization)?.[1];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

// Equal lengths for the comparison, whatever was sent.
const digest = (text: string) => createHash('sha256').update(text).digest();

// Behind a proxy on this machine, everybody's socket comes from this machine.
const isRelayed = (headers: NodeJS.Dict<string | string[]>) =>
  headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;

// A page of another site can reach this machine by a name of its own that leads here, but not by ours.
const isLocalName = (host: string) => /^(localhost|[\w-]+\.localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i.test(host);
