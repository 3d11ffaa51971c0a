// Words for one client alone: not numbered, not kept, not shown to other instances.

import type { Socket } from 'socket.io';

const EVENT = 2;

/** Sends an event past the adapter, as socket.io itself does with events that a client missed. */
export function sendDirect(socket: Socket, event: string, ...words: readonly unknown[]): void {
  const raw = socket as unknown as { packet(packet: { type: number; data: unknown[] }): void };
  raw.packet({ type: EVENT, data: [event, ...words] });
}
