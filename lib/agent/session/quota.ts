// How much users may store. Anybody can make an identity, so what each of them sends in a day is counted, and what all of them
// send to this process.

import type { Clock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import type { DocumentStore, JsonObject } from '../../store/store.ts';
import { update } from '../../store/update.ts';
import { SESSION, USAGE } from '../kinds.ts';

export interface Quotas {
  /** Bytes of JSON that one user may send in a day (UTC), through all processes of a store. */
  readonly userBytesPerDay: number;
  /** Bytes of JSON that all users may send to this process in a day. */
  readonly bytesPerDay: number;
  readonly sessionsPerUser: number;
}

/** What its document holds; its id is the user's DID. */
export type DailyUsage = JsonObject & {
  /** Whole days since 1970. */
  readonly day: number;
  readonly bytes: number;
};

export interface QuotaGuard {
  /** Counts what a user sends; throws ERR_QUOTA when it is too much, or what the store throws: then nothing is counted. */
  countBytes(owner: string, bytes: number): Promise<void>;
  /** Throws ERR_QUOTA when the user has as many sessions as one may have. */
  requireSession(owner: string): Promise<void>;
  /** Forgets the counts of earlier days, up to `limit`; how many. */
  sweep(limit: number): Promise<number>;
}

const DAY_MS = 86_400_000;

export function quotaGuard(
  { documents, clock }: { readonly documents: DocumentStore; readonly clock: Clock },
  { userBytesPerDay, bytesPerDay, sessionsPerUser }: Quotas,
): QuotaGuard {
  const today = () => Math.floor(clock.now() / DAY_MS);
  let all = { day: today(), bytes: 0 };

  async function countForUser(owner: string, bytes: number, day: number): Promise<void> {
    const result = await update<DailyUsage>(documents, USAGE, owner, (usage) => {
      const before = usage?.day === day ? usage.bytes : 0;
      return before + bytes > userBytesPerDay ? undefined : { day, bytes: before + bytes };
    });
    if (result.kind === 'updated') return;
    throw refuse(`You have sent the ${userBytesPerDay} bytes that a user may send in a day. Try again tomorrow (UTC).`);
  }

  return {
    async countBytes(owner, bytes) {
      const day = today();
      if (all.day !== day) all = { day, bytes: 0 };
      if (all.bytes + bytes > bytesPerDay)
        throw refuse(`All users together have sent the ${bytesPerDay} bytes of a day. Try again tomorrow (UTC).`);
      const counted = all;
      // Before the wait, so that messages of the same moment see each other.
      counted.bytes += bytes;
      try {
        await countForUser(owner, bytes, day);
      } catch (error) {
        counted.bytes -= bytes;
        throw error;
      }
    },
    async requireSession(owner) {
      if ((await documents.count(SESSION, { index: 'owner', where: { owner } })) < sessionsPerUser) return;
      throw refuse(`You have ${sessionsPerUser} sessions, and a user may have no more. Delete some of them.`);
    },
    async sweep(limit) {
      const { items } = await documents.find<DailyUsage>(USAGE, {
        index: 'day',
        where: { day: { lt: today() } },
        limit,
      });
      await Promise.all(items.map(({ id, revision }) => documents.remove(USAGE, id, revision)));
      return items.length;
    },
  };
}

function refuse(message: string): TwinlineError {
  return new TwinlineError('ERR_QUOTA', message);
}
