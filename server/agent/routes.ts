// The route group of the agent service, and the routes of delegations.

import type { Delegations } from '../../lib/delegation/delegations.ts';
import { closedObject, record, type Schema } from '../../lib/json/schema.ts';
import { readInput } from '../http/check-input.ts';
import type { ReplyRoute, RouteGroup } from '../http/route-table.ts';
import { agentUser } from '../user/authenticate.ts';
import { AGENT_ERROR, BODY_ANSWERS, jsonAnswer, USER_ANSWERS } from '../user/errors.ts';
import { FILLED, MESSAGE_ROUTES, type MessageDeps, NEW_MESSAGE, REPLY } from './message-routes.ts';
import {
  CHAT_MESSAGE,
  CHAT_SESSION,
  ID_PARAMETERS,
  MESSAGE_PAGE,
  OPEN_RUN,
  refuseInput,
  SESSION_LIST,
  SESSION_ROUTES,
  TRANSCRIPT,
} from './session-routes.ts';

const TEXT: Schema = { type: 'string' };
const SECONDS: Schema = { type: 'integer', description: 'Seconds since 1970' };

const DELEGATION = closedObject(
  { raw: { ...FILLED, description: 'The token' }, issuer: TEXT, audience: TEXT, expiration: { type: 'number' } },
  ['raw'],
);
const STATUS = record('Whether a delegation is stored', { authorized: { type: 'boolean' }, expiration: SECONDS }, [
  'expiration',
]);

interface DelegationDeps {
  readonly delegations: Delegations;
}

const DELEGATION_ROUTES: readonly ReplyRoute<DelegationDeps>[] = [
  {
    method: 'POST',
    path: '/delegation',
    id: 'storeDelegation',
    summary: 'Let the agent act for you at other services',
    body: { types: { 'application/json': DELEGATION }, example: { raw: 'the text of a UCAN delegation to the agent' } },
    answers: {
      200: jsonAnswer('Stored', record('The delegation is stored', { ok: { const: true }, expiration: SECONDS })),
      ...BODY_ANSWERS,
    },
    async reply(request, { delegations }) {
      const { raw } = readInput<{ body: { raw: string } }>(request).body;
      return { body: { ok: true, ...(await delegations.store(agentUser(request).did, raw).catch(refuseInput)) } };
    },
  },
  {
    method: 'GET',
    path: '/delegation',
    id: 'getDelegation',
    summary: 'Whether you have stored a delegation',
    answers: { 200: jsonAnswer('Whether a delegation is stored', STATUS) },
    async reply(request, { delegations }) {
      return { body: await delegations.status(agentUser(request).did) };
    },
  },
  {
    method: 'DELETE',
    path: '/delegation',
    id: 'revokeDelegation',
    summary: 'Revoke it permanently',
    answers: { 200: jsonAnswer('Revoked', record('Done', { ok: { const: true } })) },
    async reply(request, { delegations }) {
      await delegations.revoke(agentUser(request).did);
      return { body: { ok: true } };
    },
  },
];

export const AGENT_ROUTES: RouteGroup<MessageDeps & DelegationDeps> = {
  tag: 'Agent',
  description: `Sessions with an agent, its replies as JSON or as a stream that can be rejoined, delegations. Users come with
UCAN tokens: an invocation as \`Authorization: Bearer …\` with \`X-Auth-Type: ucan\`, or \`x-ucan-delegation\`.

Sockets (socket.io 4, namespace \`/\`, path \`/socket.io/\`) tell what happens in a session while it happens. Connect with the
query \`sessionId\` and \`auth: {invocation?, ucanDelegation?}\`; the first event is \`connected\`, and a client that may not come in is
disconnected. \`tool_call\`, \`action_call\`, \`render_component\`, \`browser_tool_call\`, \`router_update\` (also
\`router.update\`), \`message_cache_invalidation\` and \`reasoning\` come flat. All but \`router_update\` and \`reasoning\` come once
more as \`event {eventName, payload}\`. A call (\`action_call\` with the status \`isRunning\`, \`browser_tool_call\`) comes flat once: to
the clients that are there, or else to the first that comes while the run waits. How an action went comes only as \`event\` and on
the stream of the run: a client that runs an action for every flat event runs it once.
Clients send \`ping\`, \`status\`, \`subscribe {sessionId?}\`, \`list-events\`, \`tool_result {toolCallId, sessionId?, result, error?}\`
and \`action_call_result {toolCallId, sessionId?, result}\`, and are answered by an event, by their acknowledgement, or both.`,
  access: 'user',
  owns: ['/socket.io'],
  parameters: ID_PARAMETERS,
  answers: USER_ANSWERS,
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
  routes: [...SESSION_ROUTES, ...MESSAGE_ROUTES, ...DELEGATION_ROUTES],
};
