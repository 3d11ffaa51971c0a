// How much users may store. Anybody can make identities, so what each of them sends in a day is counted, and what all of them send to
// this process: of that, one address has a share, and half is for those who have sent something on an earlier day.

import { LRUCache } from 'lru-cache';
import { type Clock, settledTime } from '../../clock.ts';
import { growing } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import { keyedMutex } from '../../queue.ts';
import type { DocumentStore } from '../../store/store.ts';
import { update } from '../../store/update.ts';
import { SESSION, USAGE } from '../kinds.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { ChatSession, Sessions } from './session.ts';

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
  /** The first day on which the user has sent something. Missing in documents of earlier versions. */
  readonly since?: number;
};

export interface Sending {
  readonly owner: string;
  /** Of JSON. */
  readonly bytes: number;
  /** What stands for the address that it comes from. @default none: no address has a share of it */
  readonly client?: string | undefined;
}

export interface QuotaGuard {
  /** Counts what a user sends; throws ERR_QUOTA when it is too much, or what the store throws: then nothing is counted. */
  countBytes(sending: Sending): Promise<void>;
  /** Throws ERR_QUOTA when the user has as many sessions as one may have. */
  createSession(owner: string, sessions: Pick<Sessions, 'create' | 'forget'>): Promise<ChatSession>;
  /** Forgets users who have sent nothing for AGENT_LIMITS.knownUserDays, up to `limit`; how many. */
  sweep(limit: number): Promise<number>;
}

/** What was sent to this process on a day. */
interface Day {
  readonly day: number;
  bytes: number;
  /** By users who have sent nothing before this day. */
  newcomers: number;
  readonly clients: LRUCache<string, number>;
}

const DAY_MS = 86_400_000;

export function quotaGuard(
  { documents, clock }: { readonly documents: DocumentStore; readonly clock: Clock },
  { userBytesPerDay, bytesPerDay, sessionsPerUser }: Quotas,
): QuotaGuard {
  const clientBytesPerDay = Math.floor(bytesPerDay * AGENT_LIMITS.clientShare);
  const newcomerBytesPerDay = Math.floor(bytesPerDay * AGENT_LIMITS.newcomerShare);
  const begin = (day: number): Day => ({
    day,
    bytes: 0,
    newcomers: 0,
    clients: new LRUCache(growing(AGENT_LIMITS.clientsCounted)),
  });
  const creating = keyedMutex(AGENT_LIMITS.sessionsWaiting, 'new sessions of one user');
  const hasMore = async (owner: string, sessions: number) =>
    (await documents.count(SESSION, { index: 'owner', where: { owner } })) > sessions;
  let all = begin(Math.floor(clock.now() / DAY_MS));

  // Each count is raised before the next wait, so that messages of the same moment see each other; what it gives undoes that.
  function countForAll(counted: Day, { bytes, client }: Sending): () => void {
    if (counted.bytes + bytes > bytesPerDay)
      throw refuse(`All users together have sent the ${bytesPerDay} bytes of a day.`);
    const before = client === undefined ? 0 : (counted.clients.get(client) ?? 0);
    if (client !== undefined && before + bytes > clientBytesPerDay)
      throw refuse(`From your address, the ${clientBytesPerDay} bytes were sent that one address may send in a day.`);
    const add = (more: number) => {
      counted.bytes += more;
      if (client !== undefined) counted.clients.set(client, (counted.clients.get(client) ?? 0) + more);
    };
    add(bytes);
    return () => add(-bytes);
  }

  function countNewcomer(counted: Day, bytes: number): () => void {
    if (counted.newcomers + bytes > newcomerBytesPerDay)
      throw refuse(
        `Users who came today have sent the ${newcomerBytesPerDay} bytes that all of them may send in a day.`,
      );
    counted.newcomers += bytes;
    return () => {
      counted.newcomers -= bytes;
    };
  }

  /** `onNew` is called at most once, when the user has sent nothing before this day. */
  async function countForUser({ owner, bytes }: Sending, day: number, onNew: () => void): Promise<void> {
    let isCounted = false;
    const result = await update<DailyUsage>(documents, USAGE, owner, (usage) => {
      const before = usage?.day === day ? usage.bytes : 0;
      if (before + bytes > userBytesPerDay) return undefined;
      const since = usage?.since ?? usage?.day ?? day;
      if (since >= day && !isCounted) onNew();
      isCounted = true;
      return { day, bytes: before + bytes, since };
    });
    if (result.kind !== 'updated')
      throw refuse(`You have sent the ${userBytesPerDay} bytes that a user may send in a day.`);
  }

  return {
    async countBytes(sending) {
      const day = Math.floor(clock.now() / DAY_MS);
      if (all.day !== day) all = begin(day);
      const counted = all;
      const undo = [countForAll(counted, sending)];
      try {
        await countForUser(sending, day, () => void undo.push(countNewcomer(counted, sending.bytes)));
      } catch (error) {
        for (const one of undo) one();
        throw error;
      }
    },
    // Counted before, one request of a user at a time; and after, for other processes make sessions too.
    createSession: (owner, sessions) =>
      creating.run(owner, async () => {
        if (await hasMore(owner, sessionsPerUser - 1)) throw tooManySessions(sessionsPerUser);
        const made = await sessions.create(owner);
        if (!(await hasMore(owner, sessionsPerUser))) return made;
        await sessions.forget(made.sessionId);
        throw tooManySessions(sessionsPerUser);
      }),
    async sweep(limit) {
      const oldest = Math.floor(settledTime(clock) / DAY_MS) - AGENT_LIMITS.knownUserDays;
      const { items } = await documents.find<DailyUsage>(USAGE, {
        index: 'day',
        where: { day: { lt: oldest } },
        limit,
      });
      await Promise.all(items.map(({ id, revision }) => documents.remove(USAGE, id, revision)));
      return items.length;
    },
  };
}

function tooManySessions(most: number): TwinlineError {
  return new TwinlineError('ERR_QUOTA', `You have ${most} sessions, and a user may have no more. Delete some of them.`);
}

function refuse(message: string): TwinlineError {
  return new TwinlineError('ERR_QUOTA', `${message} Try again tomorrow (UTC).`);
}
