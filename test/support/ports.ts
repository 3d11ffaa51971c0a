// Free loopback ports for servers of tests.

import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

// Below the range from which the system takes ports for outgoing connections: there a port that is free now may be taken
// by a client a moment later.
const LOWEST = 20_000;
const HIGHEST = 32_000;
const TRIES = 50;

/** Makes the server listen on a free port of the loopback interface, or on the one that it `had`; resolves with it. */
export async function listenLow(server: Server, had?: number): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = had ?? randomInt(LOWEST, HIGHEST);
    try {
      await listen(server, port);
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || had || tries === TRIES) throw error;
    }
  }
}

/** A port that was free a moment ago, for a program that cannot be asked which one it took. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenLow(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1' }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
