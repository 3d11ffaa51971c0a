// Store keys of phone sessions. Sessions of simulated phones are kept apart from callers' sessions.

import { COMMON_LIMITS } from '../common-limits.ts';

/** Prefix of all these keys. */
export const KEY_PREFIX = 'ussd:';

/** The key of a session of a dialect. */
export function ussdKey(dialect: string, sessionId: string): string {
  return `${KEY_PREFIX}${dialect}:${sessionId}`;
}

/** The key of a simulated phone's session; dialect names never contain a slash. */
export function simulatedKey(dialect: string, sessionId: string): string {
  return ussdKey(`simulated/${dialect}`, sessionId);
}

/** Whether this is the key of a simulated phone's session. */
export const isSimulatedKey = (key: string): boolean => key.startsWith(`${KEY_PREFIX}simulated/`);

/** The session id in a key. */
export function readSessionKey(key: string): string {
  return key.slice(key.indexOf(':', KEY_PREFIX.length) + 1);
}

/** The keys of a session id in all dialects; none for an id too long to be stored. */
export function listKeys(dialects: readonly string[], sessionId: string, nameKey: typeof ussdKey): string[] {
  return dialects.map((dialect) => nameKey(dialect, sessionId)).filter((key) => key.length <= COMMON_LIMITS.keyChars);
}
