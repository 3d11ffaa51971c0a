// MongoDB errors: classification, retries and messages.

import { MongoError, MongoServerError } from 'mongodb';
import { systemClock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import { type Backoff, retryDelay } from '../../retry.ts';

const DUPLICATE = 11_000;
const WRITE_CONFLICT = 112;
/** About four seconds of retries. */
const CONFLICT_TRIES = 20;
const CONFLICT_BACKOFF: Backoff = { firstMs: 5, maxMs: 200, jitter: 0.5 };

/** The first match wins: error code or name → advice. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/\b(18|AuthenticationFailed)\b/, 'Check the user, the password and authSource in the URL.'],
  [/\b(13|Unauthorized)\b/, 'The user in the URL lacks permission: grant it the role readWrite on this database.'],
  [/MongoServerSelectionError/, 'Check that it is running there and has a primary; we keep retrying.'],
  [/WriteConcern/, 'It may still have been executed: too few members of the replica set answer.'],
  [
    /Network|PoolCleared|WaitQueue/,
    'It may still have been executed. Check whether MongoDB is overloaded or unreachable.',
  ],
  [/MongoCompatibilityError/, 'MongoDB 4.4 or newer is required.'],
];

/** A call timed out. */
class TooLate extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** Whether a write was refused because an id or unique value already exists. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE;
}

/**
 * Runs `write`, retrying on a write conflict, after which the server has written nothing and not every server retries by
 * itself. After 20 attempts, rejects with the server's error.
 */
export async function retryConflicts<T>(write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (error) {
      const isConflict = error instanceof MongoServerError && error.code === WRITE_CONFLICT;
      if (!isConflict || tries === CONFLICT_TRIES) throw error;
    }
    await systemClock.wait(retryDelay(tries, CONFLICT_BACKOFF));
  }
}

/** Whether the reply was lost or late: the work may be done, or still in progress. */
export function isLate(error: unknown): boolean {
  return error instanceof MongoError && /Network|PoolCleared|Interrupted|ExceededTimeLimit/.test(describeReason(error));
}

/** The error for an `action` that failed. Contains no data that was sent, and of the address only `name`. */
export function mongoRefusal(action: string, error: unknown, name: string): TwinlineError {
  if (error instanceof TwinlineError) return error;
  const reason = describeReason(error);
  const remedy = REMEDIES.find(([form]) => form.test(reason))?.[1] ?? 'Try again.';
  return new TwinlineError('ERR_STORE', `MongoDB ${name}: cannot ${action}: ${reason}. ${remedy}`);
}

// Not the error or its message: both quote commands with their values.
function describeReason(error: unknown): string {
  if (error instanceof MongoServerError) {
    const { code = 'unknown', codeName = '' } = error as { code?: unknown; codeName?: unknown };
    return `${error.name} ${code} ${codeName}`.trim();
  }
  if (error instanceof MongoError) return `${error.name}: ${error.message.replace(/\.$/, '')}`;
  if (error instanceof TooLate) return error.message;
  return error instanceof Error ? error.name : 'an unknown error';
}

// The driver has timeouts for each step, yet hangs forever when it writes to a socket that is being closed.
export function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate(ms)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
