// The way into the gateway, at the front of the server: the same steps as for other doors, without their middleware. Each
// of its requests passes here, and the numbers are in test/bench.

import type { Context, Middleware } from 'koa';
import { REFUSALS, Refusal } from '../errors.ts';
import type { Recorder } from '../middleware/answer-errors.ts';
import type { ClientOf } from '../middleware/client.ts';
import type { Limiter } from '../middleware/rate-limit.ts';
import { requestId } from '../middleware/request-id.ts';
import type { Overload } from '../overload.ts';
import type { Owns } from './places.ts';

/** What the server does for all of its doors. */
export interface Front {
  readonly clientOf: ClientOf;
  readonly limiter: Limiter;
  readonly overload: Pick<Overload, 'isOver'>;
  /** For web pages; other clients send no Origin. */
  readonly cors: Middleware;
  /** Counts and logs what was answered. */
  readonly record: Recorder;
}

export interface Behind {
  readonly owns: Owns;
  /** Answers, and gives the template that the path led to, if any. Never rejects. */
  serve(ctx: Context): Promise<string | undefined>;
  /** Answers with what went wrong; headers: names and values in turn. */
  fail(ctx: Context, error: unknown, headers?: readonly string[]): void;
}

/** Lets the gateway's requests in; others go on to what comes next. */
export function gatewayFront({ clientOf, limiter, overload, cors, record }: Front, behind: Behind): Middleware {
  const { owns, serve, fail } = behind;

  async function enter(ctx: Context): Promise<string | undefined> {
    if (overload.isOver()) return turnAway(ctx, { refusal: new Refusal('unavailable'), seconds: 1 });
    const client = clientOf(ctx.req);
    const seconds = client.exempt ? 0 : await limiter(client.bucket);
    if (seconds === 0) return serve(ctx);
    const words = `${REFUSALS['too-many-requests'].words}. Try again in ${seconds} s`;
    return turnAway(ctx, { refusal: new Refusal('too-many-requests', words), seconds });
  }

  function turnAway(ctx: Context, { refusal, seconds }: { refusal: Refusal; seconds: number }): undefined {
    fail(ctx, refusal, ['Retry-After', String(seconds)]);
  }

  async function through(ctx: Context): Promise<void> {
    const begun = performance.now();
    const route = (await enter(ctx)) ?? 'none';
    const { req, res, state } = ctx;
    record({ method: req.method!, route, status: res.statusCode, begun, requestId: state.requestId });
  }

  return (ctx, next) => {
    const { req, res, state } = ctx;
    if (!owns(pathOf(req.url!))) return next();
    state.requestId = requestId(req);
    if (req.headers.origin === undefined) return through(ctx);
    // A question of a browser before its request is answered there.
    res.setHeader('X-Request-Id', state.requestId);
    return cors(ctx, () => through(ctx));
  };
}

/** A URL as it came, up to its question mark. */
export function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}
