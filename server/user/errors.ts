// What goes wrong at the agent service, in the shape that its clients know: `{statusCode, message, error?}`.

import { STATUS_CODES } from 'node:http';
import type { Middleware, ParameterizedContext } from 'koa';
import { cutList, cutText } from '../../lib/cut.ts';
import { DOMAIN_LIMITS } from '../../lib/domain/limits.ts';
import { SHARED_LIMITS } from '../../lib/shared-limits.ts';
import type { JsonObject } from '../../lib/store/store.ts';
import { describeError, REFUSALS } from '../http/errors.ts';

/** The body of an error. `message` is a list where a body was checked. */
export type NestBody = JsonObject & {
  readonly statusCode: number;
  readonly message: string | readonly string[];
  /** The name of the status; missing where the message is a word of its own. */
  readonly error?: string;
};

/** Thrown by the agent's door; its words are ours and are shown. */
export class NestError extends Error {
  override readonly name = 'NestError' as const;
  readonly body: NestBody;
  /** For the log alone: a fixed word. */
  readonly reason: string | undefined;

  constructor(body: NestBody, reason?: string) {
    const message = cutMessage(body.message);
    super(String(message));
    this.body = { ...body, message };
    this.reason = reason;
  }
}

function cutMessage(message: NestBody['message']): NestBody['message'] {
  if (typeof message === 'string') return cutText(message, DOMAIN_LIMITS.problemChars);
  const lines = message
    .slice(0, SHARED_LIMITS.problemDetails)
    .map((line) => cutText(line, DOMAIN_LIMITS.problemFieldChars));
  const listed = cutList(lines, (line) => line);
  const more = message.length - listed.length;
  return more > 0 ? [...listed, `${more} more are not in this list`] : listed;
}

/** An error with a status, its name, and what else clients read of it. */
export function agentError(status: number, message: string | readonly string[], more: JsonObject = {}): NestError {
  return new NestError({ statusCode: status, message, error: STATUS_CODES[status]!, ...more });
}

/** One whose message stands for itself, as that of a missing token does. */
export function plainAgentError(status: number, message: string, reason?: string): NestError {
  return new NestError({ statusCode: status, message }, reason);
}

/** One that may be gone the next time. */
export function unavailable(message: string, reason: string): NestError {
  return new NestError({ statusCode: 503, message, error: STATUS_CODES[503]! }, reason);
}

/** Answers errors of the routes below. */
export function answerAgentErrors(onFault: (error: unknown, ctx: ParameterizedContext) => void): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const body = bodyOf(error);
      if (body.statusCode >= 500) onFault(error, ctx);
      if (error instanceof NestError) ctx.state.reason = error.reason;
      if (body.statusCode === 401 && !ctx.response.get('WWW-Authenticate'))
        ctx.set('WWW-Authenticate', 'Bearer realm="ucan"');
      if (body.statusCode === 503) ctx.set('Retry-After', '1');
      ctx.status = body.statusCode;
      ctx.body = body;
    }
  };
}

function bodyOf(error: unknown): NestBody {
  if (error instanceof NestError) return error.body;
  const { kind, message } = describeError(error);
  const { status } = REFUSALS[kind];
  return { statusCode: status, message, error: STATUS_CODES[status]! };
}
