// The agent service, as OpenAPI describes it.

import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { record } from '../../../lib/domain/schema/twin-answers.ts';
import { PLAIN_ANSWERS, REFUSED } from '../../http/common-answers.ts';
import type { Answered, RouteGroup } from '../../http/route-table.ts';
import {
  ABORT,
  AGENT_ERROR,
  CHAT_MESSAGE,
  CHAT_SESSION,
  DELEGATED,
  DELEGATION_STATUS,
  MESSAGE_PAGE,
  NEW_DELEGATION,
  NEW_MESSAGE,
  OPEN_RUN,
  REPLY,
  SESSION_LIST,
  TRANSCRIPT,
} from './agent-schemas.ts';

const TEXT: Schema = { type: 'string' };
const json = (schema: Schema) => ({ 'application/json': schema });
const shown = (description: string, schema: Schema): Answered => ({ description, types: json(schema) });
const refused = (description: string): Answered => shown(description, AGENT_ERROR);

const WRONG = refused('The body or a parameter is wrong; `message` lists everything');
const UNKNOWN = refused("There is no such session, or it is somebody else's");
const FRAMES = { 'text/event-stream': TEXT };
const RUN_ID = { 'X-Run-Id': 'The run' };
const BODY = {
  413: refused('The body is too large'),
  415: refused('The body is no JSON, or its encoding is not read'),
};
const number = (minimum: number, maximum: number, usual: number): Schema => ({
  type: 'integer',
  minimum,
  maximum,
  default: usual,
});

export const AGENT_PART: RouteGroup = {
  tag: 'Agent',
  description: `Sessions with an agent, its replies as JSON or as a stream that can be rejoined, delegations. Users come with
UCAN tokens: an invocation as \`Authorization: Bearer …\` with \`X-Auth-Type: ucan\`, or \`x-ucan-delegation\`.

Sockets (socket.io 4, namespace \`/\`, path \`/socket.io/\`) tell what happens in a session while it happens. Connect with the
query \`sessionId\` and \`auth: {invocation?, ucanDelegation?}\`; the first event is \`connected\`, and whoever may not come in is
disconnected. \`tool_call\`, \`action_call\`, \`render_component\`, \`browser_tool_call\`, \`router_update\` (also
\`router.update\`), \`message_cache_invalidation\` and \`reasoning\` come flat. All but \`router_update\` and \`reasoning\` come once
more as \`event {eventName, payload}\`. A call (\`action_call\` with the status \`isRunning\`, \`browser_tool_call\`) comes flat once: to
the clients that are there, or else to the first that comes while the run waits. How an action went comes only as \`event\` and on
the stream of the run: whoever runs an action for every flat event runs it once.
Clients send \`ping\`, \`status\`, \`subscribe {sessionId?}\`, \`list-events\`, \`tool_result {toolCallId, sessionId?, result, error?}\`
and \`action_call_result {toolCallId, sessionId?, result}\`, and are answered by an event, by their acknowledgement, or both.`,
  access: 'user',
  parameters: {
    sessionId: { description: 'The id of a session', schema: TEXT },
    runId: { description: 'The id of a run', schema: TEXT },
  },
  answers: {
    401: { ...refused('No token, or none that counts'), headers: { 'WWW-Authenticate': 'How to come in' } },
    402: refused('A plugin asks for something first, such as `credits`'),
    429: PLAIN_ANSWERS[429],
    500: refused('Something went wrong here'),
    503: shown('A store or another service is away, or there is too much to do', { anyOf: [AGENT_ERROR, REFUSED] }),
  },
  schemas: {
    AgentError: AGENT_ERROR,
    ChatSession: CHAT_SESSION,
    SessionList: SESSION_LIST,
    ChatMessage: CHAT_MESSAGE,
    Transcript: TRANSCRIPT,
    MessagePage: MESSAGE_PAGE,
    NewMessage: NEW_MESSAGE,
    Reply: REPLY,
    OpenRun: OPEN_RUN,
  },
  routes: [
    {
      method: 'POST',
      path: '/sessions',
      id: 'createSession',
      summary: 'Begin a session',
      answers: { 201: shown('The session', CHAT_SESSION) },
    },
    {
      method: 'GET',
      path: '/sessions',
      id: 'listChatSessions',
      summary: 'List your sessions',
      query: {
        limit: { description: 'Entries on a page', schema: number(1, 100, 20) },
        offset: { description: 'Entries to leave out', schema: number(0, 1_000_000, 0) },
      },
      answers: { 200: shown('A page', SESSION_LIST), 400: WRONG },
    },
    {
      method: 'DELETE',
      path: '/sessions/:sessionId',
      id: 'deleteSession',
      summary: 'Delete a session with its transcript',
      answers: { 200: shown('It is gone', record('Done', { message: TEXT })), 404: UNKNOWN },
    },
    {
      method: 'GET',
      path: '/sessions/:sessionId/run',
      id: 'getOpenRun',
      summary: 'The run that has not ended, if there is one',
      answers: { 200: shown('The run, or null', OPEN_RUN), 404: UNKNOWN },
    },
    {
      method: 'GET',
      path: '/sessions/:sessionId/messages',
      id: 'pageMessages',
      summary: 'A page of the transcript',
      query: {
        limit: { description: 'Messages on a page', schema: number(1, 100, 20) },
        before: { description: '`prevCursor` of a page', schema: TEXT },
        after: { description: '`nextCursor` of a page', schema: TEXT },
      },
      answers: { 200: shown('A page', MESSAGE_PAGE), 400: WRONG, 404: UNKNOWN },
    },
    {
      method: 'GET',
      path: '/messages/:sessionId',
      id: 'listMessages',
      summary: 'The whole transcript',
      answers: { 200: shown('The messages', TRANSCRIPT), 404: UNKNOWN },
    },
    {
      method: 'POST',
      path: '/messages/:sessionId',
      id: 'sendMessage',
      summary: 'Say something, and get the reply',
      body: { types: json(NEW_MESSAGE), example: { message: 'Hello' } },
      answers: {
        200: { description: 'The reply, or its frames', types: { ...json(REPLY), ...FRAMES }, headers: RUN_ID },
        400: WRONG,
        404: UNKNOWN,
        409: refused('Another reply of this session is still being written'),
        502: refused('The model failed'),
        ...BODY,
      },
    },
    {
      method: 'POST',
      path: '/messages/abort',
      id: 'abortRun',
      summary: 'Stop a reply',
      body: { types: json(ABORT) },
      answers: {
        200: shown('Whether there was one', record('Done', { success: { type: 'boolean' } })),
        400: WRONG,
        404: UNKNOWN,
        ...BODY,
      },
    },
    {
      method: 'GET',
      path: '/runs/:runId',
      id: 'followRun',
      summary: 'The frames of a run, from any of them on',
      query: {
        after: { description: 'The number of the last frame that is known', schema: number(0, 999_999_999, 0) },
      },
      headers: { 'Last-Event-ID': { description: 'As `after`', schema: TEXT } },
      answers: {
        200: { description: 'The stream', types: FRAMES, headers: RUN_ID },
        204: { description: 'Asked with `Last-Event-ID`: the run has ended, and there is nothing after that frame' },
        400: WRONG,
        404: refused("There is no such run, or it is somebody else's"),
      },
    },
    {
      method: 'POST',
      path: '/delegation',
      id: 'storeDelegation',
      summary: 'Let the agent act for you at other services',
      body: { types: json(NEW_DELEGATION) },
      answers: { 200: shown('It is kept', DELEGATED), 400: WRONG, ...BODY },
    },
    {
      method: 'GET',
      path: '/delegation',
      id: 'getDelegation',
      summary: 'Whether the agent may',
      answers: { 200: shown('Whether it may', DELEGATION_STATUS) },
    },
    {
      method: 'DELETE',
      path: '/delegation',
      id: 'revokeDelegation',
      summary: 'Revoke it, at once and for good',
      answers: { 200: shown('It is revoked', record('Done', { ok: { const: true } })) },
    },
  ],
};
