// The socket.io server and its engine: options, allowed origins, and orderly shutdown.

import type { IncomingMessage } from 'node:http';
import { type Socket as Connection, Server as Engine } from 'engine.io';
import { Server } from 'socket.io';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import type { Config } from '../config/config.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { bounded } from './bounds.ts';
import { type Door, socketDoor } from './door.ts';
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
  readonly onProblem: (error: unknown) => void;
}

/** Makes the server; requests come to it through its door. */
export async function openSocketServer({ config, redis, onProblem }: SocketServerOptions): Promise<SocketServer> {
  const shared = redis && (await import('./stream-adapter.ts')).shareEvents({ connection: redis, onProblem });
  const limits = { maxHttpBufferSize: SERVER_LIMITS.socketMessageBytes };
  const io = new Server({
    ...limits,
    serveClient: false,
    connectTimeout: SERVER_LIMITS.socketConnectMs,
    // Who comes back shows a token again.
    connectionStateRecovery: { maxDisconnectionDuration: SERVER_LIMITS.socketRecoveryMs, skipMiddlewares: false },
    ...(shared && { adapter: shared.adapter }),
  });
  const isWelcome = mayCall(config);
  const engine = new Engine({
    ...limits,
    transports: ['websocket', 'polling'],
    perMessageDeflate: false,
    allowRequest: (req: IncomingMessage, answer) => answer(isWelcome(req) ? null : REFUSED, isWelcome(req)),
  });
  io.bind(engine);
  engine.on('connection', (connection: Connection) => bounded(connection));
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
