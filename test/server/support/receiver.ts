// A receiver of what the server posts: TLS on this machine, under a name that looks public.

import { createServer, type Server } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { certificate } from '../../support/certificate.ts';

export interface Received {
  readonly url: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

/** One that listens until its test is over. */
export interface Receiver {
  readonly url: string;
  readonly ca: string;
  readonly received: Received[];
  /** The status for the next requests. */
  answer: (request: Received) => number;
  /** What it says with it. @default 'thanks' */
  says: string;
  until(holds: () => boolean): Promise<void>;
}

export const NAME = 'hooks.example.org';
/** As the name servers of the tests have it: the public-looking name leads to this machine. */
export const toHere: LookupFunction = (_host, options, done) =>
  options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4);

export async function withReceiver(work: (receiver: Receiver) => Promise<void>): Promise<void> {
  const received: Received[] = [];
  const watchers = new Set<() => void>();
  const receiver = { answer: (_: Received) => 200, says: 'thanks' };
  const server = createServer(certificate, (req, res) => {
    let body = '';
    req.on('data', (chunk) => {
      body += chunk;
    });
    req.on('end', () => {
      const one = { url: req.url!, headers: req.headers, body };
      const status = receiver.answer(one);
      received.push(one);
      res.writeHead(status, { location: 'https://127.0.0.1/elsewhere' }).end(receiver.says);
      for (const look of watchers) look();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const until = (holds: () => boolean) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (holds()) resolve();
        };
        watchers.add(look);
        look();
      });
    await work(
      Object.assign(receiver, {
        url: `https://${NAME}:${port}/hook?key=in-the-url`,
        ca: certificate.cert,
        received,
        until,
      }),
    );
  } finally {
    await end(server);
  }
}

function end(server: Server): Promise<unknown> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
}
