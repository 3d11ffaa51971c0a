// What the tests of sockets share: servers with an agent behind their sockets, users with tokens, and clients.

import { randomBytes } from 'node:crypto';
import Koa from 'koa';
import { type Socket as Client, io as connect, type ManagerOptions, type SocketOptions } from 'socket.io-client';
import type { Agent } from '../../../lib/agent/agent.ts';
import type { Responder } from '../../../lib/agent/responder.ts';
import { systemClock } from '../../../lib/clock.ts';
import { DELEGATION_KINDS, type Delegations, delegations, revocations } from '../../../lib/delegation/delegations.ts';
import { tokenGuard } from '../../../lib/delegation/guard.ts';
import { parseOracleKey } from '../../../lib/delegation/issuer/oracle-key.ts';
import { mintDelegation, mintInvocation } from '../../../lib/delegation/tokens.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import type { RedisConnection } from '../../../lib/store/redis/connection.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { listen } from '../../../server/http/listen.ts';
import { openSockets } from '../../../server/sockets/open.ts';
import { hearSockets, tellSockets } from '../../../server/sockets/room-events.ts';
import { openSocketServer } from '../../../server/sockets/socket-server.ts';
import { type Ground, ground, saying } from '../../agent/ground.ts';
import { newKey } from '../../delegation/keys.ts';

const key = parseOracleKey(makeOracleKey());
const keyring = parseKeyring(randomBytes(32).toString('hex'));
const capability = { can: '*', with: 'ixo:oracle' };

/** One instance. */
export interface Place {
  readonly url: string;
  readonly agent: Agent;
  readonly delegations: Delegations;
  readonly problems: unknown[];
  /** What is kept of the requests by which the sockets came. */
  handshakes(): readonly unknown[];
  /** Hangs up on everybody, as a server does that stops. */
  close(): Promise<void>;
}

export interface PlaceOptions {
  readonly responder?: Responder;
  readonly here?: Ground;
  readonly redis?: RedisConnection;
  readonly corsOrigins?: '*' | readonly string[];
}

/** Opens an instance on its own port; those with the same ground share what is stored and the channel. */
export async function openPlace(options: PlaceOptions = {}): Promise<Place> {
  const { here = ground(), responder = saying('hello'), redis, corsOrigins = '*' } = options;
  const { documents, clock, channel } = here;
  const problems: unknown[] = [];
  const onProblem = (error: unknown) => void problems.push(error);
  const server = await openSocketServer({
    config: { corsOrigins, publicUrl: undefined },
    redis,
    clock: systemClock,
    onProblem,
  });
  const agent = await here.agent(responder, {
    tell: tellSockets(server.io, onProblem),
    isHeard: hearSockets(server.io),
  });
  await documents.declare(DELEGATION_KINDS);
  const revoked = revocations({ documents });
  const guard = tokenGuard({ audience: key.did, clock, maxTtlSeconds: { invocation: 900 }, revoked: revoked.has });
  const sockets = await openSockets({
    ...{ server, agent, guard, channel, clock, onProblem },
    delegationAuth: true,
    revoked: revoked.has,
  });
  const granted = delegations({
    ...{ documents, clock, keyring, guard, key, revocations: revoked },
    onRevoked: ({ keys }) => sockets.revoke(keys),
  });
  const app = new Koa().use(server.door.packets).use(server.door.handshakes);
  const listening = await listen(app.callback(), { host: '127.0.0.1', port: 0 });
  return {
    url: listening.url,
    agent,
    delegations: granted,
    problems,
    handshakes: () =>
      [...server.io.of('/').sockets.values()].map((socket) => {
        const request: Partial<typeof socket.request> = socket.request ?? {};
        return [socket.handshake, request.url, request.headers, request.rawHeaders];
      }),
    async close() {
      await agent.close();
      sockets.close();
      await Promise.all([listening.close(1_000), server.close()]);
    },
  };
}

export interface User {
  readonly did: string;
  invocation(expiresIn?: number): Promise<string>;
  delegation(expiresIn?: number): Promise<string>;
}

/** Somebody with a key; tokens are dated by the clock of the ground. */
export function newUser({ clock }: Pick<Ground, 'clock'>): User {
  const own = newKey();
  const common = { key: own, audience: key.did, clock };
  return {
    did: own.did,
    invocation: (expiresIn = 600) => mintInvocation({ ...common, capability, expiresIn }),
    delegation: (expiresIn = 3_600) => mintDelegation({ ...common, capabilities: [capability], expiresIn }),
  };
}

export interface Heard {
  readonly event: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface Tab {
  readonly socket: Client;
  /** What came, in order. */
  readonly heard: readonly Heard[];
  /** `connect`, and `disconnect: <reason>`, in order. */
  readonly states: readonly string[];
  /** The payloads of one event so far. */
  said(event: string): Readonly<Record<string, unknown>>[];
  close(): void;
}

export type TabOptions = Partial<ManagerOptions & SocketOptions>;

/** A client; it connects by WebSocket and not again unless told otherwise. */
export function openTab(url: string, options: TabOptions): Tab {
  const socket = connect(url, { transports: ['websocket'], reconnection: false, forceNew: true, ...options });
  const heard: Heard[] = [];
  const states: string[] = [];
  socket.onAny((event: string, payload: Heard['payload']) => heard.push({ event, payload }));
  socket.on('connect', () => states.push('connect'));
  socket.on('disconnect', (reason) => states.push(`disconnect: ${reason}`));
  socket.on('connect_error', () => states.push('refused'));
  return {
    socket,
    heard,
    states,
    said: (event) => heard.filter((one) => one.event === event).map(({ payload }) => payload),
    close: () => void socket.disconnect(),
  };
}

const PATIENCE_MS = 20_000;

/** Resolves when it holds; says what it waited for when it never does. */
export async function until(holds: () => boolean, what: string | (() => string)): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`never: ${typeof what === 'string' ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
