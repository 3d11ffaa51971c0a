// What clients may say, and what they are answered: one row per event, with the payloads that the ecosystem's client knows.

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

/** What the client gets through its acknowledgement, and as an event if that has a name. */
export interface Acknowledgement {
  readonly event?: string;
  readonly payload: JsonObject;
}

type Answering = (deps: AnswerDeps, member: Member, payload: JsonObject) => Promise<Acknowledgement> | Acknowledgement;

const SERVER_EVENTS = [
  ...['connected', 'pong', 'status', 'subscribed', 'available-events', 'render_component', 'tool_call', 'action_call'],
  ...['browser_tool_call', 'router_update', 'message_cache_invalidation'],
];

/** By the names of what clients send. */
export const ANSWERS: ReadonlyMap<string, Answering> = new Map<string, Answering>([
  ['ping', (deps, member) => ({ event: 'pong', payload: { timestamp: now(deps), sessionId: member.session } })],
  ['status', (deps, member) => ({ event: 'status', payload: makeStatus(deps, member) })],
  ['subscribe', subscribe],
  ['list-events', (deps, member) => ({ event: 'available-events', payload: catalogue(deps, member) })],
  ['tool_result', (deps, member, payload) => answerCall(deps, member, makeResult(payload))],
  ['action_call_result', (deps, member, payload) => answerCall(deps, member, makeActionResult(payload))],
]);

const now = ({ clock }: AnswerDeps) => new Date(clock.now()).toISOString();

/** The first event of a socket. */
export function greeting(deps: AnswerDeps, { session }: Member): JsonObject {
  return { message: 'Connected successfully', sessionId: session, timestamp: now(deps) };
}

// Of this user alone: it does not show how many others there are.
function makeStatus(deps: AnswerDeps, { user, session }: Member): JsonObject {
  const mine = [...deps.members.of(user.did)];
  const sessions = new Set(mine.flatMap(({ sessions: heard }) => [...heard]));
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
    return makeFailure(`A socket listens to ${SERVER_LIMITS.sessionsPerSocket} sessions at most`);
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

// An action that failed says so inside its result.
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
    return makeFailure('toolCallId and sessionId are strings');
  if (!member.sessions.has(session)) return makeFailure('No such call waits');
  const said = error === undefined || error === null ? { result: result ?? null } : { error: describeError(error) };
  try {
    const taken = await agent.answerCall({ owner: member.user.did, session, toolCallId, ...said });
    return taken ? { payload: { success: true } } : makeFailure('No such call waits');
  } catch (thrown) {
    if (thrown instanceof TwinlineError && thrown.code === 'ERR_INPUT') return makeFailure(thrown.message);
    throw thrown;
  }
}

const describeError = (error: Json) => (typeof error === 'string' ? error : JSON.stringify(error)) || 'failed';

/** An answer that says why not. */
export const makeFailure = (error: string): Acknowledgement => ({ payload: { success: false, error } });
