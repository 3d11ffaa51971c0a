// The stream of the inspector as a WebSocket, which Stately's own tools read:
// createWebSocketReceiver({ server: 'ws://…/inspector/stately' }).

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { PAGE_LIMITS } from '../limits.ts';

export interface StatelySocket {
  /** Takes a request over; the caller has made sure of who asks. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

export interface StatelySocketOptions {
  /** Batches of messages as JSON texts, until the signal aborts. */
  readonly messages: (signal: AbortSignal) => AsyncIterable<readonly string[]>;
  readonly onProblem: (error: unknown) => void;
}

const TOO_SLOW = 4008;
const TRY_AGAIN = 1013;
/** What a viewer says is not listened to, so there is nothing to say. */
const VIEWER_BYTES = 1_024;

/** Serves the messages to everybody who comes; the slow are cut off. */
export function statelySocket({ messages, onProblem }: StatelySocketOptions): StatelySocket {
  const server = new WebSocketServer({ noServer: true, maxPayload: VIEWER_BYTES, perMessageDeflate: false });

  async function serve(socket: WebSocket): Promise<void> {
    const controller = new AbortController();
    socket.once('close', () => controller.abort());
    socket.on('error', () => socket.terminate());
    const beat = setInterval(() => socket.ping(), SERVER_LIMITS.eventHeartbeatMs);
    try {
      for await (const batch of messages(controller.signal)) {
        for (const text of batch) socket.send(text);
        if (socket.bufferedAmount > PAGE_LIMITS.inspectorSocketBytes) return socket.close(TOO_SLOW, 'too slow');
      }
      socket.close(TRY_AGAIN);
    } finally {
      clearInterval(beat);
    }
  }

  return {
    upgrade(req, socket, head) {
      if (server.clients.size >= PAGE_LIMITS.inspectorViewers) return refuse(socket);
      server.handleUpgrade(req, socket, head, (client) => void serve(client).catch(onProblem));
    },
    close() {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

function refuse(socket: Duplex): void {
  socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
}
