// Errors of the agent service and plugins: `{statusCode, message, error?}`.

import { STATUS_CODES } from 'node:http';
import type { Middleware, ParameterizedContext } from 'koa';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { DOMAIN_LIMITS } from '../../lib/domain/limits.ts';
import { cutList, cutText } from '../../lib/errors.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { record, type Schema } from '../../lib/json/schema.ts';
import { listCredentials, mayQuote, type Redactor, redactor } from '../../lib/redact.ts';
import { PLAIN_ANSWERS, REFUSED } from '../http/common-answers.ts';
import { describeError, REFUSALS } from '../http/errors.ts';
import type { RouteAnswer } from '../http/route-table.ts';

/** The body of an error. `message` is a list for validation errors. */
export type AgentErrorBody = JsonObject & {
  readonly statusCode: number;
  readonly message: string | readonly string[];
  /** The name of the status; absent when the message stands for itself. */
  readonly error?: string;
};

const TEXT: Schema = { type: 'string' };

/** {@link AgentErrorBody}. */
export const AGENT_ERROR: Schema = record(
  'A refusal of the agent service',
  {
    statusCode: { type: 'integer' },
    message: { oneOf: [TEXT, { type: 'array', items: TEXT }], description: 'A list for validation errors' },
    error: { type: 'string', description: 'The name of the status' },
    runId: { type: 'string', description: 'The conflicting run' },
    kind: TEXT,
    claims: { type: 'array', items: TEXT, description: 'With 402: claims to settle' },
    outstandingClaims: { type: 'array', items: TEXT, description: 'The same' },
  },
  ['error', 'runId', 'kind', 'claims', 'outstandingClaims'],
);

/** Declares a JSON answer of a route. */
export function jsonAnswer(description: string, schema: Schema): RouteAnswer {
  return { description, types: { 'application/json': schema } };
}

/** Declares a refusal of a route. */
export const refusalAnswer = (description: string): RouteAnswer => jsonAnswer(description, AGENT_ERROR);

/** Answers of every route that requires a user. */
export const USER_ANSWERS: { readonly [status: number]: RouteAnswer } = {
  401: {
    ...refusalAnswer('The token is missing or invalid'),
    headers: { 'WWW-Authenticate': 'The authentication scheme' },
  },
  402: refusalAnswer('A plugin, such as `credits`, requires something first'),
  // Too many requests are refused before authentication, too many streams after it.
  429: {
    ...PLAIN_ANSWERS[429],
    types: { ...PLAIN_ANSWERS[429].types, 'application/json': { anyOf: [AGENT_ERROR, REFUSED] } },
  },
  500: refusalAnswer('Internal error'),
  503: jsonAnswer('A store or another service is unavailable, or the server is overloaded', {
    anyOf: [AGENT_ERROR, REFUSED],
  }),
};

/** Answers of routes that validate parameters or a body. */
export const WRONG_INPUT = refusalAnswer('The body or a parameter is invalid; `message` lists all problems');
export const BODY_ANSWERS = {
  400: WRONG_INPUT,
  413: refusalAnswer('The body is too large'),
  415: refusalAnswer('The body is not JSON, or its encoding is not supported'),
} as const;

/** Thrown by the agent's door; clients see its message. */
export class AgentError extends Error {
  override readonly name = 'AgentError' as const;
  readonly body: AgentErrorBody;
  /** A fixed word for the log only. */
  readonly reason: string | undefined;

  constructor(body: AgentErrorBody, reason?: string) {
    const message = cutMessage(body.message);
    super(String(message));
    this.body = { ...body, message };
    this.reason = reason;
  }
}

function cutMessage(message: AgentErrorBody['message']): AgentErrorBody['message'] {
  if (typeof message === 'string') return cutText(message, DOMAIN_LIMITS.problemChars);
  const lines = message
    .slice(0, COMMON_LIMITS.problemDetails)
    .map((line) => cutText(line, DOMAIN_LIMITS.problemFieldChars));
  const firstLines = cutList(lines, (line) => line);
  const more = message.length - firstLines.length;
  return more > 0 ? [...firstLines, `${more} more are not listed`] : firstLines;
}

/** An error with a status, its name, and further fields. */
export function agentError(status: number, message: string | readonly string[], more: JsonObject = {}): AgentError {
  return new AgentError({ statusCode: status, message, error: STATUS_CODES[status]!, ...more });
}

/** An error whose message stands for itself, without the name of the status; `reason` is for the log. */
export function plainAgentError(status: number, message: string, reason?: string): AgentError {
  return new AgentError({ statusCode: status, message }, reason);
}

export interface AgentErrorsOptions {
  /** Called for every internal error. */
  readonly onFault: (error: unknown, ctx: ParameterizedContext) => void;
  /** Masks configured secrets, which plugins may quote. */
  readonly redact: Redactor;
}

/** Answers errors of downstream middleware. */
export function answerAgentErrors({ onFault, redact }: AgentErrorsOptions): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const body = redact.json(agentErrorBody(error)) as AgentErrorBody;
      if (body.statusCode >= 500) onFault(mayQuote(error, redactor(listCredentials(ctx.headers))), ctx);
      if (error instanceof AgentError) ctx.state.reason = error.reason;
      if (body.statusCode === 401 && !ctx.response.get('WWW-Authenticate'))
        ctx.set('WWW-Authenticate', 'Bearer realm="ucan"');
      if (body.statusCode === 503) ctx.set('Retry-After', '1');
      ctx.status = body.statusCode;
      ctx.body = body;
    }
  };
}

function agentErrorBody(error: unknown): AgentErrorBody {
  if (error instanceof AgentError) return error.body;
  const { kind, message } = describeError(error);
  const { status } = REFUSALS[kind];
  return { statusCode: status, message, error: STATUS_CODES[status]! };
}
