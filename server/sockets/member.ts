// A socket that was let in: whose it is, and which sessions it listens to.

import type { Socket } from 'socket.io';
import type { AgentUser } from '../user/authenticate.ts';
import type { Guest } from './leaving.ts';

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
export const roomOf = (session: string) => `session/${session}`;

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
