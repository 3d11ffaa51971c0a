// Clients that hold connections: some send a byte now and then, some nothing at all.

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { nextAddress } from './wire.ts';

const BYTE_MS = 250;

/** What is sent at once, and what after it a byte at a time. */
export const DRIPS: { readonly [what: string]: readonly [atOnce: string, slowly: string] } = {
  'headers, a byte at a time': ['', `POST /api/ussd HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(1_000)}\r\n\r\n`],
  'a body, a byte at a time': [
    'POST /api/ussd HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n',
    ' '.repeat(1_000),
  ],
  'a chunked body, a byte at a time': [
    'POST /sessions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    '1\r\n \r\n'.repeat(1_000),
  ],
};

/** The milliseconds until the last of so many connections that drip has been ended by the server; at most `mostMs`. */
export async function dripUntilCut(port: number, options: { what: string; connections: number; mostMs: number }) {
  const { what, connections, mostMs } = options;
  const lasted = Array.from({ length: connections }, () => drip(port, DRIPS[what]!, mostMs));
  return Math.max(...(await Promise.all(lasted)));
}

function drip(port: number, [atOnce, slowly]: readonly [string, string], mostMs: number): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: nextAddress() });
  return new Promise((resolve) => {
    let [begun, at] = [performance.now(), 0];
    const end = () => {
      clearInterval(timer);
      clearTimeout(late);
      socket.destroy();
      resolve(performance.now() - begun);
    };
    const timer = setInterval(() => socket.write(slowly[at++] ?? ' '), BYTE_MS);
    const late = setTimeout(end, mostMs);
    socket.on('connect', () => {
      begun = performance.now();
      if (atOnce) socket.write(atOnce);
    });
    socket.on('error', () => {});
    // An answer to a body that nobody waits for is as good as the end: the connection holds no work any more.
    socket.resume().on('close', end);
  });
}

/** Bytes of memory that a process has. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1_024;
}

/** Connections that have had one answer each, and then say nothing. */
export async function openIdle(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  const answered: Promise<unknown>[] = [];
  for (let at = 0; at < count; at++) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: nextAddress() });
    sockets.push(socket);
    answered.push(
      new Promise<void>((resolve, reject) => {
        socket.once('data', () => resolve()).once('error', reject);
        socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
      }),
    );
    if (at % 50 === 49) await Promise.all(answered.splice(0));
  }
  await Promise.all(answered);
  return sockets;
}

/** What one idle connection costs, in bytes: of so many. */
export async function idleCost({ port, pid }: { port: number; pid: number }, count: number): Promise<number> {
  for (const socket of await openIdle(port, 100)) socket.destroy();
  await pause(3_000);
  const before = residentBytes(pid);
  const sockets = await openIdle(port, count);
  await pause(3_000);
  const cost = (residentBytes(pid) - before) / count;
  for (const socket of sockets) socket.destroy();
  return cost;
}
