// What MongoDB refuses, does not answer, or could not do at this moment: what it means, and the words for it.

import { MongoError, MongoServerError } from 'mongodb';
import { systemClock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import { type Backoff, retryDelay } from '../../retry.ts';

const DUPLICATE = 11_000;
const WRITE_CONFLICT = 112;
/** About four seconds of tries. */
const CONFLICT_TRIES = 20;
const CONFLICT_BACKOFF: Backoff = { firstMs: 5, maxMs: 200, jitter: 0.5 };

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
class TooLate extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** Whether the server refused a write because an id or a unique value is taken. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE;
}

/**
 * Gives what `write` gives, and tries again when another write of the same row or unique value came at the same moment:
 * the server has written nothing then, and not every server tries again by itself. After 20 tries it is the server's error.
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

/** Whether the answer was lost or late: the work may be done, or still be under way. */
export function isLate(error: unknown): boolean {
  return error instanceof MongoError && /Network|PoolCleared|Interrupted|ExceededTimeLimit/.test(describeReason(error));
}

/** The error for an `action` that was refused. Holds nothing of what was sent, and of the address only `name`. */
export function mongoRefusal(action: string, error: unknown, name: string): TwinlineError {
  if (error instanceof TwinlineError) return error;
  const reason = describeReason(error);
  const remedy = REMEDIES.find(([form]) => form.test(reason))?.[1] ?? 'Try again.';
  return new TwinlineError('ERR_STORE', `MongoDB ${name}: cannot ${action}: ${reason}. ${remedy}`);
}

// Not the error itself, nor what the server says: both quote commands with their values.
function describeReason(error: unknown): string {
  if (error instanceof MongoServerError) {
    const { code = 'unknown', codeName = '' } = error as { code?: unknown; codeName?: unknown };
    return `${error.name} ${code} ${codeName}`.trim();
  }
  if (error instanceof MongoError) return `${error.name}: ${error.message.replace(/\.$/, '')}`;
  if (error instanceof TooLate) return error.message;
  return error instanceof Error ? error.name : 'an unknown error';
}

// The driver bounds each of its steps, and yet waits for ever when it writes to a socket that is being closed.
export function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate(ms)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
