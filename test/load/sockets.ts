// Clients of socket.io that were let in and then only answer pings. They speak the protocol themselves: 10,000 clients of the
// library would be the load, and not its object. Packets: https://socket.io/docs/v4/engine-io-protocol, …/socket-io-protocol.

import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { SERVER_LIMITS } from '../../server/config/limits.ts';
import { newUser } from '../server/plugins/users.ts';
import type { Place } from './place.ts';
import { residentBytes } from './slow.ts';
import { nextAddress } from './wire.ts';

/** Longer than the time between two pings: what came with the handshake is let go by then. */
const PING_MS = 30_000;

/** What one idle socket costs, in bytes: of so many, each user with as many as one may have. */
export async function idleSocketCost(place: Place, count: number): Promise<number> {
  await openIdleSockets(place, 100).then(closeAll);
  await pause(3_000);
  const before = residentBytes(place.pid);
  const sockets = await openIdleSockets(place, count);
  await pause(PING_MS);
  const cost = (residentBytes(place.pid) - before) / count;
  await closeAll(sockets);
  return cost;
}

async function openIdleSockets(place: Place, count: number): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  while (sockets.length < count) {
    const visitor = await newVisitor(place.url);
    const wanted = Math.min(SERVER_LIMITS.socketsPerUser, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: wanted }, () => openSocket(place.port, visitor)))));
  }
  return sockets;
}

interface Visitor {
  readonly sessionId: string;
  readonly invocation: string;
}

async function newVisitor(url: string): Promise<Visitor> {
  const { headers } = await newUser();
  const made = await fetch(`${url}/sessions`, { method: 'POST', headers });
  if (made.status !== 201) throw new Error(`POST /sessions answered ${made.status}: ${await made.text()}`);
  const { sessionId } = (await made.json()) as { sessionId: string };
  return { sessionId, invocation: headers.authorization!.replace('Bearer ', '') };
}

/** Resolves when the server has let it in. */
function openSocket(port: number, { sessionId, invocation }: Visitor): Promise<WebSocket> {
  const query = new URLSearchParams({ EIO: '4', transport: 'websocket', sessionId });
  const socket = new WebSocket(`ws://127.0.0.1:${port}/socket.io/?${query}`, { localAddress: nextAddress() });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', (code) => reject(new Error(`a socket was closed with ${code} before it was let in`)));
    socket.on('message', (data) => {
      const packet = String(data);
      if (packet.startsWith('0')) socket.send(`40${JSON.stringify({ invocation })}`);
      else if (packet === '2') socket.send('3');
      else if (packet.startsWith('40')) resolve(socket);
      else if (packet.startsWith('44')) reject(new Error(`a socket was refused: ${packet}`));
    });
  });
}

async function closeAll(sockets: readonly WebSocket[]): Promise<void> {
  await Promise.all(
    sockets.map((socket) => {
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.terminate();
      return closed;
    }),
  );
}
