// Events from runs to the sockets of a session, on any instance.
//
// The instance that drives the run sends each event once and the adapter forwards it to the others, which records it for clients
// that reconnect. Subscribing every instance to the channel would need no adapter, but would not record missed events.

import type { Server, Socket } from 'socket.io';
import type { Agent } from '../../lib/agent/agent.ts';
import { type Room, type RoomEvent, shortPayload } from '../../lib/agent/room.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { type Member, nameRoom } from './leaving.ts';

/** Additional event names: the source's tables and its clients disagree. */
const ALSO: { readonly [event in RoomEvent]?: string } = { router_update: 'router.update' };

/**
 * Outcomes of actions are not sent flat: clients run every flat call event, so only the call itself is. The outcome is sent
 * as `event`, and on the stream of the run.
 */
const isOutcome = (event: RoomEvent, { status }: JsonObject) =>
  event === 'action_call' && (status === 'done' || status === 'error');

/** Not sent as `event`: clients display every such event, as an empty message if it has no text. */
const FLAT_ONLY: ReadonlySet<RoomEvent> = new Set(['reasoning', 'router_update']);

/**
 * For `openAgent`: sends each event flat under its own name and again as `event` with the name inside; clients need one or
 * the other.
 */
export function tellSockets(io: Server, onProblem: (error: unknown) => void): Room['tell'] {
  return async (session, event, payload) => {
    try {
      const short = shortPayload(event, payload);
      for (const [name, words] of listWireEvents(event, short)) io.to(nameRoom(session)).emit(name, words);
      return true;
    } catch (error) {
      onProblem(error);
      return false;
    }
  };
}

/** For `openAgent`: whether a socket of this instance is subscribed to a session. */
export function hearSockets(io: Server): Room['isHeard'] {
  return (session) => io.of('/').adapter.rooms.has(nameRoom(session));
}

/** The wire events for a room event, with their payloads. */
export function listWireEvents(event: RoomEvent, payload: JsonObject): [name: string, words: JsonObject][] {
  const also = ALSO[event];
  return [
    ...(isOutcome(event, payload) ? [] : [[event, payload] as [string, JsonObject]]),
    ...(also ? [[also, payload] as [string, JsonObject]] : []),
    ...(FLAT_ONLY.has(event) ? [] : [['event', { eventName: event, payload }] as [string, JsonObject]]),
  ];
}

type Offering = { readonly offers: Pick<Agent['offers'], 'listWaiting' | 'take'> };

/** Sends a socket the calls of a session that no client has been offered yet. */
export async function offerCalls({ offers }: Offering, { socket }: Member, session: string): Promise<void> {
  for (const { event, payload } of await offers.take(session))
    for (const [name, words] of listWireEvents(event, payload)) sendDirect(socket, name, words);
}

const CALLS: ReadonlySet<unknown> = new Set(['browser_tool_call', 'action_call']);

/** Ids of the calls of these sessions that a reconnecting client may still receive. */
export async function findWaitingCalls(
  { offers }: Offering,
  sessions: Iterable<string>,
): Promise<ReadonlySet<unknown>> {
  const ids = await Promise.all([...sessions].map((session) => offers.listWaiting(session)));
  return new Set(ids.flat());
}

/** Whether to replay a missed event: a call that is no longer pending must not be executed. */
export function isStillWaiting(
  waiting: ReadonlySet<unknown>,
  [event, payload]: readonly [string, ...unknown[]],
): boolean {
  return !CALLS.has(event) || waiting.has((payload as { readonly toolCallId?: unknown } | null)?.toolCallId);
}

// Recovery after a short disconnection: socket.io replays missed events as soon as the client names its old connection,
// before its token is checked. So hold them back until then, and afterwards look up what was sent between that check and the
// moment the socket listens again.

/** An event on the wire: name, payload, and its offset at the end. */
export type Packet = readonly [string, ...unknown[]];

interface Restored {
  readonly sid: string;
  readonly data: object;
  readonly missedPackets: Packet[];
}

interface HeldEvents {
  readonly pid: string;
  readonly offset: string;
  readonly packets: readonly Packet[];
}

/** The parts of socket.io's adapters used here. */
interface RecoveringAdapter {
  restoreSession(pid: string, offset: string): Promise<Restored | null>;
}

export interface Recovery {
  /** Replays the missed events that are still wanted to a reconnected socket; call it once the socket has joined its rooms. */
  catchUp(socket: Socket, isWanted: (packet: Packet) => boolean): Promise<void>;
}

/** Takes over connection state recovery, which must be enabled on the server. */
export function holdRecovery(io: Server): Recovery {
  const adapter = io.of('/').adapter as unknown as RecoveringAdapter;
  const restore = adapter.restoreSession.bind(adapter);
  // Keyed by the state object that socket and adapter share.
  const heldByState = new WeakMap<object, HeldEvents>();

  adapter.restoreSession = async (pid, offset) => {
    const state = await restore(pid, offset);
    if (!state) return state;
    heldByState.set(state.data, { pid, offset, packets: state.missedPackets });
    return { ...state, missedPackets: [] };
  };

  return {
    async catchUp(socket, isWanted) {
      const heldEvents = heldByState.get(socket.data);
      if (!heldEvents) return;
      heldByState.delete(socket.data);
      const seenIds = new Set<unknown>();
      const see = (...words: unknown[]) => seenIds.add(words.at(-1));
      for (const packet of heldEvents.packets) if (isWanted(packet)) sendDirect(socket, ...packet);
      socket.onAnyOutgoing(see);
      const last = (heldEvents.packets.at(-1)?.at(-1) ?? heldEvents.offset) as string;
      const late = await restore(heldEvents.pid, last).catch(() => null);
      socket.offAnyOutgoing(see);
      const news = (late?.missedPackets ?? []).filter((packet) => !seenIds.has(packet.at(-1)));
      // A client resumes from the last offset it received, which must not be an older one.
      for (const packet of news)
        sendDirect(socket, ...(seenIds.size ? (packet.slice(0, -1) as unknown as Packet) : packet));
    },
  };
}

const EVENT = 2;

/** Sends an event to this client only, bypassing the adapter: no offset, no replay, no other instances. */
export function sendDirect(socket: Socket, event: string, ...words: readonly unknown[]): void {
  const raw = socket as unknown as { packet(packet: { type: number; data: unknown[] }): void };
  raw.packet({ type: EVENT, data: [event, ...words] });
}
