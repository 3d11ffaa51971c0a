// What runs tell the sockets of a session, on whichever instance those are.
//
// Each event is sent once, by the instance that drives the run, and the adapter takes it to the others: only so is it
// among the events that a client which comes back may ask for. Listening to the room on every instance and sending what
// is heard to the sockets there would need no adapter, and nobody would know what a client has missed.

import type { Server } from 'socket.io';
import { type Room, type RoomEvent, shortPayload } from '../../lib/agent/room.ts';
import { roomOf } from './member.ts';
import { boundMemory } from './recovery.ts';

/** Under another name, too: the source's tables and its clients disagree. */
const ALSO: { readonly [event in RoomEvent]?: string } = { router_update: 'router.update' };

/** For `openAgent`: flat under its own name, and once more as `event` with the name inside; clients need either. */
export function tellSockets(io: Server, onProblem: (error: unknown) => void): Room['tell'] {
  return async (session, event, payload) => {
    try {
      const short = shortPayload(event, payload);
      const room = io.to(roomOf(session));
      room.emit(event, short);
      const also = ALSO[event];
      if (also) room.emit(also, short);
      room.emit('event', { eventName: event, payload: short });
      boundMemory(io);
      return true;
    } catch (error) {
      onProblem(error);
      return false;
    }
  };
}
