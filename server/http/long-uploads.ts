// Uploads that may take longer than other requests: as long as bytes come or go, they are not cut off.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { SERVER_LIMITS } from '../config/limits.ts';

const long = new WeakSet<object>();

/** From now on this request may take as long as it needs, with pauses of up to SERVER_LIMITS.bulkIdleMs. */
export function allowLongUpload({ socket }: IncomingMessage): void {
  long.add(socket);
  // Node cuts a socket off by itself when nobody listens for this.
  socket.setTimeout(SERVER_LIMITS.bulkIdleMs);
}

/** Whether this connection carries, or carried, such an upload. */
export function isLongUpload(socket: Socket): boolean {
  return long.has(socket);
}

const ANSWERS: { readonly [code: string]: string } = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
};

/** Lets long uploads go on past the server's `requestTimeout`; all other broken requests end as Node ends them. */
export function spareLongUploads(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && long.has(socket)) return;
    const { _httpMessage: answering } = socket as Socket & { _httpMessage?: ServerResponse };
    if (socket.writable && !answering?.headersSent)
      socket.write(`HTTP/1.1 ${ANSWERS[error.code ?? ''] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
    socket.destroy(error);
  });
}
