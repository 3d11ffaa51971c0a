// The socket.io server and its engine: options, allowed origins, HTTP routes, limits of each connection, shutdown.

import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Socket as Connection, Server as Engine } from 'engine.io';
import type { Context, Middleware } from 'koa';
import { type Namespace, Server } from 'socket.io';
import type { Clock } from '../../lib/clock.ts';
import { isRepeat, readJson } from '../../lib/json/reader.ts';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import type { Config } from '../config/config.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { Refusal } from '../http/errors.ts';
import { WAITING } from '../http/guard.ts';
import { takeLivePlace } from '../http/live-places.ts';
import { takeUpgrade, type Upgrade } from '../http/upgrades.ts';
import { MemoryAdapter } from './memory-adapter.ts';
import type { SharedEvents } from './stream-adapter.ts';

export interface SocketServer {
  readonly io: Server;
  readonly door: Door;
  /**
   * Hangs up on everybody in a way that makes clients connect again, to another instance. Connections that do not end
   * within SERVER_LIMITS.socketGoodbyeMs are cut. Again: harmless.
   */
  close(): Promise<void>;
}

export interface SocketServerOptions {
  readonly config: Pick<Config, 'corsOrigins' | 'publicUrl'>;
  /** Through which instances share their events; without it there is one instance. */
  readonly redis: RedisConnection | undefined;
  readonly clock: Clock;
  readonly onProblem: (error: unknown) => void;
}

/** Makes the server; requests come to it through its door. */
export async function openSocketServer({
  config,
  redis,
  clock,
  onProblem,
}: SocketServerOptions): Promise<SocketServer> {
  const shared = redis && (await import('./stream-adapter.ts')).shareEvents({ connection: redis, clock, onProblem });
  const limits = { maxHttpBufferSize: SERVER_LIMITS.socketMessageBytes };
  const io = new Server({
    ...limits,
    serveClient: false,
    connectTimeout: SERVER_LIMITS.socketConnectMs,
    // Who comes back shows a token again.
    connectionStateRecovery: { maxDisconnectionDuration: SERVER_LIMITS.socketRecoveryMs, skipMiddlewares: false },
    adapter: shared?.adapter ?? openMemoryAdapter(clock),
  });
  const isWelcome = mayCall(config);
  const engine = new Engine({
    ...limits,
    transports: ['websocket', 'polling'],
    perMessageDeflate: false,
    allowRequest: (req: IncomingMessage, answer) => answer(isWelcome(req) ? null : REFUSED, isWelcome(req)),
  });
  io.bind(engine);
  engine.on('connection', (connection: Connection) => limitConnection(connection, clock));
  const door = socketDoor(engine);
  let closing: Promise<void> | undefined;
  return {
    io,
    door,
    close: () => {
      closing ??= close({ io, door, shared });
      return closing;
    },
  };
}

// Called with `new`, which no arrow function can be.
function openMemoryAdapter(clock: Clock) {
  return function openAdapter(namespace: Namespace): MemoryAdapter {
    return new MemoryAdapter(namespace, clock);
  };
}

const REFUSED = 'Pages of this origin may not call';

interface Open {
  readonly io: Server;
  readonly door: Door;
  readonly shared: SharedEvents | undefined;
}

async function close({ io, door, shared }: Open): Promise<void> {
  await io.close();
  await door.close();
  await shared?.close();
}

/** Tells whether a request comes from no web page, from one of ours, or from one that CORS_ORIGIN lets in. */
function mayCall({
  corsOrigins,
  publicUrl,
}: Pick<Config, 'corsOrigins' | 'publicUrl'>): (req: IncomingMessage) => boolean {
  if (corsOrigins === '*') return () => true;
  const known = new Set([...corsOrigins, ...(publicUrl ? [new URL(publicUrl).origin] : [])]);
  return ({ headers: { origin } }) => origin === undefined || known.has(origin);
}

export interface Door {
  /** Where its requests go. */
  readonly path: string;
  /** Takes requests of connections that are open already: they have bounds of their own. */
  readonly packets: Middleware;
  /** Takes all others; they are counted, limited and turned away as requests are. */
  readonly handshakes: Middleware;
  /** Resolves when the connections have ended; after SERVER_LIMITS.socketGoodbyeMs they are cut. */
  close(): Promise<void>;
}

const PATH = '/socket.io/';

function socketDoor(engine: Engine): Door {
  const open = new Set<string>();
  const wires = new Set<Socket>();
  /** What frees the places of handshakes that are no connection yet. */
  const arriving = new WeakMap<object, Arrival>();
  engine.on('connection', (connection: Connection) => {
    const { id, request } = connection as unknown as { readonly id: string; readonly request: IncomingMessage };
    open.add(id);
    connection.once('close', () => open.delete(id));
    const arrival = arriving.get(request);
    if (!arrival) return;
    arriving.delete(request);
    arrival.wire.off('close', arrival.giveUp);
    connection.once('close', arrival.leave);
  });

  function hand(ctx: Context, upgrade: Upgrade | undefined): void {
    ctx.respond = false;
    ctx.status = upgrade ? 101 : 200;
    ctx._matchedRoute = PATH;
    ctx.res.emit(WAITING);
    if (upgrade) take(ctx.req, upgrade);
    else engine.handleRequest(ctx.req as never, ctx.res);
  }

  // The connection holds the place; a handshake that leads to none gives it back.
  function arrive(ctx: Context): void {
    const { req, res } = ctx;
    const leave = takeLivePlace(res);
    const upgrade = takeUpgrade(req);
    const giveUp = () => {
      if (arriving.delete(req)) leave();
    };
    const wire = upgrade?.socket ?? res;
    arriving.set(req, { leave, giveUp, wire });
    wire.once('close', giveUp);
    hand(ctx, upgrade);
  }

  function take(req: IncomingMessage, { socket, head }: Upgrade): void {
    wires.add(socket);
    socket.once('close', () => wires.delete(socket));
    engine.handleUpgrade(req as never, socket, head);
  }

  return {
    path: PATH,
    packets: (ctx, next) => {
      const { sid } = ctx.query;
      const isKnown = ctx.path === PATH && typeof sid === 'string' && open.has(sid);
      return isKnown ? hand(ctx, takeUpgrade(ctx.req)) : next();
    },
    handshakes: (ctx, next) => {
      if (ctx.path !== PATH) return next();
      // Pages of any origin can load a script, and so read what is polled as JSONP: CORS_ORIGIN would not cover it.
      if (ctx.query.j !== undefined) throw new Refusal('bad-request', 'Polling as JSONP is not served.');
      if (open.size >= SERVER_LIMITS.sockets) throw new Refusal('unavailable', 'There are too many open sockets.');
      return arrive(ctx);
    },
    async close() {
      const over = performance.now() + SERVER_LIMITS.socketGoodbyeMs;
      while ((wires.size || open.size) && performance.now() < over) await pause(LOOK_MS);
      for (const wire of wires) wire.destroy();
    },
  };
}

/** The place of a handshake that is no connection yet: what frees it, and what does when its wire closes. */
interface Arrival {
  readonly leave: () => void;
  readonly giveUp: () => void;
  readonly wire: EventEmitter;
}

const LOOK_MS = 10;

/** What is used of the WebSocket below. */
interface Wire {
  readonly bufferedAmount: number;
  terminate(): void;
}

interface Packet {
  readonly data?: string | Buffer | ArrayBuffer;
}

/** Cuts a connection off when it sends too many packets of any kind, one that says a name twice, or leaves too many bytes waiting. */
function limitConnection(connection: Connection, clock: Pick<Clock, 'monotonic'>): void {
  let left: number = SERVER_LIMITS.socketMessagesAtOnce;
  let seenAt = clock.monotonic();
  let waiting = 0;
  // Of a polling client that does not come back for its goodbye.
  Object.assign(connection.transport, { closeTimeout: SERVER_LIMITS.socketGoodbyeMs });

  connection.on('packet', ({ data }: Packet) => {
    const now = clock.monotonic();
    const more = ((now - seenAt) / 1_000) * SERVER_LIMITS.socketMessagesPerSecond;
    left = Math.min(SERVER_LIMITS.socketMessagesAtOnce, left + more);
    left -= 1 + countBytes(data) / SERVER_LIMITS.socketShareBytes;
    seenAt = now;
    if (left < 0 || repeatsName(data)) cut(connection);
  });
  connection.on('packetCreate', ({ data }: Packet) => {
    waiting += countBytes(data);
    if (waiting + (findWire(connection)?.bufferedAmount ?? 0) > SERVER_LIMITS.socketWaitingBytes) cut(connection);
  });
  connection.on('flush', () => {
    waiting = 0;
  });
}

// Two readers could take different ones of them, and the library has forgotten the first when it hands the packet on. No client that
// writes its packets with JSON.stringify ever says one twice.
function repeatsName(data: Packet['data']): boolean {
  const begin = typeof data === 'string' ? data.search(/[[{]/) : -1;
  if (begin < 0) return false;
  const reading = readJson((data as string).slice(begin));
  return 'flaw' in reading && isRepeat(reading.flaw);
}

// One that does not read would not answer a goodbye either.
function cut(connection: Connection): void {
  const wire = findWire(connection);
  connection.close(true);
  wire?.terminate();
}

const countBytes = (data: Packet['data']): number =>
  typeof data === 'string' ? Buffer.byteLength(data) : (data?.byteLength ?? 0);

// Undefined while it is polling.
function findWire({ transport }: Connection): Wire | undefined {
  return (transport as unknown as { readonly socket?: Wire }).socket;
}
