// The inspector of a running server at an address of this machine: handed on to whoever has the token of this run.
//
// The operators' token stays in this process. A page of another site knows neither the port nor the token, and is turned
// away by the headers that its browser sends.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, request as plainRequest, type ServerResponse } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isForeign } from '../http/middleware/own-origin.ts';

export interface InspectDoor {
  /** With the token in it. */
  readonly url: string;
  close(): Promise<void>;
}

export interface InspectDoorOptions {
  /** The running server, without a slash at its end. */
  readonly server: string;
  /** Its OPERATOR_TOKEN, where it has one. */
  readonly token: string | undefined;
  /** @default any that is free */
  readonly port?: number;
}

const COOKIE = 'twinline-inspect';
const SECONDS = 28_800;
const READ = new Set(['GET', 'HEAD']);
const HANDED_ON = /^\/(inspector|pages)(\/|$)/;
const HOP = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'host',
  'origin',
  'cookie',
  'authorization',
  'referer',
]);

/** Opens the door on 127.0.0.1. Rejects when the port cannot be had. */
export async function inspectDoor({ server, token, port = 0 }: InspectDoorOptions): Promise<InspectDoor> {
  const secret = randomBytes(24).toString('base64url');
  const sockets = new Set<Duplex>();

  const refusalOf = (req: IncomingMessage): string | undefined => {
    const { port: own } = door.address() as AddressInfo;
    if (req.headers.host !== `127.0.0.1:${own}`) return 'Open this under 127.0.0.1, as it was printed.';
    if (isForeign(req.headers)) return 'Another site asks for this.';
    if (!READ.has(req.method!)) return 'This is only for looking.';
    return undefined;
  };
  const holds = (given: string | undefined) =>
    given !== undefined && given.length === secret.length && timingSafeEqual(Buffer.from(given), Buffer.from(secret));
  const cookieOf = ({ headers: { cookie = '' } }: IncomingMessage) =>
    cookie
      .split(/;\s*/)
      .find((part) => part.startsWith(`${COOKIE}=`))
      ?.slice(COOKIE.length + 1);
  const headersFor = ({ headers }: IncomingMessage) => ({
    ...Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP.has(name) && !name.startsWith('sec-fetch-'))),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  });
  const ask = server.startsWith('https:') ? tlsRequest : plainRequest;

  const door = createServer((req, res) => {
    const refusal = refusalOf(req);
    if (refusal !== undefined) return say(res, 403, refusal);
    // Without the steps up that a proxy on the way might take.
    const { pathname, search, searchParams } = new URL(req.url!, server);
    const given = searchParams.get('token');
    if (given !== null) {
      if (!holds(given)) return say(res, 403, 'This is not the address that was printed.');
      searchParams.delete('token');
      const cookie = `${COOKIE}=${secret}; Path=/; Max-Age=${SECONDS}; HttpOnly; SameSite=Strict`;
      const query = searchParams.size ? `?${searchParams}` : '';
      return say(res, 303, '', { location: pathname + query, 'set-cookie': cookie, 'referrer-policy': 'no-referrer' });
    }
    if (!holds(cookieOf(req))) return say(res, 403, 'Open the address that was printed, with its token.');
    if (!HANDED_ON.test(pathname)) return say(res, 404, 'Only the inspector is here.');
    const asked = ask(
      server + pathname + search,
      { method: req.method!, headers: headersFor(req), agent: false },
      (answer) => {
        const headers = Object.entries(answer.headers).filter(([name]) => !HOP.has(name) && name !== 'set-cookie');
        res.writeHead(answer.statusCode!, Object.fromEntries(headers));
        res.flushHeaders();
        answer.pipe(res);
        answer.on('error', () => res.destroy());
      },
    );
    asked.on('error', () => (res.headersSent ? res.destroy() : say(res, 502, `Cannot reach ${server}. Does it run?`)));
    res.on('close', () => asked.destroy());
    asked.end();
    return undefined;
  });

  door.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // Stately's tools send no cookie: for them the token stands in the address.
  door.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const url = new URL(req.url!, server);
    const mayCome = holds(url.searchParams.get('token') ?? cookieOf(req)) && url.pathname === '/inspector/stately';
    if (refusalOf(req) !== undefined || !mayCome)
      return socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    const headers = { ...headersFor(req), connection: 'Upgrade', upgrade: 'websocket' };
    const asked = ask(server + url.pathname, { headers, agent: false });
    asked.on('upgrade', (answer, behind, first) => {
      behind.on('error', () => behind.destroy());
      const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
      socket.write(first);
      behind.write(head);
      behind.pipe(socket).pipe(behind);
      socket.once('close', () => behind.destroy());
    });
    asked.on('response', ({ statusCode }) => socket.end(`HTTP/1.1 ${statusCode} Refused\r\nContent-Length: 0\r\n\r\n`));
    asked.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n'));
    return asked.end();
  });

  await new Promise<void>((resolve, reject) => {
    door.once('error', reject);
    door.listen(port, '127.0.0.1', resolve);
  });
  const { port: own } = door.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}/inspector?token=${secret}`,
    close: () =>
      new Promise((resolve) => {
        door.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function say(res: ServerResponse, status: number, words: string, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers });
  res.end(words && `${words}\n`);
}
