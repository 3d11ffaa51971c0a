// The HTTP door of the sockets: `/socket.io/`, for handshakes and for what polling clients ask afterwards.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Socket as Connection, Server as Engine } from 'engine.io';
import type { Context, Middleware } from 'koa';
import { SERVER_LIMITS } from '../config/limits.ts';
import { Refusal } from '../http/errors.ts';
import { WAITING } from '../http/guard.ts';
import { takeUpgrade, type Upgrade } from '../http/upgrades.ts';

export interface Door {
  /** Takes requests of connections that are open already: they have bounds of their own. */
  readonly packets: Middleware;
  /** Takes all others; they are counted, limited and turned away as requests are. */
  readonly handshakes: Middleware;
  /** Resolves when the connections have ended; after SERVER_LIMITS.socketGoodbyeMs they are cut. */
  close(): Promise<void>;
}

const PATH = '/socket.io/';

export function socketDoor(engine: Engine): Door {
  const open = new Set<string>();
  const wires = new Set<Socket>();
  engine.on('connection', (connection: Connection) => {
    const { id } = connection as unknown as { readonly id: string };
    open.add(id);
    connection.once('close', () => open.delete(id));
  });

  function hand(ctx: Context): void {
    const upgrade = takeUpgrade(ctx.req);
    ctx.respond = false;
    ctx.status = upgrade ? 101 : 200;
    ctx._matchedRoute = PATH;
    ctx.res.emit(WAITING);
    if (upgrade) take(ctx.req, upgrade);
    else engine.handleRequest(ctx.req as never, ctx.res);
  }

  function take(req: IncomingMessage, { socket, head }: Upgrade): void {
    wires.add(socket);
    socket.once('close', () => wires.delete(socket));
    engine.handleUpgrade(req as never, socket, head);
  }

  return {
    packets: (ctx, next) => {
      const { sid } = ctx.query;
      const isKnown = ctx.path === PATH && typeof sid === 'string' && open.has(sid);
      return isKnown ? hand(ctx) : next();
    },
    handshakes: (ctx, next) => {
      if (ctx.path !== PATH) return next();
      // Pages of any origin can load a script, and so read what is polled as JSONP: CORS_ORIGIN would not cover it.
      if (ctx.query.j !== undefined) throw new Refusal('bad-request', 'Polling as JSONP is not served.');
      if (open.size >= SERVER_LIMITS.sockets) throw new Refusal('unavailable', 'There are too many open sockets.');
      return hand(ctx);
    },
    async close() {
      const over = performance.now() + SERVER_LIMITS.socketGoodbyeMs;
      while ((wires.size || open.size) && performance.now() < over) await pause(LOOK_MS);
      for (const wire of wires) wire.destroy();
    },
  };
}

const LOOK_MS = 10;
