// A listener on a port: Node's server with the timeouts that slow and idle clients are held to, and its orderly end.

import { createServer, type Server } from 'node:http';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { type ConnectionOptions, type Connections, spareLongUploads, watchConnections } from './connections.ts';
import { Answer, answerInTurn, type Listener, refuseUnclear } from './guard.ts';
import { passUpgrades } from './upgrades.ts';

export interface Listening {
  /** Without a slash at its end; a server on all addresses is named by the loopback one. */
  readonly url: string;
  /** Takes no more connections, lets requests finish for at most `patienceMs`, then cuts off what is left. */
  close(patienceMs: number): Promise<void>;
}

const TIMEOUTS = {
  /** For all headers of a request, and for the first byte of a connection. */
  headersTimeout: 5_000,
  /** For a whole request with its body. */
  requestTimeout: 10_000,
  /** How often the two above are looked at. */
  connectionsCheckingInterval: 1_000,
  /** Longer than the 60 s after which common load balancers drop an idle connection: they must be first. */
  keepAliveTimeout: 65_000,
} as const;

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** For tests: other timeouts. */
  readonly timeouts?: { readonly [name in keyof typeof TIMEOUTS]?: number };
  /** Of clients that have too many connections, or do not read what they asked for. */
  readonly connections?: ConnectionOptions | undefined;
}

/** Listens. Throws ERR_CONFIG when the port cannot be had. */
export async function listen(app: Listener, options: ListenOptions): Promise<Listening> {
  const { host, port, timeouts } = options;
  const { clock = systemClock } = options.connections ?? {};
  const inTurn = answerInTurn(() => options.connections?.onCut?.('ahead'));
  const { plain, continued, unmet } = refuseUnclear(app);
  // A request without a Host is refused as others are that cannot be read for sure.
  const server = createServer({ ...TIMEOUTS, ...timeouts, ServerResponse: Answer, requireHostHeader: false });
  server.on('request', inTurn(plain)).on('checkContinue', inTurn(continued)).on('checkExpectation', inTurn(unmet));
  spareLongUploads(server);
  passUpgrades(server, plain);
  server.maxHeadersCount = SERVER_LIMITS.headersPerRequest;
  const connections = watchConnections(server, options.connections);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      connections.stop();
      reject(portError(error, { host, port }));
    });
    server.listen(port, host, BACKLOG, () => resolve());
  });
  return { url: findUrl(server), close: (patienceMs) => close(server, { patienceMs, connections, clock }) };
}

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses it. Stop that program or set another PORT',
  EACCES: 'this user may not use it. Set a PORT above 1023',
  EADDRNOTAVAIL: 'this machine has no such address. Set HOST=127.0.0.1 or HOST=0.0.0.0',
  ENOTFOUND: 'no such host is known. Set HOST=127.0.0.1 or HOST=0.0.0.0',
};

function portError(error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): TwinlineError {
  const why = WHY[error.code ?? ''] ?? `${error.code}`;
  return new TwinlineError('ERR_CONFIG', `Cannot listen on ${host}:${port}: ${why}.`, { cause: error });
}

function findUrl(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return writeUrl(address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address, port);
}

/** Where a request has reached this server. Never what the request says: its headers may name another server. */
export function localUrl({ localAddress = '', localPort = 0 }: Pick<Socket, 'localAddress' | 'localPort'>): string {
  return writeUrl(localAddress.replace(/^::ffff:/, ''), localPort);
}

const writeUrl = (host: string, port: number) => `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;

const LOOK_MS = 25;
/** Connections that the system keeps for a server which has not accepted them: what `listen` asks for, where the system allows that. */
const BACKLOG = 511;
/** A turn of the event loop accepts a connection and the next one reads from it. */
const QUIET_TURNS = 2;

interface Closing {
  readonly patienceMs: number;
  readonly connections: Connections;
  readonly clock: Clock;
}

// What clients sent before this is answered; the system would reset the connections that it keeps for us, and Node those that it takes for
// idle, with requests on them that nobody has read.
async function close(server: Server, { patienceMs, connections, clock }: Closing): Promise<void> {
  const over = new AbortController();
  void clock.wait(patienceMs, over.signal).then(() => server.closeAllConnections());
  const cutIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => connections.spareSending(cutIdle);
  await takeWhatCame(server);
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  connections.cutSilent();
  // A connection that was busy becomes idle after its answer, and then holds the server open. Right after the event loop has read what there
  // was, for its next request may be there.
  const idle = setInterval(() => setImmediate(() => server.closeIdleConnections()), LOOK_MS);
  await closed;
  clearInterval(idle);
  over.abort();
  connections.stop();
}

/** Resolves, right after the event loop has read what there was, when it has accepted no connection for a while. */
async function takeWhatCame(server: Server): Promise<void> {
  let accepted = 0;
  const count = () => {
    accepted++;
  };
  server.on('connection', count);
  // Clients that come in without end do not keep a server from its end.
  for (let quiet = 0; quiet < QUIET_TURNS && accepted <= BACKLOG; ) {
    const before = accepted;
    await new Promise((resolve) => setImmediate(resolve));
    quiet = accepted === before ? quiet + 1 : 0;
  }
  server.off('connection', count);
}
