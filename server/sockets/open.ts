// The sockets of the agent service: admission, events, disconnection. No error in here may end the process.

import type { Socket } from 'socket.io';
import type { Agent } from '../../lib/agent/agent.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { flawOfValue, wordsAt } from '../../lib/json/reader.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { type AgentUser, type AuthOptions, authenticateUser, type PresentedTokens } from '../user/authenticate.ts';
import { AgentError } from '../user/errors.ts';
import { ANSWERS, type AnswerDeps, greeting, makeFailure } from './answers.ts';
import {
  type KeptState,
  type Leaving,
  type LeavingOptions,
  type Member,
  nameRoom,
  newMembers,
  openLeaving,
} from './leaving.ts';
import { findWaitingCalls, holdRecovery, isStillWaiting, offerCalls, sendDirect } from './room-events.ts';
import type { SocketServer } from './socket-server.ts';

export type SocketsOptions = Pick<AdmissionOptions, 'guard' | 'delegationAuth' | 'onRefused' | 'onAccepted' | 'gate'> &
  Pick<LeavingOptions<Member>, 'channel' | 'clock' | 'onProblem'> &
  Pick<AnswerDeps, 'agent'> & {
    readonly server: SocketServer;
    /** Whether a token with one of these keys was revoked. */
    readonly isRevoked: (keys: readonly string[]) => Promise<boolean>;
  };

export interface Sockets extends Pick<Leaving<Member>, 'revoke'> {
  /** Stops background work; connections end with the server. */
  close(): void;
}

/** Starts to accept clients; earlier ones were asked to retry. */
export async function openSockets(options: SocketsOptions): Promise<Sockets> {
  const { server, onProblem, clock, agent } = options;
  const { io } = server;
  const members = newMembers();
  const deps: AnswerDeps = { agent, members, clock };
  const leaving = await openLeaving<Member>({
    ...{ channel: options.channel, clock, onProblem },
    async findEnding({ user, session, tokens }) {
      const living = tokens.filter(({ expiresAt }) => expiresAt > clock.now());
      if (!living.length) return 'expired';
      const revoked = await Promise.all(living.map(({ keys }) => options.isRevoked(keys)));
      return !revoked.includes(false) || !(await agent.sessions.owns(user.did, session)) ? 'unwelcome' : undefined;
    },
    nextLookMs: ({ tokens }) => Math.max(...tokens.map(({ expiresAt }) => expiresAt)) - clock.now(),
  });
  const recovery = holdRecovery(io);
  const verdicts = new WeakMap<Socket, AdmissionVerdict>();
  const asking = new WeakSet<object>();

  // Connect clients first and disconnect them afterwards, as they expect. If a retry may help, drop the connection instead.
  io.use(async (socket, next) => {
    const isFirst = !asking.has(socket.conn);
    asking.add(socket.conn);
    const verdict: AdmissionVerdict = isFirst ? await admit(options, socket) : { kind: 'refused' };
    verdicts.set(socket, verdict);
    if (verdict.kind === 'unknown') {
      onProblem(verdict.error);
      socket.conn.close();
    }
    // A duplicate id: the older socket has lost its connection without noticing.
    if (verdict.kind === 'welcome') io.of('/').sockets.get(socket.id)?.disconnect(true);
    next();
  });

  io.on('connection', (socket) => {
    const verdict = verdicts.get(socket);
    verdicts.delete(socket);
    forgetHandshake(socket);
    const isWelcome = verdict?.kind === 'welcome' && members.of(verdict.user.did).size < SERVER_LIMITS.socketsPerUser;
    try {
      if (isWelcome) enter(socket, verdict);
      else socket.disconnect(true);
    } catch (error) {
      onProblem(error);
      socket.conn.close();
    }
  });

  function enter(socket: Socket, welcome: Extract<AdmissionVerdict, { kind: 'welcome' }>): void {
    const { user, session, sessions, waiting } = welcome;
    const { did, beside } = user;
    const member: Member = {
      ...{ socket, user: { did }, session, sessions },
      tokens: [user, ...(beside ? [beside] : [])].map(({ expiresAt, keys }) => ({ expiresAt, keys })),
      // Clients come back by themselves, with a new token, from a connection that was lost, but not from a goodbye.
      sendAway: (ending) => void (ending === 'expired' ? socket.conn.close() : socket.disconnect(true)),
    };
    members.add(member);
    // Register first: anything sent below may cut a connection that does not read.
    const stopWatching = leaving.watch(member);
    socket.once('disconnect', () => {
      members.remove(member);
      stopWatching();
    });
    Object.assign(socket.data, { did, sessions: [...sessions] });
    for (const room of [...socket.rooms]) if (room !== socket.id) void socket.leave(room);
    void socket.join([...sessions].map(nameRoom));
    socket.onAny((event: unknown, ...words: unknown[]) => void hear(member, event, words));
    recovery.catchUp(socket, (packet) => isStillWaiting(waiting, packet)).catch(onProblem);
    // Recorded like session events: a client without any event has no offset to recover from.
    socket.emit('connected', greeting(deps, member));
    for (const id of sessions) offerCalls(agent, member, id).catch(onProblem);
  }

  // socket.io does not catch errors of listeners, so this must never throw or reject.
  async function hear(member: Member, event: unknown, words: readonly unknown[]): Promise<void> {
    const answering = ANSWERS.get(event as string);
    if (!answering) return;
    const acknowledge = words.at(-1);
    try {
      const payload = toObject(words[0]);
      const answer = typeof payload === 'string' ? makeFailure(payload) : await answering(deps, member, payload);
      if (answer.event) sendDirect(member.socket, answer.event, answer.payload);
      if (typeof acknowledge === 'function') acknowledge(answer.payload);
    } catch (error) {
      onProblem(error);
      if (typeof acknowledge === 'function') acknowledge(makeFailure('The request failed; try again').payload);
    }
  }

  return { revoke: leaving.revoke, close: leaving.close };
}

/** Releases the handshake request and its tokens, which would otherwise live as long as the socket. */
function forgetHandshake({ handshake, request, conn }: Socket): void {
  Object.assign(handshake, { auth: {}, headers: {}, query: {}, url: '' });
  // Node and listeners of the request may hold it a little longer.
  Object.assign(request, { headers: {}, rawHeaders: [], url: '', _parsedUrl: undefined, _query: {} });
  Object.assign(conn, { request: undefined });
}

/**
 * Converts a client payload to JSON; binary parts become their JSON form, a missing payload becomes {}. Returns a message if
 * the payload is invalid, as are integers beyond 2^53, which the library may have rounded.
 */
function toObject(word: unknown): JsonObject | string {
  if (word === undefined || word === null || typeof word === 'function') return {};
  const flaw = flawOfValue(word as Json);
  if (flaw) return `The payload ${wordsAt(flaw)}`;
  const json: unknown = JSON.parse(JSON.stringify(word));
  return typeof json === 'object' && json !== null && !Array.isArray(json)
    ? (json as JsonObject)
    : 'The payload must be an object';
}

type AdmissionVerdict =
  | {
      readonly kind: 'welcome';
      readonly user: AgentUser;
      readonly session: string;
      readonly sessions: Set<string>;
      /** After a reconnection: ids of the calls still waiting for an answer. */
      readonly waiting: ReadonlySet<unknown>;
    }
  /** Retrying will not help. */
  | { readonly kind: 'refused' }
  /** A dependency failed; retrying may help. */
  | { readonly kind: 'unknown'; readonly error: unknown };

export interface AdmissionOptions extends AuthOptions {
  readonly agent: Pick<Agent, 'offers'> & { readonly sessions: Pick<Agent['sessions'], 'owns'> };
  /** Rejects if a plugin refuses the user. @default admits everyone */
  readonly gate?: ((user: { readonly did: string; readonly sessionId: string }) => Promise<void>) | undefined;
}

const NONE: ReadonlySet<unknown> = new Set();
const REFUSED: AdmissionVerdict = { kind: 'refused' };

/** Checks a handshake. Never rejects. */
export async function admit(options: AdmissionOptions, socket: Socket): Promise<AdmissionVerdict> {
  try {
    const session = readSession(socket);
    const presented = readPresented(socket.handshake.auth);
    if (session === undefined || !presented) return REFUSED;
    const user = await authenticateSocket(options, presented);
    const owns = (id: string) => options.agent.sessions.owns(user.did, id);
    const before = readKept(socket);
    if ((before && before.did !== user.did) || !(await owns(session))) return REFUSED;
    await options.gate?.({ did: user.did, sessionId: session });
    const sessions = new Set([session]);
    for (const id of before?.sessions ?? []) if (sessions.has(id) || (await owns(id))) sessions.add(id);
    const waiting = before ? await findWaitingCalls(options.agent, sessions) : NONE;
    return { kind: 'welcome', user, session, sessions, waiting };
  } catch (error) {
    return error instanceof AgentError && error.body.statusCode < 500 ? REFUSED : { kind: 'unknown', error };
  }
}

// Clients connect again with the tokens that they began with: a delegation counts behind an invocation that has only expired.
async function authenticateSocket(
  options: AuthOptions,
  { invocation, delegation }: PresentedTokens,
): Promise<AgentUser> {
  const first =
    invocation !== undefined && delegation !== undefined ? await options.guard.checkInvocation(invocation) : undefined;
  const isExpired = first?.ok === false && first.reason === 'expired';
  return authenticateUser(options, isExpired ? { delegation } : { invocation, delegation });
}

// Exactly one session id: two servers could read duplicates differently.
function readSession({ handshake }: Socket): string | undefined {
  const named = new URL(handshake.url, 'http://socket').searchParams.getAll('sessionId');
  return named.length === 1 && named[0] !== '' && named[0]!.length <= SESSION_CHARS ? named[0] : undefined;
}

const SESSION_CHARS = 128;

function readPresented(auth: unknown): PresentedTokens | undefined {
  const { invocation, ucanDelegation } = (auth ?? {}) as { invocation?: unknown; ucanDelegation?: unknown };
  const tokens = [invocation, ucanDelegation].map((token) => (token === null || token === '' ? undefined : token));
  if (tokens.some((token) => token !== undefined && typeof token !== 'string')) return undefined;
  const [first, second] = tokens as (string | undefined)[];
  return { invocation: first, delegation: second };
}

// The state of a socket before its connection broke, after a reconnection.
function readKept({ recovered, data }: Socket): KeptState | undefined {
  return recovered ? (data as KeptState) : undefined;
}
