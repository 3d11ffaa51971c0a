// The keys of sessions of phones in the store: those of simulated phones are apart from those of callers.

import { COMMON_LIMITS } from '../common-limits.ts';

/** How the keys of sessions of phones begin. */
export const KEY_PREFIX = 'ussd:';

/** Under which a session of a dialect is stored. */
export function ussdKey(dialect: string, sessionId: string): string {
  return `${KEY_PREFIX}${dialect}:${sessionId}`;
}

/** Under which that of a simulated phone is: names of dialects have no slash. */
export function simulatedKey(dialect: string, sessionId: string): string {
  return ussdKey(`simulated/${dialect}`, sessionId);
}

/** The id of a session, by its key. */
export function readSessionKey(key: string): string {
  return key.slice(key.indexOf(':', KEY_PREFIX.length) + 1);
}

/** The keys of an id in all dialects; an id that no store could keep has none. */
export function listKeys(dialects: readonly string[], sessionId: string, nameKey: typeof ussdKey): string[] {
  return dialects.map((dialect) => nameKey(dialect, sessionId)).filter((key) => key.length <= COMMON_LIMITS.keyChars);
}
