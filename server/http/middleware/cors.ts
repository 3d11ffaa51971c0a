// Which web pages of other origins may call which door, with which headers, and what of the answers they may read.

import cors from '@koa/cors';
import type { Middleware } from 'koa';
import type { Config } from '../../config/config.ts';

interface DoorHeaders {
  /** Request headers that pages may set, beside those that need no permission. */
  readonly allowed: readonly string[];
  /** Any number of others, by their form. */
  readonly allowedForm?: RegExp;
  /** Headers of answers that pages may read, beside those that need no permission. */
  readonly exposed: readonly string[];
}

const DOORS = {
  ussd: { allowed: ['Content-Type', 'x-request-id'], exposed: ['X-Request-Id', 'Retry-After'] },
  domain: {
    allowed: [
      ...['Content-Type', 'Authorization', 'x-request-id'],
      ...['If-Match', 'If-None-Match', 'Idempotency-Key', 'Last-Event-ID'],
    ],
    exposed: [
      ...['X-Request-Id', 'ETag', 'Location', 'Link', 'Retry-After', 'Accept-Patch', 'Allow', 'WWW-Authenticate'],
    ],
  },
  // As its interface is published.
  agent: {
    allowed: [
      ...['Content-Type', 'Authorization', 'x-ucan-delegation', 'x-matrix-access-token', 'x-matrix-homeserver'],
      ...['x-did', 'x-request-id', 'x-auth-type', 'x-timezone'],
    ],
    exposed: ['X-Request-Id'],
  },
  gateway: {
    allowed: ['Content-Type', 'Authorization', 'x-request-id', 'x-cosmos-block-height', 'Grpc-Timeout'],
    // Each is metadata of the call under the name that follows.
    allowedForm: /^grpc-metadata-[\w.-]+$/i,
    exposed: ['X-Request-Id', 'Retry-After', 'Allow', 'WWW-Authenticate', 'X-Cosmos-Block-Height'],
  },
  others: {
    allowed: ['Content-Type', 'Authorization', 'x-request-id', 'If-None-Match', 'Last-Event-ID'],
    exposed: ['X-Request-Id', 'ETag', 'Retry-After', 'Allow', 'WWW-Authenticate'],
  },
} as const satisfies { readonly [door: string]: DoorHeaders };

export type CorsDoor = keyof typeof DOORS;

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];

/**
 * For each door: `*` lets any origin in, without credentials: @koa/cors would otherwise repeat the origin that asks,
 * `null` included. A list lets in exactly those, with credentials.
 */
export function crossOrigin({ corsOrigins }: Pick<Config, 'corsOrigins'>): Readonly<Record<CorsDoor, Middleware>> {
  const origins = readOrigins(corsOrigins);
  const doors = Object.entries(DOORS).map(([door, headers]) => [door, forDoor(headers, origins)] as const);
  return Object.fromEntries(doors) as Record<CorsDoor, Middleware>;
}

type Origins = Pick<cors.Options, 'origin' | 'credentials'>;

function readOrigins(listed: Config['corsOrigins']): Origins {
  if (listed === '*') return { origin: '*', credentials: false };
  const origins = new Set(listed);
  const origin = ({ req }: { req: { headers: { origin?: string } } }) => {
    const asks = req.headers.origin ?? '';
    return origins.has(asks) ? asks : '';
  };
  return { origin: origin as never, credentials: true };
}

function forDoor({ allowed, allowedForm, exposed }: DoorHeaders, origins: Origins): Middleware {
  const plain = cors({ ...origins, allowMethods: METHODS, allowHeaders: [...allowed], exposeHeaders: [...exposed] });
  if (!allowedForm) return plain;
  return async (ctx, next) => {
    await plain(ctx, next);
    const names = ctx.response.get(ALLOW);
    if (!names) return;
    // There is no wildcard for a part of a name: those that are asked for are named.
    const headers = ctx.get('access-control-request-headers').split(',');
    const more = headers.map((name) => name.trim()).filter((name) => allowedForm.test(name));
    if (more.length) ctx.set(ALLOW, [names, ...more].join(','));
  };
}

const ALLOW = 'Access-Control-Allow-Headers';
