// What callers hand to a store, checked alike by every backend: keys, ids, limits, moments.

import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';

/** The latest moment that a Date can hold, in milliseconds. */
export const LAST_MOMENT = 8.64e15;

// ES2024, in every Node that we run on; the compiler's library is one edition behind.
type Es2024String = string & { isWellFormed(): boolean };

/** Whether every surrogate of `text` has its pair, so that UTF-8 can carry it without loss. */
export function isWellFormed(text: string): boolean {
  return (text as Es2024String).isWellFormed();
}

/**
 * Throws ERR_INPUT unless `key` is 1 to COMMON_LIMITS.keyChars characters of well-formed text.
 * @example
 * checkKey('order-1');
 * checkKey(''); // throws ERR_INPUT
 */
export function checkKey(key: string, what = 'session key'): void {
  const isText = typeof key === 'string';
  if (isText && key.length > 0 && key.length <= COMMON_LIMITS.keyChars && isWellFormed(key)) return;
  const fault = !isText
    ? `the type ${typeof key}`
    : isWellFormed(key)
      ? `${key.length} characters`
      : 'half a surrogate pair';
  throw new TwinlineError(
    'ERR_INPUT',
    `A ${what} must be 1 to ${COMMON_LIMITS.keyChars} characters of well-formed text; this one has ${fault}. Shorten or hash it.`,
  );
}

/**
 * Throws ERR_INPUT unless `limit` is a whole number from 1 to `max`, which is Number.MAX_SAFE_INTEGER when it is left out. `find` of
 * documents and `read` of logs take at most LIMITS.pageSizeMax.
 * @example
 * checkLimit(100);
 * checkLimit(0); // throws ERR_INPUT
 */
export function checkLimit(limit: number, max: number = Number.MAX_SAFE_INTEGER): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= max) return;
  throw new TwinlineError('ERR_INPUT', `A limit must be a whole number from 1 to ${max}; it was ${limit}.`);
}

/**
 * The error of every call on a store after `close`.
 * @example
 * closedError('tickets').code; // → 'ERR_STORE'
 */
export function closedError(store: string): TwinlineError {
  return new TwinlineError('ERR_STORE', `The ${store} store is closed. Open it again before use.`, {
    reason: 'closed',
  });
}
