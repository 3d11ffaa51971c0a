// The way into the gateway, at the front of the server: admitted as at other doors, without their middleware. Each of its
// requests passes here, and the numbers are in test/bench.

import type { IncomingMessage, RequestListener } from 'node:http';
import type { Middleware } from 'koa';
import { REFUSALS, Refusal } from '../http/errors.ts';
import { type Admit, answerAhead, type Exchange, requestId } from '../http/fast-path.ts';
import { type AnsweredRequest, OVERLOADED, type Recorder } from '../http/middleware/answer-errors.ts';
import type { Owns } from './places.ts';

const NO_ROUTE = 'none';

/** What the server does for all of its doors. */
export interface Front {
  readonly admit: Admit;
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
export function gatewayFront({ admit, cors, record }: Front, behind: Behind): FrontDoor {
  const { serve, fail, onFault } = behind;
  const owns = (req: IncomingMessage) => behind.owns(cutPath(req.url!));

  async function enter(exchange: Exchange): Promise<Pick<AnsweredRequest, 'route' | 'reason'>> {
    const admitted = await admit(exchange.req);
    if (admitted.kind === 'admitted') return { route: (await serve(exchange)) ?? NO_ROUTE };
    const { seconds } = admitted;
    const words = `${REFUSALS['too-many-requests'].words}. Try again in ${seconds} s`;
    const refusal =
      admitted.kind === 'overloaded' ? new Refusal('unavailable') : new Refusal('too-many-requests', words);
    fail(exchange, refusal, ['Retry-After', String(seconds)]);
    return { route: NO_ROUTE, reason: admitted.kind === 'overloaded' ? OVERLOADED : undefined };
  }

  async function answer(exchange: Exchange): Promise<void> {
    const begun = performance.now();
    const entered = await enter(exchange);
    const { req, res, requestId } = exchange;
    record({ ...entered, method: req.method!, status: res.statusCode, begun, requestId });
  }

  return {
    answer: (ctx, next) => {
      if (!owns(ctx.req)) return next();
      const exchange = { req: ctx.req, res: ctx.res, requestId: requestId(ctx.req) };
      ctx.res.setHeader('X-Request-Id', exchange.requestId);
      // A question of a browser before its request is answered there, by Koa.
      return cors(ctx, () => {
        ctx.respond = false;
        return answer(exchange);
      });
    },
    ahead: (app) => answerAhead(app, { owns, answer, onFault }),
  };
}

/** A URL as it came, up to its question mark. */
export function cutPath(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}
