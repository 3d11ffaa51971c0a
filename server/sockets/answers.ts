// Client events and their answers: one row per event, with the payloads that the ecosystem's client expects.

import type { Agent } from '../../lib/agent/agent.ts';
import type { Clock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { type Member, type Members, nameRoom } from './leaving.ts';
import { offerCalls } from './room-events.ts';

export interface AnswerDeps {
  readonly agent: Pick<Agent, 'answerCall' | 'offers'> & { readonly sessions: Pick<Agent['sessions'], 'owns'> };
  readonly members: Members;
  readonly clock: Clock;
}

/** The argument of the client's acknowledgement callback; also sent as an event if `event` is set. */
export interface Acknowledgement {
  readonly event?: string;
  readonly payload: JsonObject;
}

type Answering = (deps: AnswerDeps, member: Member, payload: JsonObject) => Promise<Acknowledgement> | Acknowledgement;

const SERVER_EVENTS = [
  ...['connected', 'pong', 'status', 'subscribed', 'available-events', 'render_component', 'tool_call', 'action_call'],
  ...['browser_tool_call', 'router_update', 'message_cache_invalidation'],
];

/** By client event name. */
export const ANSWERS: ReadonlyMap<string, Answering> = new Map<string, Answering>([
  ['ping', (deps, member) => ({ event: 'pong', payload: { timestamp: now(deps), sessionId: member.session } })],
  ['status', (deps, member) => ({ event: 'status', payload: makeStatus(deps, member) })],
  ['subscribe', subscribe],
  ['list-events', (deps, member) => ({ event: 'available-events', payload: catalogue(deps, member) })],
  ['tool_result', (deps, member, payload) => answerCall(deps, member, makeResult(payload))],
  ['action_call_result', (deps, member, payload) => answerCall(deps, member, makeActionResult(payload))],
]);

const now = ({ clock }: AnswerDeps) => new Date(clock.now()).toISOString();

/** Payload of the first event of a socket. */
export function greeting(deps: AnswerDeps, { session }: Member): JsonObject {
  return { message: 'Connected successfully', sessionId: session, timestamp: now(deps) };
}

// Covers only this user, so that it does not reveal the number of others.
function makeStatus(deps: AnswerDeps, { user, session }: Member): JsonObject {
  const mine = [...deps.members.of(user.did)];
  const sessions = new Set(mine.flatMap(({ sessions: sessionIds }) => [...sessionIds]));
  return {
    connected: true,
    sessionId: session,
    activeSessions: sessions.size,
    totalConnections: mine.length,
    timestamp: now(deps),
  };
}

function catalogue(deps: AnswerDeps, { session }: Member): JsonObject {
  return { clientEvents: [...ANSWERS.keys()], serverEvents: SERVER_EVENTS, sessionId: session, timestamp: now(deps) };
}

async function subscribe(
  deps: AnswerDeps,
  member: Member,
  { sessionId = member.session }: JsonObject,
): Promise<Acknowledgement> {
  const { user, sessions, socket } = member;
  if (typeof sessionId !== 'string' || !(await deps.agent.sessions.owns(user.did, sessionId)))
    return makeFailure('Session not found');
  if (!sessions.has(sessionId) && sessions.size >= SERVER_LIMITS.sessionsPerSocket)
    return makeFailure(`A socket can subscribe to at most ${SERVER_LIMITS.sessionsPerSocket} sessions`);
  sessions.add(sessionId);
  Object.assign(socket.data, { sessions: [...sessions] });
  await socket.join(nameRoom(sessionId));
  await offerCalls(deps.agent, member, sessionId);
  return { event: 'subscribed', payload: { sessionId, timestamp: now(deps) } };
}

interface ToolResult {
  readonly toolCallId: Json | undefined;
  readonly sessionId: Json | undefined;
  readonly result?: Json | undefined;
  readonly error?: Json | undefined;
}

const makeResult = ({ toolCallId, sessionId, result, error }: JsonObject): ToolResult => ({
  toolCallId,
  sessionId,
  result,
  error,
});

// A failed action reports its error inside the result.
function makeActionResult(payload: JsonObject): ToolResult {
  const { result } = payload;
  const { success, error } = (result !== null && typeof result === 'object' ? result : {}) as JsonObject;
  return success === false
    ? makeResult({ ...payload, error: payload.error ?? error ?? 'The action failed' })
    : makeResult(payload);
}

async function answerCall(
  { agent }: AnswerDeps,
  member: Member,
  { toolCallId, sessionId, result, error }: ToolResult,
): Promise<Acknowledgement> {
  const session = sessionId ?? member.session;
  if (typeof toolCallId !== 'string' || typeof session !== 'string')
    return makeFailure('toolCallId and sessionId must be strings');
  if (!member.sessions.has(session)) return makeFailure('No such pending call');
  const outcome = error === undefined || error === null ? { result: result ?? null } : { error: describeError(error) };
  try {
    const isTaken = await agent.answerCall({ owner: member.user.did, session, toolCallId, ...outcome });
    return isTaken ? { payload: { success: true } } : makeFailure('No such pending call');
  } catch (failure) {
    if (failure instanceof TwinlineError && failure.code === 'ERR_INPUT') return makeFailure(failure.message);
    throw failure;
  }
}

const describeError = (error: Json) => (typeof error === 'string' ? error : JSON.stringify(error)) || 'failed';

/** An unsuccessful acknowledgement. */
export const makeFailure = (error: string): Acknowledgement => ({ payload: { success: false, error } });
