// What the tests of sockets share: servers with an agent behind their sockets, users with tokens, and clients.

import { randomBytes } from 'node:crypto';
import Koa from 'koa';
import { type Socket as Client, io as connect, type ManagerOptions, type SocketOptions } from 'socket.io-client';
import type { Agent } from '../../../lib/agent/agent.ts';
import type { Responder } from '../../../lib/agent/responder.ts';
import { systemClock } from '../../../lib/clock.ts';
import { DELEGATION_KINDS, type Delegations, delegations } from '../../../lib/delegation/delegations.ts';
import { tokenGuard } from '../../../lib/delegation/guard.ts';
import { parseOracleKey } from '../../../lib/delegation/oracle-key.ts';
import { revocations } from '../../../lib/delegation/revocations.ts';
import { mintDelegation, mintInvocation } from '../../../lib/delegation/tokens.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import type { RedisConnection } from '../../../lib/store/redis/connection.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { listen } from '../../../server/http/listen.ts';
import { openSockets } from '../../../server/sockets/open.ts';
import { hearSockets, tellSockets } from '../../../server/sockets/room-events.ts';
import { openSocketServer } from '../../../server/sockets/socket-server.ts';
import { type Ground, ground, newSession, saying } from '../../agent/ground.ts';
import { newKey } from '../../delegation/keys.ts';
import { until } from '../../support/until.ts';

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
  readonly delegationAuth?: boolean;
}

/** Opens an instance on its own port; those with the same ground share what is stored and the channel. */
export async function openPlace(options: PlaceOptions = {}): Promise<Place> {
  const { here = ground(), responder = saying('hello'), redis, corsOrigins = '*', delegationAuth = true } = options;
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
    delegationAuth,
    isRevoked: revoked.has,
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
  /** Sends an event; its answer. */
  ask(event: string, ...payload: readonly unknown[]): Promise<Readonly<Record<string, unknown>>>;
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
    ask: (event, ...payload) => socket.emitWithAck(event, ...payload),
    said: (event) => heard.filter((one) => one.event === event).map(({ payload }) => payload),
    close: () => void socket.disconnect(),
  };
}

/** Cuts the line of a client without a goodbye. */
export async function cut(tab: Tab): Promise<void> {
  const states = tab.states.length;
  tab.socket.io.engine.close();
  await until('the client is cut off', () => tab.states.length > states);
}

/** Connects again one that was cut off. */
export async function back(tab: Tab): Promise<void> {
  const states = tab.states.length;
  tab.socket.connect();
  await until('the client is back', () => tab.states.length > states);
}

/** One instance, and a user who has a session there. */
export interface Scene {
  readonly here: Ground;
  readonly place: Place;
  readonly user: User;
  readonly session: string;
  /** A tab that listens to the session. */
  open(options: TabOptions, at?: Place): Tab;
  /** One that was greeted; by default it came with an invocation. */
  greeted(auth?: object, at?: Place): Promise<Tab>;
  /** Tells the session so many events, numbered from 0. */
  tell(count: number): Promise<void>;
}

export async function withScene(options: PlaceOptions, play: (scene: Scene) => Promise<void>): Promise<void> {
  const here = options.here ?? ground();
  const place = await openPlace({ ...options, here });
  const user = newUser(here);
  const session = await newSession(place.agent, user.did);
  const tabs: Tab[] = [];
  let told = 0;
  const open: Scene['open'] = (how, at = place) => {
    const tab = openTab(at.url, { query: { sessionId: session }, ...how });
    tabs.push(tab);
    return tab;
  };
  const greeted: Scene['greeted'] = async (auth, at) => {
    const tab = open({ auth: { ...(auth ?? { invocation: await user.invocation() }) } }, at);
    await until('the client is greeted', () => tab.heard.length > 0);
    return tab;
  };
  const tell = async (count: number) => {
    for (let at = 0; at < count; at++)
      await place.agent.room.tell(session, 'reasoning', { sessionId: session, at: told++ });
  };
  try {
    await play({ here, place, user, session, open, greeted, tell });
  } finally {
    for (const tab of tabs) tab.close();
    await place.close();
  }
}
