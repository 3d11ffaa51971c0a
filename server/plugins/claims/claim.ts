// Claims as they are stored: submitted by users, read by who submitted them, evaluated once.

import { createHash, randomUUID } from 'node:crypto';
import type { JsonObject, Kind, StoredDocument } from '../../../lib/store/store.ts';
import type { PluginHost } from '../plugin.ts';

export type ClaimStatus = 'pending' | 'approved' | 'rejected' | 'failed';

/** What its document holds. Times are milliseconds since 1970. */
export type StoredClaim = JsonObject & {
  readonly did: string;
  readonly collection: string;
  readonly data: JsonObject;
  readonly status: ClaimStatus;
  /** Why it was rejected, or failed. */
  readonly reason: string | null;
  readonly submitted: number;
  readonly evaluated: number | null;
  readonly tries: number;
  /** When it is due; null once it is decided. Moved ahead while a process evaluates it. */
  readonly dueAt: number | null;
};

export type Claim = StoredDocument<StoredClaim>;

export const CLAIM: Kind = {
  name: 'plugin-claims-claim',
  indexes: { user: { fields: ['did', 'submitted'] }, due: { fields: ['dueAt'] } },
};

const LISTED = 100;

export function claims({ documents, clock }: Pick<PluginHost, 'documents' | 'clock'>) {
  return {
    /** Submits a claim; of one `key` of a user there is one. */
    async submit(
      did: string,
      { collection, data, key }: { collection: string; data: JsonObject; key?: string },
    ): Promise<Claim> {
      const now = clock.now();
      const body: StoredClaim = {
        did,
        collection,
        data,
        status: 'pending',
        reason: null,
        submitted: now,
        evaluated: null,
        tries: 0,
        dueAt: now,
      };
      const id = key === undefined ? randomUUID() : idOf(did, key);
      const inserted = await documents.insert(CLAIM, id, body);
      return inserted.kind === 'inserted' ? inserted : (await documents.get<StoredClaim>(CLAIM, id))!;
    },

    /** The newest of a user. */
    list: async (did: string): Promise<Claim[]> =>
      (await documents.find<StoredClaim>(CLAIM, { index: 'user', where: { did }, descending: true, limit: LISTED }))
        .items,

    /** Undefined unless it is the user's. */
    async get(did: string, id: string): Promise<Claim | undefined> {
      const found = id.length <= 64 ? await documents.get<StoredClaim>(CLAIM, id) : undefined;
      return found?.body.did === did ? found : undefined;
    },
  };
}

function idOf(did: string, key: string): string {
  return createHash('sha256')
    .update(JSON.stringify([did, key]))
    .digest('hex')
    .slice(0, 32);
}
