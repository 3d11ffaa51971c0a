// What runs tell the sockets of a session, on whichever instance those are.
//
// Each event is sent once, by the instance that drives the run, and the adapter forwards it to the others: this records
// it among the events that a reconnecting client can recover. Subscribing to the channel on every instance instead would
// need no adapter, but then missed events would be recorded nowhere.

import type { Server, Socket } from 'socket.io';
import type { Agent } from '../../lib/agent/agent.ts';
import { type Room, type RoomEvent, shortPayload } from '../../lib/agent/room.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { type Member, nameRoom } from './leaving.ts';

/** Under another name, too: the source's tables and its clients disagree. */
const ALSO: { readonly [event in RoomEvent]?: string } = { router_update: 'router.update' };

/**
 * Not flat as well: clients act on every flat event of a call, so they get only the one that calls. How an action went is
 * sent as `event`, and on the stream of the run.
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
      for (const [name, words] of listWireEvents(event, short)) io.to(nameRoom(session)).emit(name, words);
      return true;
    } catch (error) {
      onProblem(error);
      return false;
    }
  };
}

/** For `openAgent`: whether a socket of this instance listens to a session. */
export function hearSockets(io: Server): Room['isHeard'] {
  return (session) => io.of('/').adapter.rooms.has(nameRoom(session));
}

/** What goes over the wire for an event: names and what is said under each. */
export function listWireEvents(event: RoomEvent, payload: JsonObject): [name: string, words: JsonObject][] {
  const also = ALSO[event];
  return [
    ...(isOutcome(event, payload) ? [] : [[event, payload] as [string, JsonObject]]),
    ...(also ? [[also, payload] as [string, JsonObject]] : []),
    ...(FLAT_ONLY.has(event) ? [] : [['event', { eventName: event, payload }] as [string, JsonObject]]),
  ];
}

type Offering = { readonly offers: Pick<Agent['offers'], 'listWaiting' | 'take'> };

/** Sends a socket the calls of a session that were not offered to any client yet. */
export async function offerCalls({ offers }: Offering, { socket }: Member, session: string): Promise<void> {
  for (const { event, payload } of await offers.take(session))
    for (const [name, words] of listWireEvents(event, payload)) sendDirect(socket, name, words);
}

const CALLS: ReadonlySet<unknown> = new Set(['browser_tool_call', 'action_call']);

/** The ids of the calls of these sessions that a reconnecting client may still get. */
export async function findWaitingCalls(
  { offers }: Offering,
  sessions: Iterable<string>,
): Promise<ReadonlySet<unknown>> {
  const found = await Promise.all([...sessions].map((session) => offers.listWaiting(session)));
  return new Set(found.flat());
}

/** Whether a missed event is still to be sent: a call that no longer waits must not be executed. */
export function isStillWaiting(
  waiting: ReadonlySet<unknown>,
  [event, payload]: readonly [string, ...unknown[]],
): boolean {
  return !CALLS.has(event) || waiting.has((payload as { readonly toolCallId?: unknown } | null)?.toolCallId);
}

// Coming back after a short cut: socket.io sends what was missed as soon as the client names its old connection, before
// its token is looked at. So that is held back, and what happens between that look and the moment when the socket listens
// again is looked up afterwards.

/** An event as it goes over the wire: its name, what it says, and its number at the end. */
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

/** The parts of socket.io's adapters that are used here. */
interface RecoveringAdapter {
  restoreSession(pid: string, offset: string): Promise<Restored | null>;
}

export interface Recovery {
  /** Sends a socket that came back what it missed, as far as it is still wanted; call it when the socket is in its rooms. */
  catchUp(socket: Socket, isWanted: (missed: Packet) => boolean): Promise<void>;
}

/** Takes over the recovery of a server that has it switched on. */
export function holdRecovery(io: Server): Recovery {
  const adapter = io.of('/').adapter as unknown as RecoveringAdapter;
  const restore = adapter.restoreSession.bind(adapter);
  // By the state that socket and adapter share.
  const held = new WeakMap<object, HeldEvents>();

  adapter.restoreSession = async (pid, offset) => {
    const state = await restore(pid, offset);
    if (!state) return state;
    held.set(state.data, { pid, offset, packets: state.missedPackets });
    return { ...state, missedPackets: [] };
  };

  return {
    async catchUp(socket, isWanted) {
      const missed = held.get(socket.data);
      if (!missed) return;
      held.delete(socket.data);
      const seen = new Set<unknown>();
      const see = (...words: unknown[]) => seen.add(words.at(-1));
      for (const packet of missed.packets) if (isWanted(packet)) sendDirect(socket, ...packet);
      socket.onAnyOutgoing(see);
      const last = (missed.packets.at(-1)?.at(-1) ?? missed.offset) as string;
      const late = await restore(missed.pid, last).catch(() => null);
      socket.offAnyOutgoing(see);
      const news = (late?.missedPackets ?? []).filter((packet) => !seen.has(packet.at(-1)));
      // A client goes on after the last number that it has read: it must not be an older one.
      for (const packet of news)
        sendDirect(socket, ...(seen.size ? (packet.slice(0, -1) as unknown as Packet) : packet));
    },
  };
}

const EVENT = 2;

/** Sends an event to this client alone, past the adapter: it is not numbered, not kept, not sent to other instances. */
export function sendDirect(socket: Socket, event: string, ...words: readonly unknown[]): void {
  const raw = socket as unknown as { packet(packet: { type: number; data: unknown[] }): void };
  raw.packet({ type: EVENT, data: [event, ...words] });
}
