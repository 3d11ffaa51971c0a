// Tokens that count once: which were used, known to all processes until they expire on their own.

import type { Clock } from '../../clock.ts';
import type { DocumentStore } from '../../store/store.ts';
import { SPENT_TOKEN } from '../kinds.ts';

export interface SpentTokens {
  /**
   * False when it was spent before, by whichever process. `key` is that of its signed content, so that no other encoding
   * of a token is another token; `expiresAt` is in milliseconds since 1970.
   */
  spend(key: string, expiresAt: number): Promise<boolean>;
  /** Forgets what has expired; how many. */
  sweep(limit: number): Promise<number>;
}

/** With AGENT_KINDS declared. */
export function spentTokens({ documents, clock }: { documents: DocumentStore; clock: Clock }): SpentTokens {
  return {
    async spend(key, expiresAt) {
      return (await documents.insert(SPENT_TOKEN, key, { expiresAt })).kind === 'inserted';
    },
    async sweep(limit) {
      const where = { expiresAt: { lte: clock.now() } };
      const { items } = await documents.find(SPENT_TOKEN, { index: 'expiry', where, limit });
      await Promise.all(items.map(({ id, revision }) => documents.remove(SPENT_TOKEN, id, revision)));
      return items.length;
    },
  };
}
