// Readers of streams of frames: their streams end when the token is revoked with which they came.
//
// A stream may outlive its token, as long as its run: clients join again with the token that they began with.

import type { ServerResponse } from 'node:http';
import type { Clock } from '../../lib/clock.ts';
import type { Channel } from '../../lib/store/channel.ts';
import { type Guest, openLeaving } from '../sockets/leaving.ts';
import type { AgentUser } from '../user/authenticate.ts';

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
