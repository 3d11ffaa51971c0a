// The socket.io server and its engine: options, allowed origins, HTTP routes, connection limits, shutdown.

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
import { takeLivePlace } from '../http/unsent.ts';
import { takeUpgrade, type Upgrade } from '../http/upgrades.ts';
import { MemoryAdapter } from './memory-adapter.ts';
import type { SharedEvents } from './stream-adapter.ts';

export interface SocketServer {
  readonly io: Server;
  readonly door: Door;
  /**
   * Disconnects everyone in a way that makes clients reconnect, to another instance. Cuts connections that remain after
   * SERVER_LIMITS.socketGoodbyeMs. Idempotent.
   */
  close(): Promise<void>;
}

export interface SocketServerOptions {
  readonly config: Pick<Config, 'corsOrigins' | 'publicUrl'>;
  /** Shares events between instances; without it there is only one instance. */
  readonly redis: RedisConnection | undefined;
  readonly clock: Clock;
  readonly onProblem: (error: unknown) => void;
}

/** Creates the server; requests reach it through its door. */
export async function openSocketServer({
  config,
  redis,
  clock,
  onProblem,
}: SocketServerOptions): Promise<SocketServer> {
  const sharedEvents =
    redis && (await import('./stream-adapter.ts')).shareEvents({ connection: redis, clock, onProblem });
  const limits = { maxHttpBufferSize: SERVER_LIMITS.socketMessageBytes };
  const io = new Server({
    ...limits,
    serveClient: false,
    connectTimeout: SERVER_LIMITS.socketConnectMs,
    // Reconnecting clients must present a token again.
    connectionStateRecovery: { maxDisconnectionDuration: SERVER_LIMITS.socketRecoveryMs, skipMiddlewares: false },
    adapter: sharedEvents?.adapter ?? openMemoryAdapter(clock),
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
      closing ??= close({ io, door, sharedEvents: sharedEvents });
      return closing;
    },
  };
}

// Called with `new`, so it cannot be an arrow function.
function openMemoryAdapter(clock: Clock) {
  return function openAdapter(namespace: Namespace): MemoryAdapter {
    return new MemoryAdapter(namespace, clock);
  };
}

const REFUSED = 'This origin is not allowed';

interface Open {
  readonly io: Server;
  readonly door: Door;
  readonly sharedEvents: SharedEvents | undefined;
}

async function close({ io, door, sharedEvents }: Open): Promise<void> {
  await io.close();
  await door.close();
  await sharedEvents?.close();
}

/** Allows requests without an origin, from our own pages, and from the origins in CORS_ORIGIN. */
function mayCall({
  corsOrigins,
  publicUrl,
}: Pick<Config, 'corsOrigins' | 'publicUrl'>): (req: IncomingMessage) => boolean {
  if (corsOrigins === '*') return () => true;
  const origins = new Set([...corsOrigins, ...(publicUrl ? [new URL(publicUrl).origin] : [])]);
  return ({ headers: { origin } }) => origin === undefined || origins.has(origin);
}

export interface Door {
  /** The path of its requests. */
  readonly path: string;
  /** Serves requests of established connections, which have their own limits. */
  readonly packets: Middleware;
  /** Serves all others, which are counted, limited and refused like any request. */
  readonly handshakes: Middleware;
  /** Resolves when all connections have ended; cuts them after SERVER_LIMITS.socketGoodbyeMs. */
  close(): Promise<void>;
}

const PATH = '/socket.io/';

function socketDoor(engine: Engine): Door {
  const open = new Set<string>();
  const wires = new Set<Socket>();
  /** Pending handshakes, with the place each occupies. */
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

  // The connection keeps the place; a handshake that fails releases it.
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
      // Pages of any origin can load a script, and thereby read JSONP polling responses: CORS_ORIGIN would not apply.
      if (ctx.query.j !== undefined) throw new Refusal('bad-request', 'JSONP polling is not supported.');
      if (open.size >= SERVER_LIMITS.sockets) throw new Refusal('unavailable', 'Too many open sockets.');
      return arrive(ctx);
    },
    async close() {
      const over = performance.now() + SERVER_LIMITS.socketGoodbyeMs;
      while ((wires.size || open.size) && performance.now() < over) await pause(LOOK_MS);
      for (const wire of wires) wire.destroy();
    },
  };
}

/** The place of a pending handshake: how to release it, and when its wire closes. */
interface Arrival {
  readonly leave: () => void;
  readonly giveUp: () => void;
  readonly wire: EventEmitter;
}

const LOOK_MS = 10;

/** The parts of a WebSocket used here. */
interface Wire {
  readonly bufferedAmount: number;
  terminate(): void;
}

interface Packet {
  readonly data?: string | Buffer | ArrayBuffer;
}

/** Cuts a connection that sends too many packets, a packet with a duplicate name, or leaves too many bytes unread. */
function limitConnection(connection: Connection, clock: Pick<Clock, 'monotonic'>): void {
  let left: number = SERVER_LIMITS.socketMessagesAtOnce;
  let seenAt = clock.monotonic();
  let waiting = 0;
  // For a polling client that does not return to receive its close packet.
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

// Two readers could pick different duplicates, and the library has dropped the first before it passes the packet on.
// JSON.stringify never writes a name twice.
function repeatsName(data: Packet['data']): boolean {
  const begin = typeof data === 'string' ? data.search(/[[{]/) : -1;
  if (begin < 0) return false;
  const reading = readJson((data as string).slice(begin));
  return 'flaw' in reading && isRepeat(reading.flaw);
}

// A client that does not read would not answer a close packet either.
function cut(connection: Connection): void {
  const wire = findWire(connection);
  connection.close(true);
  wire?.terminate();
}

const countBytes = (data: Packet['data']): number =>
  typeof data === 'string' ? Buffer.byteLength(data) : (data?.byteLength ?? 0);

// Undefined while polling.
function findWire({ transport }: Connection): Wire | undefined {
  return (transport as unknown as { readonly socket?: Wire }).socket;
}
