// Routes of chat sessions and transcripts. A session of another user is treated as non-existent.

import type { Agent } from '../../lib/agent/agent.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { record, type Schema } from '../../lib/json/schema.ts';
import { readInput } from '../http/check-input.ts';
import type { Parameter, ReplyRoute, RouteRequest } from '../http/route-table.ts';
import { agentUser } from '../user/authenticate.ts';
import { agentError, jsonAnswer, refusalAnswer, WRONG_INPUT } from '../user/errors.ts';

const TEXT: Schema = { type: 'string' };
const FLAG: Schema = { type: 'boolean' };
const OPEN: Schema = { type: 'object', additionalProperties: true };
const TIME: Schema = { type: 'string', format: 'date-time' };

export const CHAT_SESSION = record(
  'A session',
  {
    sessionId: TEXT,
    title: { type: 'string', description: 'Absent until there are two messages' },
    createdAt: TIME,
    lastUpdatedAt: TIME,
    oracleName: TEXT,
    oracleDid: TEXT,
    oracleEntityDid: TEXT,
  },
  ['title'],
);

export const SESSION_LIST = record('Sessions, most recently used first', {
  sessions: { type: 'array', items: CHAT_SESSION },
  total: { type: 'integer', minimum: 0 },
});

const TOOL_CALL = record(
  'A tool call',
  { name: TEXT, id: TEXT, args: OPEN, status: { enum: ['isRunning', 'done'] }, output: TEXT },
  ['status', 'output'],
);

export const CHAT_MESSAGE = record(
  'A message of a transcript',
  {
    id: TEXT,
    type: { enum: ['ai', 'human'] },
    content: TEXT,
    toolCalls: { type: 'array', items: TOOL_CALL },
    reasoning: TEXT,
    isComplete: { const: true },
    isReasoning: { const: false },
    attachment: OPEN,
    attachments: { type: 'array', items: OPEN },
  },
  ['toolCalls', 'reasoning', 'attachment', 'attachments'],
);
export const MESSAGES = { type: 'array', items: CHAT_MESSAGE } as const;
export const TRANSCRIPT = record('The messages of a session', { messages: MESSAGES });

const CURSOR = { type: ['string', 'null'] };
export const MESSAGE_PAGE = record('A page of a transcript, oldest message first', {
  messages: MESSAGES,
  prevCursor: { ...CURSOR, description: 'For `before`: older messages' },
  nextCursor: { ...CURSOR, description: 'For `after`: newer messages' },
  hasOlder: FLAG,
  hasNewer: FLAG,
});

const RUN = record('A run', {
  runId: TEXT,
  requestId: TEXT,
  sessionId: TEXT,
  status: { type: 'string', examples: ['queued', 'running', 'recovering', 'completed'] },
});
export const OPEN_RUN = record('The open run', { run: { oneOf: [RUN, { type: 'null' }] } });

/** The form of session ids. */
export const SESSION_EXAMPLE = '8f14e45fceea467fa8d21c2b3a4d5e6f';
/** The form of run ids. */
const RUN_EXAMPLE = '8f14e45f-ceea-467f-a8d2-1c2b3a4d5e6f';

/** The path parameters of these routes. */
export const ID_PARAMETERS = {
  sessionId: { description: 'The id of a session', schema: { type: 'string', examples: [SESSION_EXAMPLE] } },
  runId: { description: 'The id of a run', schema: { type: 'string', examples: [RUN_EXAMPLE] } },
};

export const UNKNOWN_SESSION = refusalAnswer('The session does not exist, or belongs to another user');

const LIMIT: Schema = { type: 'integer', minimum: 1, maximum: 100, default: 20 };
const OFFSET: Parameter = {
  description: 'Entries to skip',
  schema: { type: 'integer', minimum: 0, maximum: 1_000_000, default: 0 },
};

interface SessionRouteDeps {
  readonly agent: Agent;
}

export const SESSION_ROUTES: readonly ReplyRoute<SessionRouteDeps>[] = [
  {
    method: 'POST',
    path: '/sessions',
    id: 'createSession',
    summary: 'Start a session',
    answers: { 201: jsonAnswer('The session', CHAT_SESSION) },
    async reply(request, { agent }) {
      return { status: 201, body: await agent.sessions.create(agentUser(request).did) };
    },
  },
  {
    method: 'GET',
    path: '/sessions',
    id: 'listChatSessions',
    summary: 'List your sessions',
    query: { limit: { description: 'Entries per page', schema: LIMIT }, offset: OFFSET },
    answers: { 200: jsonAnswer('A page', SESSION_LIST), 400: WRONG_INPUT },
    async reply(request, { agent }) {
      const { query } = readInput<{ query: { limit: number; offset: number } }>(request);
      return { body: await agent.sessions.list(agentUser(request).did, query) };
    },
  },
  {
    method: 'DELETE',
    path: '/sessions/:sessionId',
    id: 'deleteSession',
    summary: 'Delete a session with its transcript',
    answers: { 200: jsonAnswer('Deleted', record('Done', { message: TEXT })), 404: UNKNOWN_SESSION },
    async reply(request, { agent }) {
      if (!(await agent.deleteSession(agentUser(request).did, request.params.sessionId!))) throw unknownSessionError();
      return { body: { message: 'Session deleted successfully' } };
    },
  },
  {
    method: 'GET',
    path: '/sessions/:sessionId/run',
    id: 'getOpenRun',
    summary: 'The open run, if any',
    answers: { 200: jsonAnswer('The run, or null', OPEN_RUN), 404: UNKNOWN_SESSION },
    async reply(request, { agent }) {
      const run = await agent.openRun(agentUser(request).did, request.params.sessionId!);
      if (run === undefined) throw unknownSessionError();
      return { body: { run } };
    },
  },
  {
    method: 'GET',
    path: '/sessions/:sessionId/messages',
    id: 'pageMessages',
    summary: 'A page of the transcript',
    query: {
      limit: { description: 'Messages per page', schema: LIMIT },
      before: { description: '`prevCursor` of a page', schema: TEXT },
      after: { description: '`nextCursor` of a page', schema: TEXT },
    },
    answers: { 200: jsonAnswer('A page', MESSAGE_PAGE), 400: WRONG_INPUT, 404: UNKNOWN_SESSION },
    async reply(request, { agent }) {
      const { query } = readInput<{ query: { limit: number; before?: string; after?: string } }>(request);
      const { limit, before, after } = query;
      const session = await requireOwnSession(request, agent);
      const page = agent.transcript.page(session, { limit, ...(before && { before }), ...(after && { after }) });
      return { body: await page.catch(refuseInput) };
    },
  },
  {
    method: 'GET',
    path: '/messages/:sessionId',
    id: 'listMessages',
    summary: 'The whole transcript',
    answers: { 200: jsonAnswer('The messages', TRANSCRIPT), 404: UNKNOWN_SESSION },
    async reply(request, { agent }) {
      return { body: { messages: await agent.transcript.all(await requireOwnSession(request, agent)) } };
    },
  },
];

/** Turns ERR_INPUT into a 400 with its message; rethrows other errors. */
export function refuseInput(error: unknown): never {
  if (error instanceof TwinlineError && error.code === 'ERR_INPUT') throw agentError(400, [error.message]);
  throw error;
}

/** The session id in the path; throws 404 unless the user owns it. */
export async function requireOwnSession(request: RouteRequest, agent: Agent): Promise<string> {
  const id = (request.params as { sessionId: string }).sessionId;
  if (await agent.sessions.owns(agentUser(request).did, id)) return id;
  throw unknownSessionError();
}

export function unknownSessionError() {
  return agentError(404, 'Session not found');
}
