// What requests fail with: a refusal of the server, or no answer. Neither holds a credential.

import { readRetryAfter } from '../retry.ts';
import type { ApiSchemas } from './api.ts';

/** Codes of answers that bring none: those of the agent service, and of proxies. */
const CODES = {
  400: 'bad-request',
  401: 'unauthorized',
  402: 'payment-required',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
  413: 'too-large',
  415: 'unsupported-media-type',
  429: 'too-many-requests',
  500: 'internal',
  502: 'bad-gateway',
  503: 'unavailable',
} as const;

/** Why a request was refused; the list is closed. `unknown`: nothing in the answer says it. */
export type ProblemCode =
  | ApiSchemas['Problem']['error']['code']
  | ApiSchemas['Refused']['code']
  | (typeof CODES)[keyof typeof CODES]
  | 'unknown';

/**
 * A refusal: a problem document (RFC 9457) of `/v1`, or the error of another route. Its message is that of the server.
 * @example
 * const refusal = new ProblemError('GET /sessions', new Response('', { status: 429, headers: { 'retry-after': '2' } }), {});
 * refusal.code; // → 'too-many-requests'
 * refusal.retryAfterMs; // → 2000
 */
export class ProblemError extends Error {
  override readonly name = 'ProblemError' as const;
  /** What was asked, such as `GET /v1/domains/did%3Ax`, without the query. */
  readonly request: string;
  readonly status: number;
  readonly code: ProblemCode;
  /** What is wrong by field: a JSON pointer or the name of a parameter. */
  readonly details: readonly { readonly field: string; readonly error: string }[];
  /** What the server asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The answer as JSON, with further members such as `requestId`, `runId` or `claims`; empty where it is none. */
  readonly body: { readonly [member: string]: unknown };

  constructor(request: string, answer: Response, body: ProblemError['body']) {
    const words = [body.detail, body.title, body.message, body.error].find((one) => one && !isRecord(one));
    super([words ?? `The answer has the status ${answer.status}.`].flat().join('; '));
    const problem: { readonly [member: string]: unknown } = isRecord(body.error) ? body.error : body;
    this.request = request;
    this.status = answer.status;
    this.code = (problem.code ?? CODES[answer.status as keyof typeof CODES] ?? 'unknown') as ProblemCode;
    this.details = (problem.details ?? []) as ProblemError['details'];
    this.retryAfterMs = readRetryAfter(answer.headers.get('retry-after') ?? '', Date.now());
    this.body = body;
  }
}

/**
 * No answer, or a part of one: whether the server has done what was asked is not known.
 * @example
 * new ConnectionError('POST /sessions', 'no answer').message; // → 'POST /sessions: no answer.'
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError' as const;

  /** `cause` is told by its code alone, such as ECONNREFUSED: its words might quote what was sent. */
  constructor(request: string, words: string, cause?: unknown) {
    const { cause: inner, name } = (cause ?? {}) as { cause?: { code?: unknown }; name?: unknown };
    super(`${request}: ${words}${cause === undefined ? '' : ` (${inner?.code ?? name})`}.`);
  }
}

/** Reads an error answer. */
export async function readProblem(request: string, answer: Response): Promise<ProblemError> {
  const body: unknown = await answer.json().catch(() => undefined);
  return new ProblemError(request, answer, isRecord(body) ? body : {});
}

function isRecord(value: unknown): value is ProblemError['body'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
