// The list of revoked tokens, which counts on every instance.

import { requireGiven } from '../given.ts';
import type { DocumentStore, Kind } from '../store/store.ts';

/** Revocations, keyed by a hash of the signed content; kept until the token would have expired. */
export const REVOCATION: Kind = { name: 'revocation', indexes: { expiry: { fields: ['expiresAt'] } } };

/** The list of revoked tokens. */
export interface Revocations {
  /** Whether any of these keys was revoked, on any instance. */
  has(keys: readonly string[]): Promise<boolean>;
  /** Revokes the keys. `expiresAt` (milliseconds since 1970) is the token's own expiry. Idempotent. */
  add(keys: readonly string[], expiresAt: number): Promise<void>;
  /** Deletes up to `limit` entries that expired by `before` (milliseconds since 1970); returns how many. */
  sweep(before: number, limit: number): Promise<number>;
}

/**
 * Opens the revocations over a store of documents.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(DELEGATION_KINDS);
 * const revoked = revocations({ documents });
 * await revoked.add(['token-1'], Date.now() + 60_000);
 * await revoked.has(['token-1']); // → true
 */
export function revocations(options: { documents: DocumentStore }): Revocations {
  requireGiven('keep revocations', options, { documents: 'documents' });
  const { documents } = options;
  return {
    has: async (keys) => (await Promise.all(keys.map((key) => documents.get(REVOCATION, key)))).some(Boolean),
    add: async (keys, expiresAt) =>
      void (await Promise.all(keys.map((key) => documents.insert(REVOCATION, key, { expiresAt })))),
    async sweep(before, limit) {
      const where = { expiresAt: { lte: before } };
      const { items } = await documents.find(REVOCATION, { index: 'expiry', where, limit });
      await Promise.all(items.map(({ id, revision }) => documents.remove(REVOCATION, id, revision)));
      return items.length;
    },
  };
}
