// Who is connected with a token, and who has to go: when it was revoked, by whichever instance, or is over. Also readers of
// streams of frames: a stream may outlive its token, as long as its run, for clients join again with the token they began with.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'socket.io';
import type { Clock } from '../../lib/clock.ts';
import type { Channel } from '../../lib/store/channel.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import type { AgentUser } from '../user/authenticate.ts';

/** Somebody who came in with a token: over a socket, or to read a stream. */
export interface Guest {
  /** By which the token is revoked. */
  readonly keys: readonly string[];
  sendAway(): void;
}

export interface LeavingOptions<One extends Guest> {
  readonly channel: Channel;
  readonly clock: Clock;
  /** Looked up for each guest when it comes, and again at least every SERVER_LIMITS.socketCheckMs. */
  readonly isOver: (guest: One) => Promise<boolean>;
  /** Milliseconds after which it is surely worth a look; counts as LOOK_LEAST_MS where it is less. */
  readonly nextLookMs: (guest: One) => number;
  readonly onProblem: (error: unknown) => void;
}

export interface Leaving<One extends Guest> {
  /** Watches a guest until the function that it gives is called. */
  watch(guest: One): () => void;
  /** Sends away everybody, on every instance, who came in with a token of these keys. */
  revoke(keys: readonly string[]): void;
  close(): void;
}

const TOPIC = 'sockets/revoked';

const LOOK_LEAST_MS = 100;

/** Begins to listen for revocations. */
export async function openLeaving<One extends Guest>(options: LeavingOptions<One>): Promise<Leaving<One>> {
  const { channel, clock, isOver, nextLookMs, onProblem } = options;
  /** All guests of this instance, and when each is looked at, by `clock.monotonic`. One wait for all: there may be 10,000. */
  const dueAt = new Map<One, number>();
  let next = Infinity;
  let waiting = new AbortController();
  let isClosed = false;

  // The first look comes when the guest is on the list: what was revoked before is in the store, what is revoked from
  // now on is told.
  async function look(guest: One): Promise<void> {
    dueAt.set(guest, Infinity);
    try {
      if (await isOver(guest)) guest.sendAway();
    } catch (error) {
      // When the store fails, no socket is disconnected; the next check decides.
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
    for (const guest of [...dueAt.keys()]) if (guest.keys.some((key) => keys.includes(key))) guest.sendAway();
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
      // An instance that misses this message checks on its own within SERVER_LIMITS.socketCheckMs.
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
  readonly user: Pick<AgentUser, 'did' | 'expiresAt'>;
  /** The session of the handshake. */
  readonly session: string;
  /** All sessions that it listens to. */
  readonly sessions: Set<string>;
}

/** What another instance needs to know when a client comes back: no token, no key. */
export interface KeptState {
  readonly did: string;
  readonly sessions: readonly string[];
}

/** Where the events of a session go. Ids of sockets have no slash, so no session can be named like one. */
export const nameRoom = (session: string) => `session/${session}`;

/** The members of this instance. */
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
  readonly revoked: (keys: readonly string[]) => Promise<boolean>;
  readonly onProblem: (error: unknown) => void;
}

export interface Readers {
  /** Aborts when the token of this reader is revoked, by whichever instance; forgets the reader when the answer closes. */
  admit(user: Pick<AgentUser, 'keys'>, res: ServerResponse): AbortSignal;
  close(): void;
}

/** Begins to listen for revocations. */
export async function openReaders({ channel, clock, revoked, onProblem }: ReadersOptions): Promise<Readers> {
  const leaving = await openLeaving({
    ...{ channel, clock, onProblem },
    isOver: ({ keys }: Guest) => revoked(keys),
    nextLookMs: () => Number.POSITIVE_INFINITY,
  });
  return {
    admit({ keys }, res) {
      const stop = new AbortController();
      res.once('close', leaving.watch({ keys, sendAway: () => stop.abort() }));
      return stop.signal;
    },
    close: leaving.close,
  };
}
