// What the gateway says of refusals that the whole server shares, such as too many requests, in its own form.

import type { HttpAnswer, StatusAnswers } from '../../../lib/gateway/index.ts';
import { REFUSALS, Refusal, type RefusalKind } from '../../http/errors.ts';

// Codes of gRPC.
const CODES: { readonly [kind in RefusalKind]: number } = {
  'bad-request': 3,
  unauthorized: 16,
  'not-found': 5,
  'method-not-allowed': 12,
  conflict: 10,
  'too-large': 8,
  'unsupported-media-type': 3,
  'too-many-requests': 8,
  internal: 13,
  'not-implemented': 12,
  'bad-gateway': 13,
  unavailable: 14,
};

/** The answer to whatever was thrown. */
export function answerOf(error: unknown, answers: StatusAnswers): HttpAnswer {
  if (!(error instanceof Refusal)) return answers.ofError(error);
  const body = { code: CODES[error.kind], message: error.message, details: [] };
  return { http: REFUSALS[error.kind].status, body: JSON.stringify(body) };
}
