// `twinline inspect`: opens the inspector of a running server at a local URL that contains a token.
//
// A proxy for the inspector only, with a token for this run. The operator token stays in this process. Other sites know neither the port
// nor the token, and requests from their pages are rejected by their headers.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, request as plainRequest, type ServerResponse } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { parseArgs } from 'node:util';
import { Answer, answerInTurn } from '../../http/guard.ts';
import { isForeign } from '../../http/middleware/operator.ts';
import { readErrorCode, readOperatorToken, readServerUrl, serviceError } from '../remote.ts';
import { UsageError, type Verb } from '../verb.ts';

const OPTIONS = {
  url: { type: 'string' },
  session: { type: 'string' },
  port: { type: 'string', default: '0' },
  stately: { type: 'boolean', default: false },
} as const;

export const inspectVerb: Verb = {
  usage: '[options]',
  options: {
    '--url <address>': 'the server, default http://127.0.0.1:<PORT, or 3000>',
    '--session <id>': 'the session to follow',
    '--port <number>': 'of this machine, where the page is, default any that is free',
    '--stately': 'where Stately’s tools can listen, and the way to its page on the internet',
    '(token)': 'OPERATOR_TOKEN, where the server has one; it stays in this process',
  },
  run: async (args, env) => {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    const server = readServerUrl(values.url ?? `http://127.0.0.1:${env.PORT?.trim() || '3000'}`);
    const port = readPort(values.port);
    const token = readOperatorToken(env);
    await checkServer(server, token);
    const door = await inspectDoor({ server, token, port }).catch((error: unknown) => {
      throw serviceError(`Cannot listen on 127.0.0.1:${port} (${readErrorCode(error)}). Give another --port.`, false);
    });
    for (const line of formatAddresses(door.url, values)) console.log(line);
    const stop = () => void door.close();
    process.once('SIGINT', stop).once('SIGTERM', stop);
    return undefined;
  },
};

function formatAddresses(
  url: string,
  { session, stately }: { session?: string | undefined; stately: boolean },
): string[] {
  const page = session === undefined ? url : `${url}#session=${encodeURIComponent(session)}`;
  const socket = url.replace(/^http/, 'ws').replace('/inspector?', '/inspector/stately?');
  return [
    `Inspector: ${page}`,
    ...(stately
      ? [
          `Stately’s tools listen at: ${socket}`,
          `Or in a browser: ${url.replace('/inspector?', '/inspector/stately?')}`,
          'That page hands what it shows to a page of stately.ai, once its button is pressed.',
        ]
      : []),
    'The address holds the token of this run: everybody who has it can watch. Ctrl+C ends it.',
  ];
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new UsageError(`"${text}" is no port: give a number up to 65535.`);
  return port;
}

const WHY: { readonly [status: number]: string } = {
  401: 'it has an OPERATOR_TOKEN: set the same one here',
  404: 'it has no inspector for you. In production it needs an OPERATOR_TOKEN; in development only its own machine may look',
};

async function checkServer(server: string, token: string | undefined): Promise<void> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(`${server}/inspector/machines`, { headers, redirect: 'error' }).catch((error: unknown) => {
    throw serviceError(`Cannot reach ${server} (${readErrorCode(error)}). Is the server running?`, true);
  });
  await answer.body?.cancel();
  if (!answer.ok)
    throw serviceError(`${server} refuses: ${WHY[answer.status] ?? `it answered ${answer.status}`}.`, false);
}

interface InspectDoor {
  /** Contains the token. */
  readonly url: string;
  close(): Promise<void>;
}

interface InspectDoorOptions {
  /** URL of the running server, without a trailing slash. */
  readonly server: string;
  /** Its OPERATOR_TOKEN, if any. */
  readonly token: string | undefined;
  /** @default any free port */
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

/** Listens on 127.0.0.1. Rejects if the port is not available. */
async function inspectDoor({ server, token, port = 0 }: InspectDoorOptions): Promise<InspectDoor> {
  const secret = randomBytes(24).toString('base64url');
  const sockets = new Set<Duplex>();

  const findRefusal = (req: IncomingMessage): string | undefined => {
    const { port: own } = door.address() as AddressInfo;
    if (req.headers.host !== `127.0.0.1:${own}`) return 'Open this under 127.0.0.1, as it was printed.';
    if (isForeign(req.headers)) return 'Another site asks for this.';
    if (!READ.has(req.method!)) return 'This is only for looking.';
    if (!URL.canParse(req.url!, server)) return 'This is no address.';
    return undefined;
  };
  const holdsToken = (sent: string | undefined) =>
    sent !== undefined && sent.length === secret.length && timingSafeEqual(Buffer.from(sent), Buffer.from(secret));
  const readCookie = ({ headers: { cookie = '' } }: IncomingMessage) =>
    cookie
      .split(/;\s*/)
      .find((part) => part.startsWith(`${COOKIE}=`))
      ?.slice(COOKIE.length + 1);
  const forwardHeaders = ({ headers }: IncomingMessage) => ({
    ...Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP.has(name) && !name.startsWith('sec-fetch-'))),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  });
  const ask = server.startsWith('https:') ? tlsRequest : plainRequest;

  // Each response has a connection of its own, so the request to the server ends with it.
  const inTurn = answerInTurn(() => {});
  const handOn = inTurn((req, res) => {
    const refusal = findRefusal(req);
    if (refusal !== undefined) return respond(res, 403, refusal);
    // Normalized, so that no proxy on the way resolves `..`.
    const { pathname, search, searchParams } = new URL(req.url!, server);
    const given = searchParams.get('token');
    if (given !== null) {
      if (!holdsToken(given)) return respond(res, 403, 'This is not the address that was printed.');
      searchParams.delete('token');
      const cookie = `${COOKIE}=${secret}; Path=/; Max-Age=${SECONDS}; HttpOnly; SameSite=Strict`;
      const query = searchParams.size ? `?${searchParams}` : '';
      return respond(res, 303, '', {
        location: pathname + query,
        'set-cookie': cookie,
        'referrer-policy': 'no-referrer',
      });
    }
    if (!holdsToken(readCookie(req))) return respond(res, 403, 'Open the address that was printed, with its token.');
    if (!HANDED_ON.test(pathname)) return respond(res, 404, 'Only the inspector is here.');
    const forwarded = ask(
      server + pathname + search,
      { method: req.method!, headers: forwardHeaders(req), agent: false },
      (answer) => {
        const headers = Object.entries(answer.headers).filter(([name]) => !HOP.has(name) && name !== 'set-cookie');
        res.writeHead(answer.statusCode!, Object.fromEntries(headers));
        res.flushHeaders();
        answer.pipe(res);
        answer.on('error', () => res.destroy());
      },
    );
    forwarded.on('error', () =>
      res.headersSent ? res.destroy() : respond(res, 502, `Cannot reach ${server}. Does it run?`),
    );
    res.on('close', () => forwarded.destroy());
    forwarded.end();
    return undefined;
  });
  const door = createServer({ ServerResponse: Answer }, handOn);

  door.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // Stately's tools send no cookie; their token is in the URL.
  door.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const refuse = () => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    if (findRefusal(req) !== undefined) return refuse();
    const { pathname, searchParams } = new URL(req.url!, server);
    if (pathname !== '/inspector/stately' || !holdsToken(searchParams.get('token') ?? readCookie(req))) return refuse();
    const headers = { ...forwardHeaders(req), connection: 'Upgrade', upgrade: 'websocket' };
    const forwarded = ask(server + pathname, { headers, agent: false });
    forwarded.on('upgrade', (answer, behind, first) => {
      behind.on('error', () => behind.destroy());
      const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
      socket.write(first);
      behind.write(head);
      behind.pipe(socket).pipe(behind);
      socket.once('close', () => behind.destroy());
    });
    forwarded.on('response', ({ statusCode }) =>
      socket.end(`HTTP/1.1 ${statusCode} Refused\r\nContent-Length: 0\r\n\r\n`),
    );
    forwarded.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n'));
    return forwarded.end();
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

function respond(res: ServerResponse, status: number, words: string, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers });
  res.end(words && `${words}\n`);
}
