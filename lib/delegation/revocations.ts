// What was revoked: kept by signed content, so that no other encoding of a token brings it back.

import type { DocumentStore } from '../store/store.ts';
import { REVOCATION } from './kinds.ts';

export interface Revocations {
  /** Whether any of these keys was revoked, by whichever instance. */
  has(keys: readonly string[]): Promise<boolean>;
  /** Revokes the keys; `expiresAt` (milliseconds since 1970) is when nobody could use them any more. Again: harmless. */
  add(keys: readonly string[], expiresAt: number): Promise<void>;
  /** Forgets what has expired on its own; how many. */
  sweep(now: number, limit: number): Promise<number>;
}

export function revocations({ documents }: { documents: DocumentStore }): Revocations {
  return {
    has: async (keys) => (await Promise.all(keys.map((key) => documents.get(REVOCATION, key)))).some(Boolean),
    add: async (keys, expiresAt) =>
      void (await Promise.all(keys.map((key) => documents.insert(REVOCATION, key, { expiresAt })))),
    async sweep(now, limit) {
      const where = { expiresAt: { lte: now } };
      const { items } = await documents.find(REVOCATION, { index: 'expiry', where, limit });
      await Promise.all(items.map(({ id, revision }) => documents.remove(REVOCATION, id, revision)));
      return items.length;
    },
  };
}
