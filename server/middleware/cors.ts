// Which web pages of other origins may call, and what of the answer they may read.

import cors from '@koa/cors';
import type { Middleware } from 'koa';
import type { Config } from '../config.ts';

const SHARED = {
  allowMethods: ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'],
  allowHeaders: [
    'Content-Type',
    'Authorization',
    'x-ucan-delegation',
    'x-matrix-access-token',
    'x-matrix-homeserver',
    'x-did',
    'x-request-id',
    'x-auth-type',
    'x-timezone',
    'If-Match',
    'If-None-Match',
    'Idempotency-Key',
    'Last-Event-ID',
    'x-cosmos-block-height',
    'Grpc-Timeout',
  ],
  exposeHeaders: [
    'X-Request-Id',
    'ETag',
    'Location',
    'Link',
    'Retry-After',
    'Accept-Patch',
    'Allow',
    'WWW-Authenticate',
    'X-Cosmos-Block-Height',
  ],
};

/**
 * `*` lets any origin in, without credentials: @koa/cors would otherwise repeat whatever origin asks, `null` included.
 * A list lets in exactly those, with credentials.
 */
export function crossOrigin({ corsOrigins }: Pick<Config, 'corsOrigins'>): Middleware {
  if (corsOrigins === '*') return cors({ ...SHARED, origin: '*', credentials: false });
  const known = new Set(corsOrigins);
  const origin = ({ req }: { req: { headers: { origin?: string } } }) => {
    const asks = req.headers.origin ?? '';
    return known.has(asks) ? asks : '';
  };
  return cors({ ...SHARED, origin: origin as never, credentials: true });
}
