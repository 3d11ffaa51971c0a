// The problems that the domain service answers with: a stable code, its HTTP status and its title.

import { cutList, cutText, type Detail, TwinlineError } from '../errors.ts';
import type { JsonFlaw } from '../json/reader.ts';
import { SHARED_LIMITS } from '../shared-limits.ts';
import { DOMAIN_LIMITS } from './limits.ts';

/** Reason → status and title. The words are part of the interface: they end the `type` of a problem document. */
export const PROBLEMS = {
  'bad-request': { status: 400, title: 'The request cannot be read' },
  'bad-cursor': { status: 400, title: 'The cursor is damaged or belongs to another list' },
  'bad-filter': { status: 400, title: 'The filter cannot be read' },
  'bad-limit': { status: 400, title: 'The limit is out of range' },
  unauthorized: { status: 401, title: 'An API key is needed' },
  'role-missing': { status: 403, title: 'The API key does not have this role' },
  'not-controller': { status: 403, title: 'Only the controller may do this' },
  'not-representative': { status: 403, title: 'Only a representative may do this' },
  'not-eligible-voter': { status: 403, title: 'This voter is not in the list of voters of the proposal' },
  recused: { status: 403, title: 'Who controls a domain does not vote on it' },
  'not-proposer': { status: 403, title: 'Only who made the proposal may do this' },
  'domain-not-verified': { status: 403, title: 'Only verified domains take part' },
  'not-found': { status: 404, title: 'There is no such thing' },
  'method-not-allowed': { status: 405, title: 'This address does not take this method' },
  'not-acceptable': { status: 406, title: 'No form that the client accepts' },
  'already-exists': { status: 409, title: 'This name is taken' },
  'already-voted': { status: 409, title: 'This voter has voted' },
  'proposal-not-open': { status: 409, title: 'The proposal is not open' },
  'proposal-open': { status: 409, title: 'A proposal of this kind is open' },
  'wrong-status': { status: 409, title: 'The status does not allow this' },
  'no-electorate': { status: 409, title: 'The rules leave nobody who could decide this' },
  'package-unchanged': { status: 409, title: 'This package has been decided on' },
  'last-membership-group': { status: 409, title: 'An organisation has at least one membership group' },
  'still-referenced': { status: 409, title: 'Others point at this' },
  'in-progress': { status: 409, title: 'The same request is being worked on' },
  'too-slow': { status: 408, title: 'The request comes too slowly' },
  gone: { status: 410, title: 'This was deactivated' },
  'revision-changed': { status: 412, title: 'Somebody else was first' },
  'too-large': { status: 413, title: 'The request is too large' },
  'unsupported-media-type': { status: 415, title: 'This media type is not read here' },
  invalid: { status: 422, title: 'The content breaks a rule' },
  'idempotency-mismatch': { status: 422, title: 'The Idempotency-Key belongs to another request' },
  'test-failed': { status: 422, title: 'A test of the patch does not hold' },
  'precondition-required': { status: 428, title: 'If-Match is needed' },
} as const satisfies Record<string, { status: number; title: string }>;

export type Reason = keyof typeof PROBLEMS;

/** What a refusal says besides its reason. */
export interface RefusalParts {
  readonly details?: readonly Detail[];
  readonly cause?: unknown;
}

/** The error of a refusal; long texts are cut, and long lists of details. `message` is one sentence: what was tried, with which value, why not, what to do. */
export function refuse(reason: Reason, message: string, parts: RefusalParts = {}): TwinlineError {
  const given = parts.details ?? [];
  const cut = given.slice(0, SHARED_LIMITS.problemDetails).map(({ field, error }) => ({
    field: cutText(field, DOMAIN_LIMITS.problemFieldChars),
    error: cutText(error, DOMAIN_LIMITS.problemFieldChars),
  }));
  const details = cutList(cut, ({ field, error }) => field + error);
  const more = given.length - details.length;
  const rest = more > 0 ? ` The list ends after ${details.length}; ${more} more are not in it.` : '';
  return new TwinlineError('ERR_REFUSED', cutText(message, DOMAIN_LIMITS.problemChars) + rest, {
    ...parts,
    reason,
    details,
  });
}

/** The error of an input that breaks the rules of its schema or of the domain, field by field. */
export function invalid(message: string, details: readonly Detail[]): TwinlineError {
  return refuse('invalid', message, { details });
}

/** Throws `too-large` for what would leave no room in its document for what the service adds to it later. */
export function requireFits(content: object, what: string): void {
  const bytes = Buffer.byteLength(JSON.stringify(content));
  if (bytes <= DOMAIN_LIMITS.contentBytes) return;
  throw refuse('too-large', `${what} takes ${bytes} bytes to store; ${DOMAIN_LIMITS.contentBytes} are allowed.`);
}

/** Whether this error is a refusal, for this reason when one is given. */
export function isRefusal(error: unknown, reason?: Reason): error is TwinlineError {
  if (!(error instanceof TwinlineError) || error.code !== 'ERR_REFUSED') return false;
  return reason === undefined || error.reason === reason;
}

/** The refusal of `what` (such as "The body"): `invalid` names the place of a number, the rest is `bad-request`. */
export function refuseFlaw({ kind, words, pointer }: JsonFlaw, what: string): TwinlineError {
  if (kind !== 'number') return refuse('bad-request', `${what} ${words}.`);
  return invalid(`${what} ${words}.`, [{ field: pointer || '/', error: words.replace('has', 'is') }]);
}
