// Requests that ask for another protocol: those for WebSockets pass the doors as requests do; all others are answered as
// if they had not asked, for some HTTP clients ask for HTTP/2 whenever they connect.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Answer, findFlaw, type Listener } from './guard.ts';

/** The connection behind a request, and what its client has sent after it. */
export interface Upgrade {
  readonly socket: Socket;
  readonly head: Buffer;
}

const waiting = new WeakMap<IncomingMessage, () => Upgrade>();

/**
 * Hands requests for WebSockets to `app`, which answers them or takes their connection with {@link takeUpgrade}; also those that cannot be
 * read for sure, for it to refuse.
 */
export function passUpgrades(server: Server, app: Listener): void {
  server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    // Without a listener, a client that hangs up would end the process.
    socket.on('error', ignore);
    const isHanded = findFlaw(req) !== undefined || req.headers.upgrade?.toLowerCase() === 'websocket';
    const leave = attend(socket);
    whenAnswered(socket, () => {
      if (isHanded) return answer(app, req, { socket, head, leave });
      leave();
      goOn(server, req, { socket, head });
    });
  });
}

const ignore = () => {};

/** Bytes that a client may send before it is answered: frames, or the body of a request that asked for WebSockets by mistake. */
const EARLY_BYTES = 65_536;

// Node has let go of the connection. Until somebody takes it, what Node would hear of it is heard here: that the client takes what it is sent,
// or leaves. What it sends meanwhile is kept.
function attend(socket: Socket): () => void {
  const early: Buffer[] = [];
  let length = 0;
  const onDrain = () => answerOn(socket)?.emit('drain');
  const onEnd = () => socket.end();
  const onData = (chunk: Buffer) => {
    length += chunk.length;
    if (length > EARLY_BYTES) socket.destroy();
    else early.push(chunk);
  };
  socket.on('drain', onDrain).on('end', onEnd).on('data', onData);
  // Node stops to read while answers before this request wait to be sent, and does not begin again with a connection that it has let go of:
  // nobody would hear that the client leaves.
  socket._read(0);
  return () => {
    socket.off('drain', onDrain).off('end', onEnd).off('data', onData);
    // As Node hands it over: whoever listens next makes it flow.
    socket.pause();
    Object.assign(socket, { readableFlowing: null });
    if (early.length && !socket.readableEnded) socket.unshift(Buffer.concat(early));
  };
}

const answerOn = (socket: Socket) => (socket as Socket & { readonly _httpMessage?: ServerResponse })._httpMessage;

// A client may send its next request before it has the answers to those before. Its turn comes as that of plain requests does.
function whenAnswered(socket: Socket, then: () => void): void {
  const pending = answerOn(socket);
  if (pending) pending.once('close', () => setImmediate(whenAnswered, socket, then));
  else if (!socket.destroyed) then();
}

/** Takes over the connection of a request for a WebSocket; undefined for other requests. */
export function takeUpgrade(req: IncomingMessage): Upgrade | undefined {
  const take = waiting.get(req);
  waiting.delete(req);
  return take?.();
}

function answer(app: Listener, req: IncomingMessage, { socket, head, leave }: Upgrade & { leave: () => void }): void {
  const res = new Answer(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  const cutSocket = () => socket.destroySoon();
  res.once('finish', cutSocket);
  waiting.set(req, () => {
    leave();
    res.off('finish', cutSocket);
    res.detachSocket(socket);
    // Listeners for the end of the answer would take later errors of the connection for their own.
    res.statusCode = 101;
    res.emit('finish');
    res.emit('close');
    return { socket, head };
  });
  app(req, res);
}

const HOP = new Set(['upgrade', 'http2-settings']);

// Node has read the head of the request and let go of the connection: it reads it again, without the question.
function goOn(server: Server, req: IncomingMessage, { socket, head }: Upgrade): void {
  const lines = [`${req.method} ${req.url} HTTP/${req.httpVersion}`];
  for (let at = 0; at < req.rawHeaders.length; at += 2) {
    const [name, value] = [req.rawHeaders[at]!, req.rawHeaders[at + 1]!];
    const rest = name.toLowerCase() === 'connection' ? withoutHop(value) : value;
    if (!HOP.has(name.toLowerCase()) && rest) lines.push(`${name}: ${rest}`);
  }
  socket.off('error', ignore);
  // The time for which the connection might have been idle.
  socket.setTimeout(0);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

function withoutHop(connection: string): string {
  const names = connection.split(',').map((name) => name.trim());
  return names.filter((name) => !HOP.has(name.toLowerCase())).join(', ');
}
