// Coming back after a short cut: what a client missed is handed to it, but not before its token was looked at again.
//
// socket.io sends what was missed as soon as the client names its old connection, before anybody asks who it is; so that
// is held back here. And what happens between that look and the moment when the socket listens again is looked up after.

import type { Server, Socket } from 'socket.io';
import { SERVER_LIMITS } from '../config/limits.ts';

/** An event as it goes over the wire: its name, what it says, and its number at the end. */
export type Packet = readonly [string, ...unknown[]];

interface Restored {
  readonly sid: string;
  readonly data: object;
  readonly missedPackets: Packet[];
}

interface Held {
  readonly pid: string;
  readonly offset: string;
  readonly packets: readonly Packet[];
}

/** The parts of socket.io's adapters that are used here. */
interface RecoveringAdapter {
  restoreSession(pid: string, offset: string): Promise<Restored | null>;
  /** What happened lately, where one process keeps it. */
  readonly packets?: unknown[];
}

export interface Recovery {
  /** Sends a socket that came back what it missed, as far as it is still wanted; call it when the socket is in its rooms. */
  catchUp(socket: Socket, isWanted: (missed: Packet) => boolean): Promise<void>;
}

/** Takes over the recovery of a server that has it switched on. */
export function heldRecovery(io: Server): Recovery {
  const adapter = io.of('/').adapter as unknown as RecoveringAdapter;
  const restore = adapter.restoreSession.bind(adapter);
  // By the state that socket and adapter share.
  const held = new WeakMap<object, Held>();

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

/** Forgets all but the last SERVER_LIMITS.socketEventsKept events where one process keeps them. */
export function boundMemory(io: Server): void {
  const { packets } = io.of('/').adapter as unknown as RecoveringAdapter;
  if (packets && packets.length > SERVER_LIMITS.socketEventsKept * 1.1)
    packets.splice(0, packets.length - SERVER_LIMITS.socketEventsKept);
}

const EVENT = 2;

/** Sends an event to this client alone, past the adapter: it is not numbered, not kept, not sent to other instances. */
export function sendDirect(socket: Socket, event: string, ...words: readonly unknown[]): void {
  const raw = socket as unknown as { packet(packet: { type: number; data: unknown[] }): void };
  raw.packet({ type: EVENT, data: [event, ...words] });
}
