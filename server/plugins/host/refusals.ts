// Refusals that plugins throw in Koa's own way, `koa.throw(404, '…')`, in the form of the agent service.

import type { Middleware } from 'koa';
import { nest } from '../../user/errors.ts';

/** Hands on refusals of 400 to 499 whose words are meant to be shown; all else stays as it is. */
export function koaRefusals(): Middleware {
  return async (_ctx, next) => {
    try {
      await next();
    } catch (error) {
      const { status, expose, message } = error as { status?: unknown; expose?: unknown; message?: unknown };
      if (expose === true && typeof status === 'number' && status >= 400 && status <= 499)
        throw nest(status, String(message));
      throw error;
    }
  };
}
