// Requests beyond what a client may ask are refused: a page with a countdown for people, the door's own form for programs.

import type { Context, Middleware } from 'koa';
import { html } from '../../../lib/markup.ts';
import { REFUSALS, Refusal } from '../../http/errors.ts';
import type { ClientOf } from '../../http/middleware/client.ts';
import type { Limiter } from '../../http/middleware/rate-limit.ts';
import { messagePage, sendPage } from './frame.ts';

export interface LimitedOptions {
  readonly limiter: Limiter;
  readonly clientOf: ClientOf;
  /** Paths that are not counted. */
  readonly isFree: (path: string) => boolean;
}

/** Counts each request; one too many is 429 with `Retry-After`. */
export function limited({ limiter, clientOf, isFree }: LimitedOptions): Middleware {
  return async (ctx, next) => {
    const client = clientOf(ctx.req);
    const seconds = client.exempt || isFree(ctx.path) ? 0 : await limiter(client.bucket);
    if (seconds === 0) return next();
    ctx.set('Retry-After', String(seconds));
    if (ctx.accepts('json', 'html') === 'html') return sendWaitPage(ctx, seconds);
    throw new Refusal('too-many-requests', `${REFUSALS['too-many-requests'].words}. Try again in ${seconds} s`);
  };
}

// The page asks again by itself when the time has come.
async function sendWaitPage(ctx: Context, seconds: number): Promise<void> {
  const now = Date.now();
  const until = new Date(now + seconds * 1_000).toISOString();
  const left = `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
  const words = html`<p>This address has asked for more than this server answers in so short a time.</p>
<p>Try again in <time data-until="${until}" data-now="${new Date(now).toISOString()}">${left}</time>.</p>`;
  ctx.status = 429;
  ctx.set('Cache-Control', 'no-store');
  await sendPage(ctx, { ...messagePage('Too many requests', words), script: 'countdown.js' });
}
