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
  /** Aborts when it is gone. */
  readonly gone: AbortSignal;
  sendAway(): void;
}

export interface LeavingOptions<One extends Guest> {
  /** All of this instance. */
  readonly guests: () => readonly One[];
  readonly channel: Channel;
  readonly clock: Clock;
  /** Looked up for each guest when it comes, and again at least every SERVER_LIMITS.socketCheckMs. */
  readonly isOver: (guest: One) => Promise<boolean>;
  /** Milliseconds after which it is surely worth a look. */
  readonly nextLookMs: (guest: One) => number;
  readonly onProblem: (error: unknown) => void;
}

export interface Leaving<One extends Guest> {
  /** Watches a guest as long as it is there. */
  watch(guest: One): void;
  /** Sends away everybody, on every instance, who came in with a token of these keys. */
  revoke(keys: readonly string[]): void;
  close(): void;
}

const TOPIC = 'sockets/revoked';

/** Begins to listen for revocations. */
export async function openLeaving<One extends Guest>(options: LeavingOptions<One>): Promise<Leaving<One>> {
  const { guests, channel, clock, isOver, nextLookMs, onProblem } = options;

  async function look(guest: One): Promise<void> {
    try {
      if (await isOver(guest)) guest.sendAway();
    } catch (error) {
      // When the store fails, no socket is disconnected; the next check decides.
      onProblem(error);
    }
  }

  // The first look comes when the guest is on the list: what was revoked before is in the store, what is revoked from
  // now on is told.
  async function stay(guest: One): Promise<void> {
    while (!guest.gone.aborted) {
      await look(guest);
      await clock.wait(Math.min(Math.max(nextLookMs(guest), 0), SERVER_LIMITS.socketCheckMs), guest.gone);
    }
  }

  function sendAwayAll(keys: readonly string[]): void {
    for (const guest of guests()) if (guest.keys.some((key) => keys.includes(key))) guest.sendAway();
  }

  const unsubscribe = await channel.subscribe(TOPIC, {
    onMessage: (message) => sendAwayAll(JSON.parse(message) as string[]),
    onGap: () => void Promise.all(guests().map(look)),
  });
  return {
    watch: (guest) => void stay(guest),
    revoke(keys) {
      sendAwayAll(keys);
      // An instance that misses this message checks on its own within SERVER_LIMITS.socketCheckMs.
      channel.publish(TOPIC, JSON.stringify(keys)).catch(onProblem);
    },
    close: unsubscribe,
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
  all(): readonly Member[];
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
    all: () => [...byUser.values()].flatMap((mine) => [...mine]),
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
  const here = new Set<Guest>();
  const leaving = await openLeaving({
    ...{ channel, clock, onProblem },
    guests: () => [...here],
    isOver: ({ keys }: Guest) => revoked(keys),
    nextLookMs: () => Number.POSITIVE_INFINITY,
  });
  return {
    admit({ keys }, res) {
      const stop = new AbortController();
      const gone = new AbortController();
      const guest: Guest = { keys, gone: gone.signal, sendAway: () => stop.abort() };
      here.add(guest);
      res.once('close', () => {
        here.delete(guest);
        gone.abort();
      });
      leaving.watch(guest);
      return stop.signal;
    },
    close: leaving.close,
  };
}
