// What MongoDB and its driver refuse with, as ERR_STORE with a remedy.

import { MongoError, MongoServerError } from 'mongodb';
import { TwinlineError } from '../../errors.ts';

const DUPLICATE = 11_000;
const CONFLICT = 112;

/** First match wins: code or name of the refusal → what to do. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/\b(18|AuthenticationFailed)\b/, 'Check the user, the password and authSource in the URL.'],
  [/\b(13|Unauthorized)\b/, 'The user of the URL may not do this: give it the role readWrite on this database.'],
  [/MongoServerSelectionError/, 'See whether it runs there and has a primary; we keep trying.'],
  [/WriteConcern/, 'It may have been done nevertheless: too few members of the replica set answer.'],
  [
    /Network|PoolCleared|WaitQueue/,
    'It may have been done nevertheless. See whether MongoDB is overloaded or unreachable.',
  ],
  [/MongoCompatibilityError/, 'MongoDB 4.4 or newer is needed.'],
];

/** A call was given up. */
export class TooLate extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** Whether the server refused a write because an id or a unique value is taken. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE;
}

/** Whether the server refused writes because others wrote the same documents. (MongoDB itself tries again; others say so.) */
export function isConflict(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === CONFLICT;
}

/** Whether the answer was lost or late: the work may be done, or still be under way. */
export function isLate(error: unknown): boolean {
  return error instanceof MongoError && /Network|PoolCleared|Interrupted|ExceededTimeLimit/.test(reasonOf(error));
}

/** The error for an `action` that was refused. Holds nothing of what was sent, and of the address only `name`. */
export function mongoRefusal(action: string, error: unknown, name: string): TwinlineError {
  if (error instanceof TwinlineError) return error;
  const reason = reasonOf(error);
  const remedy = REMEDIES.find(([form]) => form.test(reason))?.[1] ?? 'Try again.';
  return new TwinlineError('ERR_STORE', `MongoDB ${name}: cannot ${action}: ${reason}. ${remedy}`);
}

// Not the error itself, nor what the server says: both quote commands with their values.
function reasonOf(error: unknown): string {
  if (error instanceof MongoServerError) {
    const { code = 'unknown', codeName = '' } = error as { code?: unknown; codeName?: unknown };
    return `${error.name} ${code} ${codeName}`.trim();
  }
  if (error instanceof MongoError) return `${error.name}: ${error.message.replace(/\.$/, '')}`;
  if (error instanceof TooLate) return error.message;
  return error instanceof Error ? error.name : 'an unknown error';
}
