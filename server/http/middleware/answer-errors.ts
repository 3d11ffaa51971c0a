// Whatever is thrown below becomes a JSON answer, and is logged and counted when it is our fault.

import type { Context, Middleware } from 'koa';
import type { Redactor } from '../../../lib/redact.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { type ErrorAnswer, errorAnswer, Refusal } from '../errors.ts';
import { NO_ROUTE, nameSpan } from '../guard.ts';

interface ErrorAnswers {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly redact: Redactor;
  /** Answers with a page where the client would rather have one; resolves to whether it did. */
  readonly sendErrorPage: (ctx: Context, answer: ErrorAnswer) => Promise<boolean>;
}

/** Answers errors of the JSON doors, as pages where those are asked for, and writes one log line per request. */
export function answerErrors({ log, metrics, redact, sendErrorPage }: ErrorAnswers): Middleware {
  const record = recorder({ log, metrics });
  return async (ctx, next) => {
    const begun = performance.now();
    const requestId: string = ctx.state.requestId;
    try {
      await next();
    } catch (error) {
      const { status, body } = errorAnswer(error, requestId);
      const answer = { status, body: redact.json(body) as typeof body };
      if (!(await sendErrorPage(ctx as Context, answer))) Object.assign(ctx, answer);
      if (status >= 500 && !(error instanceof Refusal)) {
        metrics.problem('http');
        log.error({ err: error, route: findRoute(ctx), requestId }, 'a request failed');
      }
    }
    const { method, status } = ctx;
    record({ method, route: findRoute(ctx), status, begun, requestId, reason: ctx.state.reason as string | undefined });
  };
}

/** A request that was answered. */
export interface AnsweredRequest {
  readonly method: string;
  /** Its template, or `none`. */
  readonly route: string;
  readonly status: number;
  /** By `performance.now()`. */
  readonly begun: number;
  readonly requestId: string;
  /** Why it was refused, in one word of a closed list; where clients do not get it. */
  readonly reason?: string | undefined;
}

/** Takes each request when it was answered. */
export type Recorder = (answered: AnsweredRequest) => void;

/** The reason of requests that are turned away because there is too much to do. */
export const OVERLOADED = 'overload';

/** Counts requests, and writes a line for each but those that are turned away for overload. */
export function recorder({ log, metrics }: { log: Log; metrics: Metrics }): Recorder {
  return ({ method, route, status, begun, requestId, reason }) => {
    const ms = performance.now() - begun;
    metrics.request(method, route, status, ms);
    nameSpan({ method, route, requestId });
    if (reason === OVERLOADED) return;
    const level = status >= 500 ? 'warn' : QUIET.has(route) ? 'debug' : 'info';
    log[level]({ method, route, status, ms: Math.round(ms), requestId, ...(reason !== undefined && { reason }) });
  };
}

// Asked every few seconds by machines, or by each page that is opened.
const QUIET = new Set(['/', '/livez', '/readyz', '/health', '/metrics', '/menus/refused', '/pages/:file']);

/** The template of the route that was matched; paths themselves may hold ids and numbers of people. */
function findRoute(ctx: { readonly [key: string]: unknown }): string {
  return typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : NO_ROUTE;
}
