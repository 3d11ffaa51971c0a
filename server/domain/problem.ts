// What goes wrong at the domain service, as RFC 9457 problem documents that also carry the shapes of the ecosystem.

import type { Middleware, ParameterizedContext } from 'koa';
import { PROBLEMS, type Reason } from '../../lib/domain/problems.ts';
import { type Detail, TwinlineError } from '../../lib/errors.ts';
import { REFUSAL_OF, REFUSALS, Refusal } from '../http/errors.ts';
import { uriReference } from './address.ts';

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly success: false;
  readonly error: { readonly code: string; readonly message: string; readonly details: readonly Detail[] };
}

const MEDIA_TYPE = 'application/problem+json';
const TYPES = '/docs/errors#';

/** Turns refusals into problem documents; whatever is our fault goes on to the log and says nothing of itself. */
export function problems(onFault: (error: unknown, ctx: ParameterizedContext) => void): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const { status, title, code, detail, details } = told(error);
      if (status >= 500) onFault(error, ctx);
      if (status === 401) ctx.set('WWW-Authenticate', 'Bearer realm="twinline"');
      if (status === 503 || code === 'in-progress') ctx.set('Retry-After', '1');
      ctx.status = status;
      ctx.type = MEDIA_TYPE;
      const problem: Problem = {
        type: `${TYPES}${code}`,
        title,
        status,
        detail,
        instance: uriReference(ctx.path),
        success: false,
        error: { code, message: detail, details },
      };
      ctx.body = JSON.stringify(problem);
    }
  };
}

/** An error in the words of the interface. */
export interface Told {
  readonly status: number;
  readonly title: string;
  readonly code: string;
  readonly detail: string;
  readonly details: readonly Detail[];
}

/** What clients are told of an error; of our own faults, nothing. */
export function told(error: unknown): Told {
  if (error instanceof TwinlineError && error.code === 'ERR_REFUSED') {
    const code = error.reason as Reason;
    return { ...PROBLEMS[code], code, detail: error.message, details: error.details };
  }
  const kind =
    error instanceof Refusal ? error.kind : error instanceof TwinlineError ? REFUSAL_OF[error.code] : 'internal';
  const { status, words } = REFUSALS[kind];
  const ours = error instanceof Refusal || (error instanceof TwinlineError && status < 500);
  return { status, title: words, code: kind, detail: ours ? (error as Error).message : words, details: [] };
}
