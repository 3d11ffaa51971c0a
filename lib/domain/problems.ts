// Refusals of the domain service: stable codes and their meaning.

import { COMMON_LIMITS } from '../common-limits.ts';
import { cutList, cutText, type Detail, TwinlineError } from '../errors.ts';
import type { JsonFlaw } from '../json/reader.ts';
import { DOMAIN_LIMITS } from './limits.ts';

/** Reason → title. Reasons are part of the interface: the `type` of a problem document ends with one. */
export const PROBLEMS = {
  'bad-request': { title: 'The request cannot be read' },
  'bad-cursor': { title: 'The cursor is damaged or belongs to another list' },
  'bad-filter': { title: 'The filter cannot be read' },
  'bad-limit': { title: 'The limit is out of range' },
  unauthorized: { title: 'An API key is needed' },
  'role-missing': { title: 'The API key does not have this role' },
  'not-controller': { title: 'Only the controller may do this' },
  'not-representative': { title: 'Only a representative may do this' },
  'not-eligible-voter': { title: 'This voter is not in the list of voters of the proposal' },
  recused: { title: 'Who controls a domain does not vote on it' },
  'not-proposer': { title: 'Only who made the proposal may do this' },
  'domain-not-verified': { title: 'Only verified domains take part' },
  'not-found': { title: 'There is no such thing' },
  'method-not-allowed': { title: 'This address does not take this method' },
  'not-acceptable': { title: 'No form that the client accepts' },
  'already-exists': { title: 'This name is taken' },
  'already-voted': { title: 'This voter has voted' },
  'proposal-not-open': { title: 'The proposal is not open' },
  'proposal-open': { title: 'A proposal of this kind is open' },
  'wrong-status': { title: 'The status does not allow this' },
  'no-electorate': { title: 'The rules leave nobody who could decide this' },
  'package-unchanged': { title: 'This package has been decided on' },
  'last-membership-group': { title: 'An organisation has at least one membership group' },
  'still-referenced': { title: 'Others point at this' },
  'in-progress': { title: 'The same request is being worked on' },
  'too-slow': { title: 'The request comes too slowly' },
  gone: { title: 'This was deactivated' },
  'revision-changed': { title: 'Somebody else was first' },
  'too-large': { title: 'The request is too large' },
  'unsupported-media-type': { title: 'This media type is not read here' },
  invalid: { title: 'The content breaks a rule' },
  'idempotency-mismatch': { title: 'The Idempotency-Key belongs to another request' },
  'test-failed': { title: 'A test of the patch does not hold' },
  'precondition-required': { title: 'If-Match is needed' },
} as const satisfies Record<string, { title: string }>;

/** The code of a refusal; see `PROBLEMS`. */
export type Reason = keyof typeof PROBLEMS;

/** Further parts of a refusal. */
export interface RefusalParts {
  readonly details?: readonly Detail[];
  readonly cause?: unknown;
}

/** Makes the error of a refusal; truncates long texts and lists. `message` says in one sentence what was tried, with which value, why it failed and what to do. */
export function refuse(reason: Reason, message: string, parts: RefusalParts = {}): TwinlineError {
  const allDetails = parts.details ?? [];
  const cut = allDetails.slice(0, COMMON_LIMITS.problemDetails).map(({ field, error }) => ({
    field: cutText(field, DOMAIN_LIMITS.problemFieldChars),
    error: cutText(error, DOMAIN_LIMITS.problemFieldChars),
  }));
  const details = cutList(cut, ({ field, error }) => field + error);
  const more = allDetails.length - details.length;
  const rest = more > 0 ? ` The list ends after ${details.length}; ${more} more are not in it.` : '';
  return new TwinlineError('ERR_REFUSED', cutText(message, DOMAIN_LIMITS.problemChars) + rest, {
    ...parts,
    reason,
    details,
  });
}

/** Makes the error of an invalid input, field by field. */
export function invalid(message: string, details: readonly Detail[]): TwinlineError {
  return refuse('invalid', message, { details });
}

/** Throws `too-large` for content that leaves no room in its document for what the service adds later. */
export function requireFits(content: object, what: string): void {
  const bytes = Buffer.byteLength(JSON.stringify(content));
  if (bytes <= DOMAIN_LIMITS.contentBytes) return;
  throw refuse('too-large', `${what} takes ${bytes} bytes to store; ${DOMAIN_LIMITS.contentBytes} are allowed.`);
}

/** Whether the error is a refusal (for the given reason, if any). */
export function isRefusal(error: unknown, reason?: Reason): error is TwinlineError {
  if (!(error instanceof TwinlineError) || error.code !== 'ERR_REFUSED') return false;
  return reason === undefined || error.reason === reason;
}

/** The refusal of `what` (such as "The body"): `invalid` names the place of a number, the rest is `bad-request`. */
export function refuseFlaw({ kind, words, pointer }: JsonFlaw, what: string): TwinlineError {
  if (kind !== 'number') return refuse('bad-request', `${what} ${words}.`);
  return invalid(`${what} ${words}.`, [{ field: pointer || '/', error: words.replace('has', 'is') }]);
}
