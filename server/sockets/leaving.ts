// Who has to go: those whose token was revoked, by whichever instance, or who may not stay for another reason.

import type { Clock } from '../../lib/clock.ts';
import type { Channel } from '../../lib/store/channel.ts';
import { SERVER_LIMITS } from '../config/limits.ts';

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
