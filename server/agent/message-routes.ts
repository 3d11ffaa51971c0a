// Routes of messages and of the runs that answer them: JSON when it is done, or a stream of frames that can be rejoined.

import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Agent, SendRequest } from '../../lib/agent/agent.ts';
import type { TurnSecrets } from '../../lib/agent/responder.ts';
import { type RunOutcome, sseText } from '../../lib/agent/run/frames.ts';
import type { RunView } from '../../lib/agent/run/run.ts';
import type { JsonObject } from '../../lib/store/store.ts';
import type { EventStreams } from '../http/event-streams.ts';
import { agentUser } from '../user/authenticate.ts';
import { agentError } from '../user/errors.ts';
import { zoneOf } from '../user/time-zone.ts';
import { readAbort, readMessage, type SendBody } from './dto.ts';
import type { Readers } from './readers.ts';
import { ownSession, unknownSession } from './session-routes.ts';

export interface MessageDeps {
  readonly agent: Agent;
  readonly streams: EventStreams;
  readonly readers: Pick<Readers, 'admit'>;
}

/** Adds the routes; `ctx.state.user` is known. */
export function messageRoutes(router: Router, deps: MessageDeps): void {
  const { agent } = deps;

  // Before the route of a session that would be called abort.
  router.post('/messages/abort', async (ctx) => {
    const { sessionId: session, runId } = await readAbort(ctx);
    const aborted = await agent.abort({ owner: agentUser(ctx).did, session, ...(runId !== undefined && { runId }) });
    if (aborted === undefined) throw unknownSession();
    ctx.body = { success: aborted };
  });

  router.post('/messages/:sessionId', async (ctx) => {
    const body = await readMessage(ctx);
    const session = await ownSession(ctx, agent);
    const run = await accepted(agent, requestOf(ctx, session, body));
    ctx.set('X-Run-Id', run.runId);
    if (body.stream) await stream(ctx, deps, { run, after: 0 });
    else ctx.body = await reply(ctx, agent, { run, session, whole: body.returnAllMessages ?? false });
  });

  router.get('/runs/:runId', async (ctx) => {
    const { did } = agentUser(ctx);
    const { runId } = ctx.params as { runId: string };
    const after = positionOf(ctx);
    const following = await agent.follow({ owner: did, runId, after });
    if (!following) throw agentError(404, 'Run not found');
    ctx.set('X-Run-Id', runId);
    // Every frame names the request that began the run, and so does the answer that carries them.
    ctx.set('X-Request-Id', following.run.requestId);
    // A reader that sends this header connects again after every end, until it is told that there is no more.
    if (following.isOver && ctx.get('last-event-id').trim() !== '') ctx.status = 204;
    else await stream(ctx, deps, { run: following.run, after });
  });
}

function requestOf(ctx: Context, session: string, body: SendBody): SendRequest {
  const user = agentUser(ctx);
  const { stream: _stream, returnAllMessages: _all, mcpInvocations, ...request } = body;
  const token = ctx.get('x-matrix-access-token');
  const homeServer = body.homeServer ?? (ctx.get('x-matrix-homeserver') || undefined);
  const timezone = body.timezone ?? zoneOf(ctx.get('x-timezone'));
  const secrets: TurnSecrets = {
    ...user.secrets,
    ...(token && { matrixAccessToken: token }),
    ...(mcpInvocations && { mcpInvocations }),
  };
  const multitask = (body.metadata as { multitask?: SendRequest['multitask'] } | undefined)?.multitask;
  return {
    owner: user.did,
    session,
    requestId: ctx.state.requestId as string,
    request: { ...request, ...(homeServer && { homeServer }), ...(timezone && { timezone }) },
    secrets,
    ...(multitask && { multitask }),
  };
}

async function accepted(agent: Agent, request: SendRequest): Promise<RunView> {
  const sent = await agent.send(request);
  switch (sent.kind) {
    case 'accepted':
      return sent.run;
    case 'busy':
      throw agentError(409, 'A reply of this session is still being written', { runId: sent.runId });
    case 'full':
      throw agentError(503, 'Too many messages are being answered; try again in a moment');
    default:
      throw unknownSession();
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

async function reply(
  ctx: Context,
  agent: Agent,
  asked: { run: RunView; session: string; whole: boolean },
): Promise<JsonObject> {
  const gone = new AbortController();
  ctx.res.once('close', () => gone.abort());
  const { did: owner } = agentUser(ctx);
  const outcome = await agent.outcome({ owner, runId: asked.run.runId, signal: gone.signal });
  if (!outcome) throw agentError(503, 'The reply could not be read; ask for the messages of the session');
  const { done, message } = outcome;
  if (done.status === 'failed') throw failed(outcome);
  const said = { type: 'ai', content: message?.content ?? done.partialText ?? '', id: message?.id ?? asked.run.runId };
  const messages = asked.whole ? await agent.transcript.all(asked.session) : undefined;
  return { message: said, sessionId: asked.session, ...(messages && { messages }) } as unknown as JsonObject;
}

function failed({ error }: RunOutcome) {
  const status = error?.status !== undefined && error.status >= 500 ? error.status : 502;
  return agentError(status, error?.error ?? 'The reply failed', { ...(error?.kind && { kind: error.kind }) });
}

function positionOf(ctx: Context): number {
  const header = ctx.get('last-event-id').trim();
  const given = header === '' ? (ctx.query.after ?? '0') : header;
  const after = typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (Number.isSafeInteger(after)) return after;
  throw agentError(400, [`after must be the number of a frame`]);
}
