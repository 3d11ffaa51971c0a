// What operators may ask about accounts. Phone numbers stand in bodies, never in URLs: those are logged by proxies.

import type Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { shortMac } from '../../lib/keyring.ts';
import { Refusal } from '../http/errors.ts';
import type { AccountDesk } from './account-desk.ts';

export interface AccountRoutesDeps {
  readonly desk: AccountDesk;
  readonly operators: Middleware;
  /** OPERATOR_TOKEN, and the key of its fingerprint. */
  readonly token: string | undefined;
  readonly key: Buffer;
}

/** `POST /api/ussd/accounts/show` and `POST /api/ussd/accounts/unlock`, behind `operators`. */
export function accountRoutes(router: Router, { desk, operators, token, key }: AccountRoutesDeps): void {
  // Whoever reads the log learns which token it was, and nothing else about it.
  const by = token === undefined ? 'loopback' : `token ${shortMac(key, ['fingerprint', token]).slice(0, 8)}`;
  router.post('/api/ussd/accounts/show', operators, async (ctx) => {
    ctx.body = await desk.show(phoneOf(ctx));
  });
  router.post('/api/ussd/accounts/unlock', operators, async (ctx) => {
    ctx.body = await desk.unlock(phoneOf(ctx), by);
  });
}

function phoneOf(ctx: Context): unknown {
  const body = (ctx.request as { body?: unknown }).body;
  const { phoneNumber, ...more } = (body ?? {}) as { readonly phoneNumber?: unknown };
  if (phoneNumber === undefined || Object.keys(more).length > 0)
    throw new Refusal('bad-request', 'Send JSON with one field: {"phoneNumber":"+260971230001"}');
  return phoneNumber;
}
