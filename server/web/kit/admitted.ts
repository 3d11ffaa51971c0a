// The way in for Koa's doors. Requests beyond what a client may ask are refused: a page with a countdown for people, the door's own form for programs.

import type { Context, Middleware } from 'koa';
import { html } from '../../../lib/markup.ts';
import { REFUSALS, Refusal } from '../../http/errors.ts';
import type { Admit, Exceptions } from '../../http/fast-path.ts';
import { OVERLOADED } from '../../http/middleware/answer-errors.ts';
import { messagePage, prefersHtml, sendPage } from './frame.ts';

export interface AdmitOptions {
  readonly admit: Admit;
  /** What is not asked of requests to this path. */
  readonly exceptions: (path: string) => Exceptions | undefined;
}

/** Lets requests in: 503 under overload, and 429 for one too many of a client, each with `Retry-After`. */
export function admitted({ admit, exceptions }: AdmitOptions): Middleware {
  return async (ctx, next) => {
    const admission = await admit(ctx.req, exceptions(ctx.path));
    if (admission.kind === 'admitted') return next();
    const { seconds } = admission;
    ctx.set('Retry-After', String(seconds));
    if (admission.kind === 'overloaded') {
      ctx.state.reason = OVERLOADED;
      throw new Refusal('unavailable');
    }
    if (prefersHtml(ctx)) return sendWaitPage(ctx, seconds);
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
