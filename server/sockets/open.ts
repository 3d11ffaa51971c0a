// The sockets of the agent service: who is let in, what is said, who has to go, and that nothing of it ends the process.

import type { Socket } from 'socket.io';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { flawOfValue, wordsAt } from '../../lib/json/reader.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { type AdmissionOptions, type AdmissionVerdict, admit } from './admission.ts';
import { ANSWERS, type AnswerDeps, greeting, makeFailure } from './answers.ts';
import { type Leaving, type LeavingOptions, type Member, nameRoom, newMembers, openLeaving } from './leaving.ts';
import { holdRecovery, isStillWaiting, offerCalls, sendDirect } from './room-events.ts';
import type { SocketServer } from './socket-server.ts';

export type SocketsOptions = Pick<AdmissionOptions, 'guard' | 'delegationAuth' | 'onRefused' | 'onAccepted' | 'gate'> &
  Pick<LeavingOptions<Member>, 'channel' | 'clock' | 'onProblem'> &
  Pick<AnswerDeps, 'agent'> & {
    readonly server: SocketServer;
    /** Whether a token with one of these keys was revoked. */
    readonly revoked: (keys: readonly string[]) => Promise<boolean>;
  };

export interface Sockets extends Pick<Leaving<Member>, 'revoke'> {
  /** Ends what goes on beside the connections; those end with the server. */
  close(): void;
}

/** Accepts clients from now on; before, they are asked to retry. */
export async function openSockets(options: SocketsOptions): Promise<Sockets> {
  const { server, onProblem, clock, agent } = options;
  const { io } = server;
  const members = newMembers();
  const deps: AnswerDeps = { agent, members, clock };
  const leaving = await openLeaving<Member>({
    ...{ channel: options.channel, clock, onProblem },
    isOver: async ({ user, session, keys }) =>
      user.expiresAt <= clock.now() || (await options.revoked(keys)) || !(await agent.sessions.owns(user.did, session)),
    nextLookMs: ({ user }) => user.expiresAt - clock.now(),
  });
  const recovery = holdRecovery(io);
  const verdicts = new WeakMap<Socket, AdmissionVerdict>();
  const asking = new WeakSet<object>();

  // Clients are connected first and then sent away, as they expect; those who may come again lose their connection.
  io.use(async (socket, next) => {
    const isFirst = !asking.has(socket.conn);
    asking.add(socket.conn);
    const verdict: AdmissionVerdict = isFirst ? await admit(options, socket) : { kind: 'refused' };
    verdicts.set(socket, verdict);
    if (verdict.kind === 'unknown') {
      onProblem(verdict.error);
      socket.conn.close();
    }
    // Two with one id: the older one has lost its connection and does not know it yet.
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
    const { did, expiresAt, keys } = user;
    const sendAway = () => void socket.disconnect(true);
    const member: Member = { socket, user: { did, expiresAt }, keys, session, sessions, sendAway };
    members.add(member);
    // From here on: what is sent below may cut a connection that takes nothing.
    const stopWatching = leaving.watch(member);
    socket.once('disconnect', () => {
      members.remove(member);
      stopWatching();
    });
    Object.assign(socket.data, { did, sessions: [...sessions] });
    for (const room of [...socket.rooms]) if (room !== socket.id) void socket.leave(room);
    void socket.join([...sessions].map(nameRoom));
    socket.onAny((event: unknown, ...words: unknown[]) => void hear(member, event, words));
    recovery.catchUp(socket, (missed) => isStillWaiting(waiting, missed)).catch(onProblem);
    // Kept like the events of a session: a client that got no event has no offset from which to recover.
    socket.emit('connected', greeting(deps, member));
    for (const id of sessions) offerCalls(agent, member, id).catch(onProblem);
  }

  // Called by socket.io without a net: nothing may come out of it.
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
      if (typeof acknowledge === 'function') acknowledge(makeFailure('It did not work; try again').payload);
    }
  }

  return { revoke: leaving.revoke, close: leaving.close };
}

/** Lets go of the request of a handshake and of its tokens: they would be kept as long as the socket. */
function forgetHandshake({ handshake, request, conn }: Socket): void {
  Object.assign(handshake, { auth: {}, headers: {}, query: {}, url: '' });
  // Node and what has listened to the request may keep it for a while yet.
  Object.assign(request, { headers: {}, rawHeaders: [], url: '', _parsedUrl: undefined, _query: {} });
  Object.assign(conn, { request: undefined });
}

/**
 * What a client sent, as JSON: binary parts become their JSON. Nothing at all counts as nothing in it. A text says why it
 * cannot be taken; whole numbers beyond 2^53 cannot, for the library may have rounded them.
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
