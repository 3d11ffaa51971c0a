// Tracks who is connected with a token, and disconnects them when any instance revokes it or it expires. Covers stream
// readers too: a stream may outlive its token, for as long as its run, because clients rejoin with the token they started
// with.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'socket.io';
import type { Clock } from '../../lib/clock.ts';
import type { Channel } from '../../lib/store/channel.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import type { AgentUser, TokenLife } from '../user/authenticate.ts';

/** Why a guest has to go: its tokens have expired, and with a new one it may come back; or it is not welcome any more. */
export type RemovalReason = 'expired' | 'unwelcome';

/** A socket or stream reader. */
export interface Guest {
  /** Those it was admitted with and that were not revoked since; it stays as long as one of them counts. */
  tokens: readonly TokenLife[];
  sendAway(ending: RemovalReason): void;
}

export interface LeavingOptions<One extends Guest> {
  readonly channel: Channel;
  readonly clock: Clock;
  /** Called for each guest on arrival, and then at least every SERVER_LIMITS.socketCheckMs. */
  readonly findEnding: (guest: One) => Promise<RemovalReason | undefined>;
  /** Milliseconds until the next check is due; at least LOOK_LEAST_MS. */
  readonly nextLookMs: (guest: One) => number;
  readonly onProblem: (error: unknown) => void;
}

export interface Leaving<One extends Guest> {
  /** Watches a guest until the returned function is called. */
  watch(guest: One): () => void;
  /** Disconnects every guest, on every instance, all of whose tokens have one of these keys. */
  revoke(keys: readonly string[]): void;
  close(): void;
}

const TOPIC = 'sockets/revoked';

const LOOK_LEAST_MS = 100;

/** Subscribes to revocations. */
export async function openLeaving<One extends Guest>(options: LeavingOptions<One>): Promise<Leaving<One>> {
  const { channel, clock, findEnding, nextLookMs, onProblem } = options;
  /** All guests of this instance and their next check, by `clock.monotonic`. One timer for all, as there may be 10,000. */
  const dueAt = new Map<One, number>();
  let next = Infinity;
  let waiting = new AbortController();
  let isClosed = false;

  // The first check runs once the guest is listed: earlier revocations are in the store, later ones arrive as messages.
  async function look(guest: One): Promise<void> {
    dueAt.set(guest, Infinity);
    try {
      const ending = await findEnding(guest);
      if (ending) guest.sendAway(ending);
    } catch (error) {
      // A store failure disconnects nobody; the next check decides.
      onProblem(error);
    }
    if (!dueAt.has(guest)) return;
    const at = clock.monotonic() + Math.min(Math.max(nextLookMs(guest), LOOK_LEAST_MS), SERVER_LIMITS.socketCheckMs);
    dueAt.set(guest, at);
    if (at < next) waiting.abort();
  }

  async function lookInTime(): Promise<void> {
    while (!isClosed) {
      const now = clock.monotonic();
      next = now + SERVER_LIMITS.socketCheckMs;
      for (const [guest, at] of dueAt) {
        if (at <= now) void look(guest);
        else if (at < next) next = at;
      }
      waiting = new AbortController();
      await clock.wait(Math.max(next - now, LOOK_LEAST_MS), waiting.signal);
    }
  }

  function sendAwayAll(keys: readonly string[]): void {
    for (const guest of [...dueAt.keys()]) {
      guest.tokens = guest.tokens.filter((token) => !token.keys.some((key) => keys.includes(key)));
      if (!guest.tokens.length) guest.sendAway('unwelcome');
    }
  }

  const unsubscribe = await channel.subscribe(TOPIC, {
    onMessage: (message) => sendAwayAll(JSON.parse(message) as string[]),
    onGap: () => void Promise.all([...dueAt.keys()].map(look)),
  });
  void lookInTime();
  return {
    watch(guest) {
      void look(guest);
      return () => void dueAt.delete(guest);
    },
    revoke(keys) {
      sendAwayAll(keys);
      // An instance that misses this message notices within SERVER_LIMITS.socketCheckMs by its own check.
      channel.publish(TOPIC, JSON.stringify(keys)).catch(onProblem);
    },
    close() {
      isClosed = true;
      waiting.abort();
      unsubscribe();
    },
  };
}

export interface Member extends Guest {
  readonly socket: Socket;
  readonly user: Pick<AgentUser, 'did'>;
  /** The session of the handshake. */
  readonly session: string;
  /** All sessions the socket is subscribed to. */
  readonly sessions: Set<string>;
}

/** State that another instance needs when a client reconnects: no token, no keys. */
export interface KeptState {
  readonly did: string;
  readonly sessions: readonly string[];
}

/** The room for the events of a session. Socket ids contain no slash, so the two cannot collide. */
export const nameRoom = (session: string) => `session/${session}`;

/** The members of this instance, by user. */
export interface Members {
  add(member: Member): void;
  remove(member: Member): void;
  of(did: string): ReadonlySet<Member>;
}

const NOBODY: ReadonlySet<Member> = new Set();

export function newMembers(): Members {
  const byUser = new Map<string, Set<Member>>();
  return {
    add(member) {
      const { did } = member.user;
      byUser.set(did, (byUser.get(did) ?? new Set()).add(member));
    },
    remove(member) {
      const { did } = member.user;
      const mine = byUser.get(did);
      mine?.delete(member);
      if (mine?.size === 0) byUser.delete(did);
    },
    of: (did) => byUser.get(did) ?? NOBODY,
  };
}

export interface ReadersOptions {
  readonly channel: Channel;
  readonly clock: Clock;
  readonly isRevoked: (keys: readonly string[]) => Promise<boolean>;
  readonly onProblem: (error: unknown) => void;
}

export interface Readers {
  /** Returns a signal that aborts when any instance revokes the reader's token; forgets the reader when the response closes. */
  admit(user: TokenLife, res: ServerResponse): AbortSignal;
  close(): void;
}

/** Subscribes to revocations. */
export async function openReaders({ channel, clock, isRevoked, onProblem }: ReadersOptions): Promise<Readers> {
  const leaving = await openLeaving({
    ...{ channel, clock, onProblem },
    findEnding: async ({ tokens: [token] }: Guest) =>
      token && (await isRevoked(token.keys)) ? 'unwelcome' : undefined,
    nextLookMs: () => Number.POSITIVE_INFINITY,
  });
  return {
    admit(token, res) {
      const stop = new AbortController();
      res.once('close', leaving.watch({ tokens: [token], sendAway: () => stop.abort() }));
      return stop.signal;
    },
    close: leaving.close,
  };
}
