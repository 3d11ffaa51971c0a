// What one connection may do: how fast it may talk, and how far it may fall behind in listening.

import type { Socket as Connection } from 'engine.io';
import { SERVER_LIMITS } from '../config/limits.ts';

/** What is used of the WebSocket below. */
interface Wire {
  readonly bufferedAmount: number;
  terminate(): void;
}

interface Packet {
  readonly data?: string | Buffer | ArrayBuffer;
}

/** Cuts a connection off when it sends too many packets, of whatever kind, or leaves too many bytes waiting. */
export function bounded(connection: Connection): void {
  let left: number = SERVER_LIMITS.socketMessagesAtOnce;
  let seenAt = performance.now();
  let waiting = 0;
  // Of a polling client that does not come back for its goodbye.
  Object.assign(connection.transport, { closeTimeout: SERVER_LIMITS.socketGoodbyeMs });

  connection.on('packet', () => {
    const now = performance.now();
    const more = ((now - seenAt) / 1_000) * SERVER_LIMITS.socketMessagesPerSecond;
    left = Math.min(SERVER_LIMITS.socketMessagesAtOnce, left + more) - 1;
    seenAt = now;
    if (left < 0) cut(connection);
  });
  connection.on('packetCreate', ({ data }: Packet) => {
    waiting += sizeOf(data);
    if (waiting + (wireOf(connection)?.bufferedAmount ?? 0) > SERVER_LIMITS.socketWaitingBytes) cut(connection);
  });
  connection.on('flush', () => {
    waiting = 0;
  });
}

// One that does not read would not answer a goodbye either.
function cut(connection: Connection): void {
  const wire = wireOf(connection);
  connection.close(true);
  wire?.terminate();
}

const sizeOf = (data: Packet['data']): number =>
  typeof data === 'string' ? Buffer.byteLength(data) : (data?.byteLength ?? 0);

// Undefined while it is polling.
function wireOf({ transport }: Connection): Wire | undefined {
  return (transport as unknown as { readonly socket?: Wire }).socket;
}
