// What runs tell the sockets of a session, on whichever instance those are.
//
// Each event is sent once, by the instance that drives the run, and the adapter forwards it to the others: this records
// it among the events that a reconnecting client can recover. Subscribing to the channel on every instance instead would
// need no adapter, but then missed events would be recorded nowhere.

import type { Server } from 'socket.io';
import { type Room, type RoomEvent, shortPayload } from '../../lib/agent/room.ts';
import type { JsonObject } from '../../lib/store/store.ts';
import { roomOf } from './member.ts';
import { boundMemory } from './recovery.ts';

/** Under another name, too: the source's tables and its clients disagree. */
const ALSO: { readonly [event in RoomEvent]?: string } = { router_update: 'router.update' };

/**
 * Not flat as well: clients act on every flat event of a call, so they get only the one that calls. How an action went is
 * told as `event`, and on the stream of the run.
 */
const isOutcome = (event: RoomEvent, { status }: JsonObject) =>
  event === 'action_call' && (status === 'done' || status === 'error');

/** Not as `event`: clients show every event of that form, and a message without words for those that have nothing to show. */
const FLAT_ONLY: ReadonlySet<RoomEvent> = new Set(['reasoning', 'router_update']);

/** For `openAgent`: flat under its own name, and once more as `event` with the name inside; clients need either. */
export function tellSockets(io: Server, onProblem: (error: unknown) => void): Room['tell'] {
  return async (session, event, payload) => {
    try {
      const short = shortPayload(event, payload);
      for (const [name, words] of wordsOf(event, short)) io.to(roomOf(session)).emit(name, words);
      boundMemory(io);
      return true;
    } catch (error) {
      onProblem(error);
      return false;
    }
  };
}

/** For `openAgent`: whether a socket of this instance listens to a session. */
export function hearSockets(io: Server): Room['isHeard'] {
  return (session) => io.of('/').adapter.rooms.has(roomOf(session));
}

/** What goes over the wire for an event: names and what is said under each. */
export function wordsOf(event: RoomEvent, payload: JsonObject): [name: string, words: JsonObject][] {
  const also = ALSO[event];
  return [
    ...(isOutcome(event, payload) ? [] : [[event, payload] as [string, JsonObject]]),
    ...(also ? [[also, payload] as [string, JsonObject]] : []),
    ...(FLAT_ONLY.has(event) ? [] : [['event', { eventName: event, payload }] as [string, JsonObject]]),
  ];
}
