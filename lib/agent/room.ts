// The room of a session: what its sockets are told, on every instance, now or never.

import { LIMITS } from '../limits.ts';
import type { Channel, Unsubscribe } from '../store/channel.ts';
import type { Json, JsonObject } from '../store/store.ts';

/** The typed events that sockets get, by their documented names. */
export const ROOM_EVENTS = [
  'tool_call',
  'action_call',
  'render_component',
  'browser_tool_call',
  'router_update',
  'message_cache_invalidation',
  'reasoning',
] as const;
export type RoomEvent = (typeof ROOM_EVENTS)[number];

export interface Room {
  /** Never rejects: who is not there gets nothing. `false`: nobody was told. */
  tell(session: string, event: RoomEvent, payload: JsonObject): Promise<boolean>;
  /** The events of one session, in the order of each sender, until it is unsubscribed. */
  listen(session: string, onEvent: (event: RoomEvent, payload: JsonObject) => void): Promise<Unsubscribe>;
}

/** The rooms of all sessions on one channel. */
export function rooms(channel: Channel, onProblem: (error: unknown) => void): Room {
  return {
    async tell(session, event, payload) {
      try {
        await channel.publish(topicOf(session), messageOf(event, payload));
        return true;
      } catch (error) {
        onProblem(error);
        return false;
      }
    },
    listen: (session, onEvent) =>
      channel.subscribe(topicOf(session), {
        onMessage: (message) => {
          const { event, payload } = JSON.parse(message) as { event: RoomEvent; payload: JsonObject };
          onEvent(event, payload);
        },
      }),
  };
}

const topicOf = (session: string) => `session/${session}`;

// Output that is too long for the channel is left out: who needs it reads it in the log or the transcript.
function messageOf(event: RoomEvent, payload: JsonObject): string {
  const whole = JSON.stringify({ event, payload });
  if (Buffer.byteLength(whole) <= LIMITS.channelMessageBytes || payload.output === undefined) return whole;
  const { output: _, ...rest } = payload as { readonly [name: string]: Json };
  return JSON.stringify({ event, payload: rest });
}
