// Requests over connections that are kept: the same one or another each time, as many as are wanted.

import { connect } from 'node:net';

export interface Requests {
  readonly connections: number;
  /** Of all connections together. */
  readonly count: number;
  /** What is sent as the request of this number: `GET / HTTP/1.1` and its headers, each line ended. */
  readonly text: (at: number) => string;
}

/** Sends them, each connection one after the other; rejects unless each is answered with 200 and a length. */
export async function requests(port: number, { connections, count, text }: Requests): Promise<void> {
  let sent = 0;
  const next = () => (sent < count ? `${text(sent++)}\r\n` : undefined);
  await Promise.all(Array.from({ length: connections }, () => connection(port, next)));
}

function connection(port: number, next: () => string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    let left = -1;
    const send = () => {
      const request = next();
      if (request) return void socket.write(request);
      socket.end();
      resolve();
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      if (left < 0) {
        const head = chunk.indexOf('\r\n\r\n');
        const text = chunk.toString('latin1', 0, head);
        if (!text.startsWith('HTTP/1.1 200')) return reject(new Error(`unexpected answer: ${text}`));
        left = Number(/content-length: (\d+)/i.exec(text)![1]) + head + 4;
      }
      left -= chunk.length;
      if (left > 0) return;
      left = -1;
      send();
    });
  });
}
