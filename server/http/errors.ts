// Maps error codes and reasons to HTTP statuses and to messages that leak nothing.

import type { ResolutionCode } from '../../lib/domain/did/resolution-options.ts';
import { PROBLEMS, type Reason } from '../../lib/domain/problems.ts';
import { type Detail, type ErrorCode, TwinlineError } from '../../lib/errors.ts';

/** The refusals of doors with their HTTP status. */
export const REFUSALS = {
  'bad-request': { status: 400, words: 'Bad request' },
  unauthorized: { status: 401, words: 'Unauthorized' },
  'not-found': { status: 404, words: 'Not found' },
  'method-not-allowed': { status: 405, words: 'Method not allowed' },
  conflict: { status: 409, words: 'Conflict' },
  gone: { status: 410, words: 'Gone' },
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
  ERR_QUOTA: 'too-many-requests',
  ERR_BUSY: 'unavailable',
  ERR_SERVICE: 'bad-gateway',
  ERR_SERVICE_UNKNOWN: 'internal',
  // For reasons of the domain see REASON_STATUS.
  ERR_REFUSED: 'conflict',
  ERR_PIN: 'bad-request',
};

/** The status of each reason of the domain. */
export const REASON_STATUS: { readonly [reason in Reason]: number } = {
  'bad-request': 400,
  'bad-cursor': 400,
  'bad-filter': 400,
  'bad-limit': 400,
  unauthorized: 401,
  'role-missing': 403,
  'not-controller': 403,
  'not-representative': 403,
  'not-eligible-voter': 403,
  recused: 403,
  'not-proposer': 403,
  'domain-not-verified': 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'not-acceptable': 406,
  'already-exists': 409,
  'already-voted': 409,
  'proposal-not-open': 409,
  'proposal-open': 409,
  'wrong-status': 409,
  'no-electorate': 409,
  'package-unchanged': 409,
  'last-membership-group': 409,
  'still-referenced': 409,
  'in-progress': 409,
  'too-slow': 408,
  gone: 410,
  'revision-changed': 412,
  'too-large': 413,
  'unsupported-media-type': 415,
  invalid: 422,
  'idempotency-mismatch': 422,
  'test-failed': 422,
  'precondition-required': 428,
};

/** The status of every error of W3C DID Resolution. */
export const RESOLUTION_STATUS: { readonly [code in ResolutionCode]: number } = {
  INVALID_DID: 400,
  INVALID_DID_URL: 400,
  INVALID_OPTIONS: 400,
  NOT_FOUND: 404,
  REPRESENTATION_NOT_SUPPORTED: 406,
  INTERNAL_ERROR: 500,
  METHOD_NOT_SUPPORTED: 501,
  FEATURE_NOT_SUPPORTED: 501,
};

/** Thrown by a door to refuse a request; clients see its `words`. */
export class Refusal extends Error {
  override readonly name = 'Refusal' as const;
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, words: string = REFUSALS[kind].words) {
    super(words);
    this.kind = kind;
  }
}

/** An error as clients may see it. */
export interface ErrorDescription {
  readonly status: number;
  readonly kind: RefusalKind;
  /** The reason of the domain where it has one, else the kind. */
  readonly code: Reason | RefusalKind;
  /** The meaning of the code. */
  readonly title: string;
  /** Our own words about a bad request, else the title. `status`, `expose` and `message` of foreign errors are never used. */
  readonly message: string;
  readonly details: readonly Detail[];
}

/** Describes any thrown value for clients; each service formats it in its own way. */
export function describeError(thrown: unknown): ErrorDescription {
  if (thrown instanceof Refusal) {
    const { kind, message } = thrown;
    return { status: REFUSALS[kind].status, kind, code: kind, title: findTitle(kind), message, details: [] };
  }
  const kind = thrown instanceof TwinlineError ? REFUSAL_OF[thrown.code] : 'internal';
  const { status, words } = REFUSALS[kind];
  if (!(thrown instanceof TwinlineError) || status >= 500)
    return { status, kind, code: kind, title: words, message: words, details: [] };
  const { message, details, reason = '' } = thrown;
  if (thrown.code !== 'ERR_REFUSED' || !isReason(reason))
    return { status, kind, code: kind, title: findTitle(kind), message, details: [] };
  return { status: REASON_STATUS[reason], kind, code: reason, title: PROBLEMS[reason].title, message, details };
}

function findTitle(kind: RefusalKind): string {
  return isReason(kind) ? PROBLEMS[kind].title : REFUSALS[kind].words;
}

function isReason(name: string): name is Reason {
  return Object.hasOwn(PROBLEMS, name);
}

export interface ErrorAnswer {
  readonly status: number;
  readonly body: { readonly error: string; readonly code: RefusalKind; readonly requestId: string };
}

/** The error response of JSON doors without a format of their own. */
export function errorAnswer(thrown: unknown, requestId: string): ErrorAnswer {
  const { kind, message } = describeError(thrown);
  return { status: REFUSALS[kind].status, body: { error: message, code: kind, requestId } };
}

/** The exit code for a configuration that cannot be used: EX_CONFIG of sysexits.h. */
export const EXIT_CONFIG = 78;

/** Whether the operator must change the configuration before the server can start. */
export function isConfigError({ code }: TwinlineError): boolean {
  return code === 'ERR_CONFIG' || code === 'ERR_FLOW_INVALID' || code === 'ERR_FLOW_UNKNOWN';
}
