// The way into the gateway, at the front of the server: the same steps as for other doors, without their middleware. Each
// of its requests passes here, and the numbers are in test/bench.

import type { IncomingMessage, RequestListener } from 'node:http';
import type { Middleware } from 'koa';
import { REFUSALS, Refusal } from '../http/errors.ts';
import type { Recorder } from '../http/middleware/answer-errors.ts';
import type { ClientOf } from '../http/middleware/client.ts';
import type { Limiter } from '../http/middleware/rate-limit.ts';
import type { Overload } from '../http/overload.ts';
import { type Exchange, exchangeOf } from './exchange.ts';
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
  serve(exchange: Exchange): Promise<string | undefined>;
  /** Answers with what went wrong; headers: names and values in turn. */
  fail(exchange: Exchange, error: unknown, headers?: readonly string[]): void;
  readonly onFault: (error: unknown, requestId: string) => void;
}

export interface FrontDoor {
  /** Answers the gateway's paths, for pages of other origins too. Other paths pass. */
  readonly answer: Middleware;
  /** Answers the gateway's paths unless a page of another origin asks, and hands all else to `app`. */
  ahead(app: RequestListener): RequestListener;
}

/** Lets the gateway's requests in. */
export function gatewayFront({ clientOf, limiter, overload, cors, record }: Front, behind: Behind): FrontDoor {
  const { serve, fail, onFault } = behind;
  const owns = (req: IncomingMessage) => behind.owns(pathOf(req.url!));

  async function enter(exchange: Exchange): Promise<string | undefined> {
    if (overload.isOver()) return turnAway(exchange, { refusal: new Refusal('unavailable'), seconds: 1 });
    const client = clientOf(exchange.req);
    const seconds = client.exempt ? 0 : await limiter(client.bucket);
    if (seconds === 0) return serve(exchange);
    const words = `${REFUSALS['too-many-requests'].words}. Try again in ${seconds} s`;
    return turnAway(exchange, { refusal: new Refusal('too-many-requests', words), seconds });
  }

  function turnAway(exchange: Exchange, { refusal, seconds }: { refusal: Refusal; seconds: number }): undefined {
    fail(exchange, refusal, ['Retry-After', String(seconds)]);
  }

  async function through(exchange: Exchange): Promise<void> {
    const begun = performance.now();
    const route = (await enter(exchange)) ?? 'none';
    const { req, res, requestId } = exchange;
    record({ method: req.method!, route, status: res.statusCode, begun, requestId });
  }

  return {
    answer: (ctx, next) => {
      if (!owns(ctx.req)) return next();
      const exchange = exchangeOf(ctx);
      ctx.res.setHeader('X-Request-Id', exchange.requestId);
      // A question of a browser before its request is answered there, by Koa.
      return cors(ctx, () => {
        ctx.respond = false;
        return through(exchange);
      });
    },
    ahead: (app) => (req, res) => {
      if (req.headers.origin !== undefined || !owns(req)) return app(req, res);
      const exchange = exchangeOf({ req, res });
      through(exchange).catch((error) => {
        onFault(error, exchange.requestId);
        res.destroy();
      });
    },
  };
}

/** A URL as it came, up to its question mark. */
export function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}
