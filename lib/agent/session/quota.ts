// Quotas. Anyone can create identities, so we count the daily bytes of each user and of all users of this process; of the
// latter, one address gets a share, and half is reserved for users known from an earlier day.

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
  /** Bytes of JSON that one user may send per day (UTC), across all processes on a store. */
  readonly userBytesPerDay: number;
  /** Bytes of JSON that all users may send to this process per day. */
  readonly bytesPerDay: number;
  readonly sessionsPerUser: number;
}

/** The document of a user's usage; its id is the user's DID. */
export type DailyUsage = JsonObject & {
  /** Whole days since 1970. */
  readonly day: number;
  readonly bytes: number;
  /** The first day on which the user sent something. Absent in documents of earlier versions. */
  readonly since?: number;
};

export interface Sending {
  readonly owner: string;
  /** Bytes of JSON. */
  readonly bytes: number;
  /** A stand-in for the client address. @default none: no address share applies */
  readonly client?: string | undefined;
}

export interface QuotaGuard {
  /** Counts a message. Throws ERR_QUOTA when it exceeds a quota, or the store's error; in either case nothing is counted. */
  countBytes(sending: Sending): Promise<void>;
  /** Throws ERR_QUOTA when the user has reached the maximum number of sessions. */
  createSession(owner: string, sessions: Pick<Sessions, 'create' | 'forget'>): Promise<ChatSession>;
  /** Deletes users inactive for AGENT_LIMITS.knownUserDays, up to `limit`; returns how many. */
  sweep(limit: number): Promise<number>;
}

/** Bytes sent to this process on a day. */
interface Day {
  readonly day: number;
  bytes: number;
  /** Bytes from users who sent nothing before this day. */
  newcomers: number;
  readonly clients: LRUCache<string, number>;
}

const DAY_MS = 86_400_000;

export function quotaGuard(
  { documents, clock }: { readonly documents: DocumentStore; readonly clock: Clock },
  quotas: Quotas,
): QuotaGuard {
  const { userBytesPerDay, sessionsPerUser } = quotas;
  const countShared = sharedCounter(quotas, clock);
  const creating = keyedMutex(AGENT_LIMITS.sessionsWaiting, 'new sessions of one user');
  const hasMore = async (owner: string, sessions: number) =>
    (await documents.count(SESSION, { index: 'owner', where: { owner } })) > sessions;

  /** Calls `onNew` at most once, when the user sent nothing before this day. */
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
    if (result.kind !== 'updated') throw refuse(`You have reached your daily quota of ${userBytesPerDay} bytes.`);
  }

  return {
    async countBytes(sending) {
      const shared = countShared(sending);
      const undo = [shared.undo];
      try {
        await countForUser(sending, shared.day, () => void undo.push(shared.countNewcomer()));
      } catch (error) {
        for (const one of undo) one();
        throw error;
      }
    },
    // Counted before creation, serialised per user, and again after it, because other processes create sessions too.
    createSession: (owner, sessions) =>
      creating.run(owner, async () => {
        if (await hasMore(owner, sessionsPerUser - 1)) throw tooManySessions(sessionsPerUser);
        const session = await sessions.create(owner);
        if (!(await hasMore(owner, sessionsPerUser))) return session;
        await sessions.forget(session.sessionId);
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

/**
 * Counts what all users together, one address, and newcomers send in a day. Counts are raised before the next await, so that
 * concurrent messages see each other; what is returned undoes them.
 */
function sharedCounter({ bytesPerDay }: Quotas, clock: Clock) {
  const clientBytesPerDay = Math.floor(bytesPerDay * AGENT_LIMITS.clientShare);
  const newcomerBytesPerDay = Math.floor(bytesPerDay * AGENT_LIMITS.newcomerShare);
  let current: Day | undefined;

  function findToday(): Day {
    const day = Math.floor(clock.now() / DAY_MS);
    if (current?.day !== day)
      current = { day, bytes: 0, newcomers: 0, clients: new LRUCache(growing(AGENT_LIMITS.clientsCounted)) };
    return current;
  }

  function countNewcomer(today: Day, bytes: number): () => void {
    if (today.newcomers + bytes > newcomerBytesPerDay)
      throw refuse(`New users have reached their common daily quota of ${newcomerBytesPerDay} bytes.`);
    today.newcomers += bytes;
    return () => {
      today.newcomers -= bytes;
    };
  }

  return ({ bytes, client }: Sending) => {
    const today = findToday();
    if (today.bytes + bytes > bytesPerDay)
      throw refuse(`All users together have reached the daily quota of ${bytesPerDay} bytes.`);
    const sentBefore = client === undefined ? 0 : (today.clients.get(client) ?? 0);
    if (client !== undefined && sentBefore + bytes > clientBytesPerDay)
      throw refuse(`Your address has reached its daily quota of ${clientBytesPerDay} bytes.`);
    const add = (more: number) => {
      today.bytes += more;
      if (client !== undefined) today.clients.set(client, (today.clients.get(client) ?? 0) + more);
    };
    add(bytes);
    return { day: today.day, undo: () => add(-bytes), countNewcomer: () => countNewcomer(today, bytes) };
  };
}

function tooManySessions(most: number): TwinlineError {
  return new TwinlineError('ERR_QUOTA', `You have reached the limit of ${most} sessions. Delete some of them.`);
}

function refuse(message: string): TwinlineError {
  return new TwinlineError('ERR_QUOTA', `${message} Try again tomorrow (UTC).`);
}
