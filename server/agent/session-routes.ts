// Routes of chat sessions and their transcripts. A session of somebody else does not exist.

import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Agent } from '../../lib/agent/agent.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { agentUser } from '../user/authenticate.ts';
import { agentError } from '../user/errors.ts';

/** Adds the routes; `ctx.state.user` is known. */
export function sessionRoutes(router: Router, agent: Agent): void {
  router.post('/sessions', async (ctx) => {
    ctx.status = 201;
    ctx.body = await agent.sessions.create(agentUser(ctx).did);
  });

  router.get('/sessions', async (ctx) => {
    const limit = numberOf(ctx, 'limit', { least: 1, most: 100, usual: 20 });
    const offset = numberOf(ctx, 'offset', { least: 0, most: 1_000_000, usual: 0 });
    ctx.body = await agent.sessions.list(agentUser(ctx).did, { limit, offset });
  });

  router.delete('/sessions/:sessionId', async (ctx) => {
    if (!(await agent.deleteSession(agentUser(ctx).did, ctx.params.sessionId!))) throw unknownSession();
    ctx.body = { message: 'Session deleted successfully' };
  });

  router.get('/sessions/:sessionId/run', async (ctx) => {
    const run = await agent.openRun(agentUser(ctx).did, ctx.params.sessionId!);
    if (run === undefined) throw unknownSession();
    ctx.body = { run };
  });

  router.get('/sessions/:sessionId/messages', async (ctx) => {
    const session = await ownSession(ctx, agent);
    const { before, after } = ctx.query as { before?: string; after?: string };
    const limit = numberOf(ctx, 'limit', { least: 1, most: 100, usual: 20 });
    const page = agent.transcript.page(session, { limit, ...(before && { before }), ...(after && { after }) });
    ctx.body = await page.catch((error: unknown) => {
      if (error instanceof TwinlineError && error.code === 'ERR_INPUT') throw agentError(400, [error.message]);
      throw error;
    });
  });

  router.get('/messages/:sessionId', async (ctx) => {
    ctx.body = { messages: await agent.transcript.all(await ownSession(ctx, agent)) };
  });
}

/** The session of the path; throws 404 unless it is the user's. */
export async function ownSession(ctx: Context, agent: Agent): Promise<string> {
  const id = (ctx.params as { sessionId: string }).sessionId;
  if (await agent.sessions.owns(agentUser(ctx).did, id)) return id;
  throw unknownSession();
}

export function unknownSession() {
  return agentError(404, 'Session not found');
}

function numberOf(ctx: Context, name: string, rule: { least: number; most: number; usual: number }): number {
  const given = ctx.query[name];
  if (given === undefined) return rule.usual;
  const value = typeof given === 'string' && /^\d{1,7}$/.test(given) ? Number(given) : Number.NaN;
  if (value >= rule.least && value <= rule.most) return value;
  throw agentError(400, [`${name} must be a whole number from ${rule.least} to ${rule.most}`]);
}
