// Routes of messages and runs: replies as JSON when complete, or as a stream of frames that can be resumed.

import type { Context } from 'koa';
import type { Agent } from '../../lib/agent/agent.ts';
import type { SendRequest } from '../../lib/agent/requests.ts';
import type { TurnSecrets } from '../../lib/agent/responder.ts';
import type { RunFrame, RunOutcome } from '../../lib/agent/run/frames.ts';
import type { RunRequest, RunView } from '../../lib/agent/run/run.ts';
import { closedObject, record, type Schema } from '../../lib/json/schema.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { readInput, readTimeZone } from '../http/check-input.ts';
import type { EventStreams } from '../http/event-streams.ts';
import type { ReadClient } from '../http/middleware/client.ts';
import type { ReplyRoute, RouteRequest } from '../http/route-table.ts';
import type { Readers } from '../sockets/leaving.ts';
import { agentUser } from '../user/authenticate.ts';
import { agentError, BODY_ANSWERS, jsonAnswer, refusalAnswer, WRONG_INPUT } from '../user/errors.ts';
import { MESSAGES, SESSION_EXAMPLE, UNKNOWN_SESSION, unknownSessionError } from './session-routes.ts';

const TEXT: Schema = { type: 'string' };
const FLAG: Schema = { type: 'boolean' };
const FRAMES = { 'text/event-stream': TEXT };
const RUN_ID = { 'X-Run-Id': 'The run id' };
const FRAME_NUMBER = { type: 'integer', minimum: 0, maximum: 999_999_999 };
/** Text that is not blank. */
export const FILLED = { type: 'string', minLength: 1, format: 'not-blank' };

const TOOL: { readonly [name: string]: Schema } = {
  name: { ...FILLED, maxLength: 128 },
  description: { type: 'string', maxLength: 4_096 },
  // Clients send all kinds of schemas; they are passed on, never compiled.
  schema: { type: 'object', additionalProperties: true, description: 'Schema of the arguments; passed on' },
};
const ACTION = { ...TOOL, hasRender: FLAG };
const tools = (fields: { readonly [name: string]: Schema }): Schema => ({
  type: 'array',
  items: closedObject(fields, ['name', 'description', 'schema']),
  maxItems: SERVER_LIMITS.declaredTools,
});

const PLACES = {
  mxcUri: { type: 'string', maxLength: 2_048, format: 'attachment-address' },
  eventId: { type: 'string', maxLength: 256, format: 'matrix-event' },
};
const ATTACHMENT: Schema = {
  type: 'object',
  properties: {
    ...PLACES,
    filename: { ...FILLED, maxLength: 255 },
    mimetype: { ...FILLED, maxLength: 255 },
    size: { type: 'number', minimum: 0 },
  },
  required: ['filename', 'mimetype'],
  anyOf: Object.entries(PLACES).map(([name, schema]) => ({ required: [name], properties: { [name]: schema } })),
  additionalProperties: false,
};

const MULTITASK = { enum: ['reject', 'enqueue', 'interrupt'], description: 'While another run of the session is live' };

export const NEW_MESSAGE = closedObject(
  {
    message: FILLED,
    stream: { type: 'boolean', default: false, description: 'Reply with a stream of frames' },
    returnAllMessages: { type: 'boolean', default: false },
    tools: tools(TOOL),
    agActions: tools(ACTION),
    attachments: { type: 'array', items: ATTACHMENT, maxItems: 10 },
    mcpInvocations: { type: 'object', additionalProperties: TEXT },
    timezone: { type: 'string', maxLength: 64, format: 'time-zone', examples: ['Africa/Lusaka'] },
    homeServer: { type: 'string', maxLength: 512 },
    metadata: { type: 'object', properties: { multitask: MULTITASK }, additionalProperties: true },
    model: { type: 'string', maxLength: 256 },
  },
  ['message'],
);

interface SendBody extends RunRequest {
  readonly stream: boolean;
  readonly returnAllMessages: boolean;
  readonly mcpInvocations?: { readonly [tool: string]: string };
}

export const REPLY = record(
  'The reply',
  {
    message: record('What the agent said', { type: { const: 'ai' }, content: TEXT, id: TEXT }),
    sessionId: TEXT,
    messages: { ...MESSAGES, description: 'The whole transcript, if requested' },
  },
  ['messages'],
);

export interface MessageDeps {
  readonly agent: Agent;
  readonly streams: EventStreams;
  readonly readers: Pick<Readers, 'admit'>;
  readonly readClient: ReadClient;
}

export const MESSAGE_ROUTES: readonly ReplyRoute<MessageDeps>[] = [
  // Must precede the session route, which would take `abort` for an id.
  {
    method: 'POST',
    path: '/messages/abort',
    id: 'abortRun',
    summary: 'Stop a reply',
    body: {
      types: { 'application/json': closedObject({ sessionId: FILLED, runId: FILLED }, ['sessionId']) },
      example: { sessionId: SESSION_EXAMPLE },
    },
    answers: {
      200: jsonAnswer('Whether there was a run to stop', record('Done', { success: FLAG })),
      404: UNKNOWN_SESSION,
      ...BODY_ANSWERS,
    },
    async reply(request, { agent }) {
      const { body } = readInput<{ body: { sessionId: string; runId?: string } }>(request);
      const { sessionId: session, ...run } = body;
      const isAborted = await agent.abort({ owner: agentUser(request).did, session, ...run });
      if (isAborted === undefined) throw unknownSessionError();
      return { body: { success: isAborted } };
    },
  },
  {
    method: 'POST',
    path: '/messages/:sessionId',
    id: 'sendMessage',
    summary: 'Send a message and get the reply',
    body: { types: { 'application/json': NEW_MESSAGE }, example: { message: 'Hello' } },
    answers: {
      200: {
        description: 'The reply, or its frames',
        types: { 'application/json': REPLY, ...FRAMES },
        headers: RUN_ID,
      },
      404: UNKNOWN_SESSION,
      409: refusalAnswer('Another reply of this session is still being written'),
      502: refusalAnswer('The model failed'),
      ...BODY_ANSWERS,
    },
    async reply(request, deps) {
      const { body } = readInput<{ body: SendBody }>(request);
      const { agent } = deps;
      const { sessionId: session } = request.params as { sessionId: string };
      const run = await sendMessage(agent, makeRequest(request, deps, { session, body }));
      return (ctx) => {
        ctx.set('X-Run-Id', run.runId);
        if (body.stream) return stream(ctx, deps, { run, after: 0 });
        return sendReply(ctx, agent, { run, session, whole: body.returnAllMessages });
      };
    },
  },
  {
    method: 'GET',
    path: '/runs/:runId',
    id: 'followRun',
    summary: 'The frames of a run, starting after any of them',
    query: {
      after: { description: 'The number of the last frame received', schema: { ...FRAME_NUMBER, default: 0 } },
    },
    headers: { 'Last-Event-ID': { description: 'As `after`', schema: FRAME_NUMBER } },
    answers: {
      200: { description: 'The stream', types: FRAMES, headers: RUN_ID },
      204: { description: 'With `Last-Event-ID`: the run has ended and there are no frames after that one' },
      400: WRONG_INPUT,
      404: refusalAnswer('The run does not exist, or belongs to another user'),
    },
    async reply(request, deps) {
      const input = readInput<{ query: { after: number }; headers: { 'Last-Event-ID'?: number } }>(request);
      const { 'Last-Event-ID': last } = input.headers;
      const after = last ?? input.query.after;
      const { runId } = request.params as { runId: string };
      const following = await deps.agent.follow({ owner: agentUser(request).did, runId, after });
      if (!following) throw agentError(404, 'Run not found');
      const { run, isOver } = following;
      // The frames carry the id of the request that started the run, so the response does too.
      const headers = { 'X-Run-Id': runId, 'X-Request-Id': run.requestId };
      // An EventSource reconnects after every end until it gets a 204.
      if (isOver && last !== undefined) return { status: 204, headers };
      return (ctx) => {
        ctx.set(headers);
        return stream(ctx, deps, { run, after });
      };
    },
  },
];

function makeRequest(
  http: RouteRequest,
  { readClient }: Pick<MessageDeps, 'readClient'>,
  { session, body }: { readonly session: string; readonly body: SendBody },
): SendRequest {
  const user = agentUser(http);
  const { bucket, exempt, proxy } = readClient(http.req);
  const { stream: _stream, returnAllMessages: _all, mcpInvocations, ...request } = body;
  const token = http.get('x-matrix-access-token');
  const homeServer = body.homeServer ?? (http.get('x-matrix-homeserver') || undefined);
  const timezone = body.timezone ?? readTimeZone(http.get('x-timezone'));
  const secrets: TurnSecrets = {
    ...user.secrets,
    ...(token && { matrixAccessToken: token }),
    ...(mcpInvocations && { mcpInvocations }),
  };
  const multitask = (body.metadata as { multitask?: SendRequest['multitask'] } | undefined)?.multitask;
  return {
    owner: user.did,
    session,
    requestId: http.state.requestId as string,
    request: { ...request, ...(homeServer && { homeServer }), ...(timezone && { timezone }) },
    secrets,
    // No address quota behind an exempt network or a proxy that hides its clients, which many people share.
    ...(!exempt && !proxy && { client: bucket }),
    ...(multitask && { multitask }),
  };
}

async function sendMessage(agent: Agent, request: SendRequest): Promise<RunView> {
  const outcome = await agent.send(request);
  switch (outcome.kind) {
    case 'accepted':
      return outcome.run;
    case 'busy':
      throw agentError(409, 'A reply of this session is still being written', { runId: outcome.runId });
    case 'full':
      throw agentError(503, 'Too many messages are being answered; try again in a moment');
    default:
      throw unknownSessionError();
  }
}

async function stream(
  ctx: Context,
  { agent, streams, readers }: MessageDeps,
  { run, after }: { run: RunView; after: number },
): Promise<void> {
  const user = agentUser(ctx);
  const messages = async function* (signal: AbortSignal) {
    const following = await agent.follow({ owner: user.did, runId: run.runId, after, signal });
    if (following) for await (const frames of following.frames) yield frames.map(sseText).join('');
  };
  streams.serve(ctx, { owner: user.did, hello: '', messages, mayRead: () => true, stop: readers.admit(user, ctx.res) });
}

/** The status logged and counted when the client disconnects first. */
const CLIENT_LEFT = 499;

async function sendReply(
  ctx: Context,
  agent: Agent,
  { run, session, whole }: { run: RunView; session: string; whole: boolean },
): Promise<void> {
  const disconnect = new AbortController();
  ctx.res.once('close', () => disconnect.abort());
  const { did: owner } = agentUser(ctx);
  const outcome = await agent.outcome({ owner, runId: run.runId, signal: disconnect.signal });
  if (disconnect.signal.aborted) {
    ctx.status = CLIENT_LEFT;
    return;
  }
  if (!outcome) throw agentError(503, 'The reply could not be read; list the messages of the session instead');
  const { done, message } = outcome;
  if (done.status === 'failed') throw replyError(outcome);
  const reply = { type: 'ai', content: message?.content ?? done.partialText ?? '', id: message?.id ?? run.runId };
  const messages = whole ? await agent.transcript.all(session) : undefined;
  ctx.body = { message: reply, sessionId: session, ...(messages && { messages }) };
}

function replyError({ error }: RunOutcome) {
  const isShown = error?.status !== undefined && (error.status >= 500 || error.status === 402);
  const status = isShown ? error.status! : 502;
  return agentError(status, error?.error ?? 'The reply failed', { ...(error?.kind && { kind: error.kind }) });
}

/** Formats a frame as a server-sent event. */
export function sseText({ n, event, data }: RunFrame): string {
  return `event: ${event}\nid: ${n}\ndata: ${data}\n\n`;
}
