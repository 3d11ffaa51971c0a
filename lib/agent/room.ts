// Session rooms: typed events for the sockets of a session, on every instance, and tool calls offered to its clients.

import type { RunCall } from '../../machines/agent-stream.ts';
import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { Channel, Unsubscribe } from '../store/channel.ts';
import type { Run, Runs } from './run/run.ts';

/** The typed socket events, by their documented names. */
export const ROOM_EVENTS = [
  'tool_call',
  'action_call',
  'render_component',
  'browser_tool_call',
  'router_update',
  'message_cache_invalidation',
  'reasoning',
] as const;
/** One of `ROOM_EVENTS`. */
export type RoomEvent = (typeof ROOM_EVENTS)[number];

/** Delivers events to the listeners of a session. */
export interface Room {
  /** Sends an event to the sockets of a session. Never rejects; returns `false` when it could not be published. */
  tell(session: string, event: RoomEvent, payload: JsonObject): Promise<boolean>;
  /** Whether a client may be connected. If not, a call is kept for the next client that connects. */
  isHeard(session: string): boolean;
  /** Passes an event to listeners in this process only, not to sockets. */
  note(session: string, event: RoomEvent, payload: JsonObject): void;
  /** The events of a session, in order per sender, until unsubscribed. */
  listen(session: string, onEvent: (event: RoomEvent, payload: JsonObject) => void): Promise<Unsubscribe>;
}

/** Rooms over a channel. */
export function rooms(channel: Channel, onProblem: (error: unknown) => void): Room {
  return {
    async tell(session, event, payload) {
      try {
        await channel.publish(nameTopic(session), JSON.stringify({ event, payload: shortPayload(event, payload) }));
        return true;
      } catch (error) {
        onProblem(error);
        return false;
      }
    },
    // The channel does not say whether it has subscribers.
    isHeard: () => true,
    note: () => {},
    listen: (session, onEvent) =>
      channel.subscribe(nameTopic(session), {
        onMessage: (message) => {
          const { event, payload } = JSON.parse(message) as { event: RoomEvent; payload: JsonObject };
          onEvent(event, payload);
        },
      }),
  };
}

const nameTopic = (session: string) => `session/${session}`;

/**
 * Drops the output from a payload that exceeds COMMON_LIMITS.channelMessageBytes; the log and the transcript have the output.
 * Throws ERR_INPUT when the rest is still too long.
 */
export function shortPayload(event: RoomEvent, payload: JsonObject): JsonObject {
  if (fits(event, payload)) return payload;
  const { output: _, ...rest } = payload as { readonly [name: string]: Json };
  if (fits(event, rest)) return rest;
  throw new TwinlineError(
    'ERR_INPUT',
    `A socket event may have at most ${COMMON_LIMITS.channelMessageBytes} bytes, and this ${event} has more. Send less, or a link.`,
  );
}

/** Whether the event fits into one channel message. */
export const fits = (event: RoomEvent, payload: JsonObject) =>
  Buffer.byteLength(JSON.stringify({ event, payload })) <= COMMON_LIMITS.channelMessageBytes;

/** A typed event of a run, as sent to its session's sockets. */
export interface RunRoomEvent {
  readonly runId: string;
  readonly owner: string;
  readonly session: string;
  readonly requestId: string;
  readonly event: RoomEvent;
  readonly payload: JsonObject;
}

interface RoomDeps {
  readonly room: Room;
  readonly onProblem: (error: unknown) => void;
}

export interface RunRoomOptions extends RoomDeps {
  /** Called with every typed event of the run. */
  readonly onEvent?: (event: RunRoomEvent) => void;
}

/** The room of one run, which also reports to the listener. */
export function runRoom({ room, onEvent, onProblem }: RunRoomOptions, { id: runId, body }: Run): Room {
  if (!onEvent) return room;
  const { owner, requestId } = body;
  const note: Room['note'] = (session, event, payload) => {
    try {
      onEvent({ runId, owner, session, requestId, event, payload });
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

/** The event that offers a call to clients. */
export interface CallEvent {
  readonly event: 'browser_tool_call' | 'action_call';
  readonly payload: JsonObject;
}

export interface Offers {
  /** Ids of the live run's calls that have been offered but not answered. */
  listWaiting(session: string): Promise<string[]>;
  /** Takes the waiting calls that were not offered yet; the caller must then offer them. */
  take(session: string): Promise<CallEvent[]>;
  /** Asks every process to take a session's waiting calls and offer them to its clients. Never rejects. */
  announce(session: string): Promise<void>;
  close: Unsubscribe;
}

export interface OffersOptions extends RoomDeps {
  readonly runs: Runs;
  readonly channel: Channel;
}

const TOPIC = 'agent/calls';

/**
 * Offers tool calls to clients. A client acts on every call event it receives, so each call is offered exactly once: to the
 * room when a client is present, otherwise to the next client that connects on any instance. A compare-and-set in the store
 * decides which instance offers it.
 */
export async function openOffers({ runs, channel, room, onProblem }: OffersOptions): Promise<Offers> {
  async function take(session: string): Promise<CallEvent[]> {
    const events: CallEvent[] = [];
    for (const run of await runs.open(session))
      for (const call of run.context.calls.filter(isNotOffered))
        if (await runs.handOut(run.id, call.id)) events.push(callEvent(run, call));
    return events;
  }

  async function offerToRoom(session: string): Promise<void> {
    if (!room.isHeard(session)) return;
    for (const { event, payload } of await take(session)) await room.tell(session, event, payload);
  }

  const close = await channel.subscribe(TOPIC, {
    onMessage: (session) => void offerToRoom(session).catch(onProblem),
  });
  return {
    take,
    async listWaiting(session) {
      const calls = (await runs.open(session)).flatMap(({ context }) => context.calls);
      return calls.filter((call) => isOpen(call) && call.args === undefined).map(({ id }) => id);
    },
    // A client may have connected here while the call was being stored.
    announce: async (session) => {
      await Promise.all([offerToRoom(session), channel.publish(TOPIC, session)]).catch(onProblem);
    },
    close,
  };
}

const isOpen = ({ result }: RunCall) => result === undefined;
const isNotOffered = (call: RunCall) => isOpen(call) && call.args !== undefined;

/** The event that offers a call of this run. */
export function callEvent(
  { body }: Pick<Run, 'body'>,
  call: Pick<RunCall, 'id' | 'kind' | 'name' | 'args'>,
): CallEvent {
  const { session: sessionId, requestId } = body;
  const { id: toolCallId, name: toolName, args = {} } = call;
  const payload = { sessionId, requestId, toolCallId, toolName, args: args as JsonObject };
  return call.kind === 'browser'
    ? { event: 'browser_tool_call', payload }
    : { event: 'action_call', payload: { ...payload, status: 'isRunning' } };
}
