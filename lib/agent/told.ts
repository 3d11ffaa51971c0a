// Whoever listens to what runs tell the sockets of their sessions, besides those sockets.

import type { JsonObject } from '../store/store.ts';
import type { Room, RoomEvent } from './room.ts';
import type { Run } from './run/run.ts';

/** A typed event of a run, as the sockets of its session are told. */
export interface Told {
  readonly runId: string;
  readonly owner: string;
  readonly session: string;
  readonly requestId: string;
  readonly event: RoomEvent;
  readonly payload: JsonObject;
}

export interface ToldOptions {
  readonly room: Room;
  readonly onTold?: ((told: Told) => void) | undefined;
  readonly onProblem: (error: unknown) => void;
}

/** The room of one run's session, with the listener. */
export function toldRoom({ room, onTold, onProblem }: ToldOptions, { id: runId, body }: Run): Room {
  if (!onTold) return room;
  const { owner, requestId } = body;
  const note: Room['note'] = (session, event, payload) => {
    try {
      onTold({ runId, owner, session, requestId, event, payload });
    } catch (error) {
      onProblem(error);
    }
  };
  return {
    ...room,
    note,
    tell: (session, event, payload) => {
      note(session, event, payload);
      return room.tell(session, event, payload);
    },
  };
}
