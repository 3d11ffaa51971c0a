// Bounds the connections of each client, and disconnects clients that do not read responses or do not finish sending
// requests.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, every, systemClock } from '../../lib/clock.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import type { CutReason } from '../telemetry/metrics.ts';
import type { Answer } from './guard.ts';

export interface ConnectionRules {
  /** Milliseconds without a byte taken. @default SERVER_LIMITS.answerStallMs */
  readonly stallMs?: number;
  /** Of a large answer or one that is still being made, the least bytes. @default SERVER_LIMITS.answerLeastBytes */
  readonly leastBytes?: number;
  /** That must be taken in so many milliseconds. @default SERVER_LIMITS.answerLeastMs */
  readonly leastMs?: number;
  /** Of the body of a request, the least bytes that must come in so many milliseconds. @default SERVER_LIMITS.bodyLeastBytes */
  readonly bodyBytes?: number;
  /** @default SERVER_LIMITS.bodyLeastMs */
  readonly bodyMs?: number;
  /** Connections of one client. @default SERVER_LIMITS.connectionsPerClient */
  readonly perClient?: number;
  /** @default the system's clock */
  readonly clock?: Clock;
}

export interface ConnectionOptions extends ConnectionRules {
  /** Under which name the connections of a peer count together; undefined: they are not counted. @default none are counted */
  readonly countedAs?: (socket: Socket) => string | undefined;
  /** Called for each connection that is one too many of a client. */
  readonly onRefused?: (client: string) => void;
  readonly onCut?: (reason: CutReason) => void;
}

export interface Connections {
  /** Looks at each connection now, and cuts off those whose clients do not read. */
  look(): void;
  /** Cuts off connections that have never said anything; for Node they are about to, until its own timeout. */
  cutSilent(): void;
  /** Calls `cut` while no connection is idle on which the last bytes of an answer wait for a client: for Node it is. */
  spareSending(cut: () => void): void;
  stop(): void;
}

/** The progress of a client that reads a response. Times are monotonic. */
interface ClientProgress {
  /** Bytes that the system has taken for the client. */
  taken: number;
  takenAt: number;
  /** Where the client was when its rate was looked at last. */
  before: { readonly taken: number; readonly at: number };
}

/** The progress of a client that sends a request body. */
interface Arriving {
  readonly req: IncomingMessage;
  readonly read: number;
  readonly at: number;
}

const LOOK_MS = 1_000;
const TOO_SLOW = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';

/** Watches the connections of a server from now on. */
export function watchConnections(server: Server, options: ConnectionOptions = {}): Connections {
  const { stallMs = SERVER_LIMITS.answerStallMs, clock = systemClock, onCut } = options;
  const { leastBytes = SERVER_LIMITS.answerLeastBytes, leastMs = SERVER_LIMITS.answerLeastMs } = options;
  const { bodyBytes = SERVER_LIMITS.bodyLeastBytes, bodyMs = SERVER_LIMITS.bodyLeastMs } = options;
  const arriving = new WeakMap<Socket, Arriving>();
  const open = new Map<Socket, ClientProgress | undefined>();

  function findTrouble(socket: Socket, now: number): CutReason | undefined {
    const unsent = unsentAnswer(socket);
    if (!unsent) {
      open.set(socket, undefined);
      return undefined;
    }
    const { taken, answer, bytes } = unsent;
    const progress = open.get(socket) ?? { taken, takenAt: now, before: { taken, at: now } };
    open.set(socket, progress);
    if (taken !== progress.taken) Object.assign(progress, { taken, takenAt: now });
    if (now - progress.takenAt >= stallMs) return 'stalled';
    if (now - progress.before.at < leastMs) return undefined;
    const isLarge = bytes >= leastBytes || !answer.writableEnded;
    if (isLarge && taken - progress.before.taken < leastBytes) return 'slow';
    progress.before = { taken, at: now };
    return undefined;
  }

  // Node would accept a byte per second until its timeout for whole requests, which must suit large ones.
  function isBodyTooSlow(socket: Socket, now: number): boolean {
    const req = arrivingBody(socket);
    const body = arriving.get(socket);
    if (!req) arriving.delete(socket);
    else if (body?.req !== req) arriving.set(socket, { req, read: socket.bytesRead, at: now });
    else if (now - body.at >= bodyMs) {
      if (socket.bytesRead - body.read < bodyBytes) return true;
      arriving.set(socket, { req, read: socket.bytesRead, at: now });
    }
    return false;
  }

  function look(): void {
    const now = clock.monotonic();
    for (const socket of open.keys()) {
      const reason = isBodyTooSlow(socket, now) ? 'body' : findTrouble(socket, now);
      if (!reason) continue;
      onCut?.(reason);
      const answer = reason === 'body' ? viewInside(socket)._httpMessage : undefined;
      if (answer && !answer.headersSent) socket.write(TOO_SLOW);
      socket.destroy();
    }
  }

  server.on('connection', connectionCounter(open, options));
  const stop = every(clock, Math.min(LOOK_MS, stallMs / 4), look);
  return {
    look,
    cutSilent: () => {
      for (const socket of open.keys()) if (socket.bytesRead === 0) socket.destroy();
    },
    spareSending: (cut) => {
      const answers = [...open.keys()].map((socket) => viewInside(socket)._httpMessage);
      const sending = answers.filter((answer) => answer?.writableEnded);
      for (const answer of sending) answer!.finished = false;
      cut();
      for (const answer of sending) answer!.finished = true;
    },
    stop,
  };
}

/** Adds connections to `open`; ends those of a client with too many. */
function connectionCounter(
  open: Map<Socket, ClientProgress | undefined>,
  options: ConnectionOptions,
): (socket: Socket) => void {
  const { perClient = SERVER_LIMITS.connectionsPerClient, countedAs, onRefused } = options;
  const counts = new Map<string, number>();
  return (socket) => {
    // A connection is entered again after an ignored request to upgrade.
    if (open.has(socket)) return;
    open.set(socket, undefined);
    const client = countedAs?.(socket);
    const count = client === undefined ? 0 : (counts.get(client) ?? 0) + 1;
    if (client !== undefined) counts.set(client, count);
    socket.once('close', () => {
      open.delete(socket);
      if (client === undefined) return;
      const left = counts.get(client)! - 1;
      if (left > 0) counts.set(client, left);
      else counts.delete(client);
    });
    if (count <= perClient) return;
    onRefused?.(client!);
    socket.destroy();
  };
}

interface Unsent {
  readonly answer: Answer;
  /** Bytes that wait. */
  readonly bytes: number;
  /** Bytes that the system has taken so far; of an upload that is answered line by line, those that came count too. */
  readonly taken: number;
}

// `writableLength` holds a body until its last byte is taken; only the handle knows how far the system has come. Node
// decides by the same number whether a connection is idle.
type Inside = {
  readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
  readonly _httpMessage?: Answer | null;
  readonly parser?: { readonly incoming: IncomingMessage | null } | null;
};

const viewInside = (socket: Socket) => socket as unknown as Inside;

// The request whose body has not come whole, though it may be answered; undefined also where it is we who do not read on.
function arrivingBody(socket: Socket): IncomingMessage | undefined {
  const req = viewInside(socket).parser?.incoming;
  if (!req || req.complete || isLongUpload(socket)) return undefined;
  return req.readableLength < req.readableHighWaterMark ? req : undefined;
}

// Undefined where nothing waits, and where the door has rules of its own for slow readers.
function unsentAnswer(socket: Socket): Unsent | undefined {
  const { _handle: handle, _httpMessage: answer } = viewInside(socket);
  if (!handle || !answer || (answer.isWaiting && !answer.writableEnded)) return undefined;
  const bytes = Math.max(socket.writableLength, handle.writeQueueSize);
  if (bytes === 0) return undefined;
  const came = isLongUpload(socket) ? socket.bytesRead : 0;
  return { answer, bytes, taken: handle.bytesWritten - handle.writeQueueSize + came };
}

/** Connections with uploads that may take longer than other requests: as long as bytes come or go, they are not cut off. */
const long = new WeakSet<object>();

/** Exempts a request from time limits, except for pauses longer than SERVER_LIMITS.bulkIdleMs. */
export function allowLongUpload({ socket }: IncomingMessage): void {
  long.add(socket);
  // Node destroys the socket when there is no listener for the timeout.
  socket.setTimeout(SERVER_LIMITS.bulkIdleMs);
}

/** Whether this connection carries, or carried, such an upload. */
export function isLongUpload(socket: Socket): boolean {
  return long.has(socket);
}

const BROKEN_REQUESTS: { readonly [code: string]: string } = {
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
      socket.write(`HTTP/1.1 ${BROKEN_REQUESTS[error.code ?? ''] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
    socket.destroy(error);
  });
}
