// What clients of the JSON doors are told: one table from error codes to HTTP statuses, and words that leak nothing.

import { type ErrorCode, TwinlineError } from '../../lib/errors.ts';

/** Ways in which a door refuses a request; `status` is what HTTP calls it. */
export const REFUSALS = {
  'bad-request': { status: 400, words: 'Bad request' },
  unauthorized: { status: 401, words: 'Unauthorized' },
  'not-found': { status: 404, words: 'Not found' },
  'method-not-allowed': { status: 405, words: 'Method not allowed' },
  conflict: { status: 409, words: 'Conflict' },
  'too-large': { status: 413, words: 'Body too large' },
  'unsupported-media-type': { status: 415, words: 'Unsupported media type' },
  'too-many-requests': { status: 429, words: 'Too many requests' },
  internal: { status: 500, words: 'Internal error' },
  'not-implemented': { status: 501, words: 'Not implemented' },
  'bad-gateway': { status: 502, words: 'A service that is needed failed' },
  unavailable: { status: 503, words: 'Service temporarily unavailable' },
} as const satisfies Record<string, { status: number; words: string }>;

export type RefusalKind = keyof typeof REFUSALS;

/** Every error code as a refusal. */
export const REFUSAL_OF: { readonly [code in ErrorCode]: RefusalKind } = {
  ERR_CONFIG: 'internal',
  ERR_FLOW_INVALID: 'internal',
  ERR_FLOW_UNKNOWN: 'internal',
  ERR_EXPRESSION: 'internal',
  ERR_TEMPLATE: 'internal',
  ERR_INPUT: 'bad-request',
  ERR_RECORD: 'internal',
  ERR_MACHINE: 'internal',
  ERR_TURN_LIMIT: 'internal',
  ERR_CONFLICT: 'conflict',
  ERR_EXISTS: 'conflict',
  ERR_NOT_FOUND: 'not-found',
  ERR_STORE: 'unavailable',
  ERR_TIMEOUT: 'unavailable',
  ERR_BUSY: 'unavailable',
  ERR_SERVICE: 'bad-gateway',
  ERR_SERVICE_UNKNOWN: 'internal',
  // The doors of the domain tell 403 and 409 apart by the reason.
  ERR_REFUSED: 'conflict',
  ERR_PIN: 'bad-request',
};

/** Thrown by a door to refuse a request; its `words` are ours and are shown. */
export class Refusal extends Error {
  override readonly name = 'Refusal' as const;
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, words: string = REFUSALS[kind].words) {
    super(words);
    this.kind = kind;
  }
}

export interface ErrorAnswer {
  readonly status: number;
  readonly body: { readonly error: string; readonly code: RefusalKind; readonly requestId: string };
}

/**
 * The answer to anything that was thrown. What it says comes from our tables, or from our own words about a request that
 * was wrong; `status`, `expose` and `message` of other errors never pass.
 */
export function errorAnswer(thrown: unknown, requestId: string): ErrorAnswer {
  const { kind, words } = refusalOf(thrown);
  return { status: REFUSALS[kind].status, body: { error: words, code: kind, requestId } };
}

function refusalOf(thrown: unknown): { kind: RefusalKind; words: string } {
  if (thrown instanceof Refusal) return { kind: thrown.kind, words: thrown.message };
  if (!(thrown instanceof TwinlineError)) return { kind: 'internal', words: REFUSALS.internal.words };
  const kind = REFUSAL_OF[thrown.code];
  return { kind, words: REFUSALS[kind].status < 500 ? thrown.message : REFUSALS[kind].words };
}

/** The exit code for a configuration that cannot be used: EX_CONFIG of sysexits.h. */
export const EXIT_CONFIG = 78;

/** Whether the one who runs the server must change something before it can start. */
export function isConfigError({ code }: TwinlineError): boolean {
  return code === 'ERR_CONFIG' || code === 'ERR_FLOW_INVALID' || code === 'ERR_FLOW_UNKNOWN';
}
