// Errors of the agent service and of plugins, as they are thrown, answered and documented: `{statusCode, message, error?}`.

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

/** The body of an error. `message` is a list where a body was checked. */
export type AgentErrorBody = JsonObject & {
  readonly statusCode: number;
  readonly message: string | readonly string[];
  /** The name of the status; missing where the message is a word of its own. */
  readonly error?: string;
};

const TEXT: Schema = { type: 'string' };

/** {@link AgentErrorBody}. */
export const AGENT_ERROR: Schema = record(
  'A refusal of the agent service',
  {
    statusCode: { type: 'integer' },
    message: { oneOf: [TEXT, { type: 'array', items: TEXT }], description: 'A list where a body was checked' },
    error: { type: 'string', description: 'The name of the status' },
    runId: { type: 'string', description: 'The run that is in the way' },
    kind: TEXT,
    claims: { type: 'array', items: TEXT, description: 'With 402: claims to settle' },
    outstandingClaims: { type: 'array', items: TEXT, description: 'The same' },
  },
  ['error', 'runId', 'kind', 'claims', 'outstandingClaims'],
);

/** A JSON answer, as routes declare it. */
export function jsonAnswer(description: string, schema: Schema): RouteAnswer {
  return { description, types: { 'application/json': schema } };
}

/** A refusal, as routes declare it. */
export const refusalAnswer = (description: string): RouteAnswer => jsonAnswer(description, AGENT_ERROR);

/** Answers of every route that needs a user. */
export const USER_ANSWERS: { readonly [status: number]: RouteAnswer } = {
  401: { ...refusalAnswer('No token, or none that counts'), headers: { 'WWW-Authenticate': 'How to come in' } },
  402: refusalAnswer('A plugin asks for something first, such as `credits`'),
  // Too many requests are refused before the user is known, too many streams afterwards.
  429: {
    ...PLAIN_ANSWERS[429],
    types: { ...PLAIN_ANSWERS[429].types, 'application/json': { anyOf: [AGENT_ERROR, REFUSED] } },
  },
  500: refusalAnswer('Something went wrong here'),
  503: jsonAnswer('A store or another service is away, or there is too much to do', {
    anyOf: [AGENT_ERROR, REFUSED],
  }),
};

/** Answers of routes whose parameters or body are checked. */
export const WRONG_INPUT = refusalAnswer('The body or a parameter is wrong; `message` lists everything');
export const BODY_ANSWERS = {
  400: WRONG_INPUT,
  413: refusalAnswer('The body is too large'),
  415: refusalAnswer('The body is no JSON, or its encoding is not read'),
} as const;

/** Thrown by the agent's door; its words are ours and are shown. */
export class AgentError extends Error {
  override readonly name = 'AgentError' as const;
  readonly body: AgentErrorBody;
  /** For the log alone: a fixed word. */
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
  const listed = cutList(lines, (line) => line);
  const more = message.length - listed.length;
  return more > 0 ? [...listed, `${more} more are not in this list`] : listed;
}

/** An error with a status, its name, and what else clients read of it. */
export function agentError(status: number, message: string | readonly string[], more: JsonObject = {}): AgentError {
  return new AgentError({ statusCode: status, message, error: STATUS_CODES[status]!, ...more });
}

/** One whose message stands for itself, as that of a missing token does; `reason` is for the log. */
export function plainAgentError(status: number, message: string, reason?: string): AgentError {
  return new AgentError({ statusCode: status, message }, reason);
}

export interface AgentErrorsOptions {
  /** Told of everything that is our fault. */
  readonly onFault: (error: unknown, ctx: ParameterizedContext) => void;
  /** Plugins may quote what they are configured with. */
  readonly redact: Redactor;
}

/** Answers errors of the routes below. */
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
