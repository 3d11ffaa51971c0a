// What operators may see of live sessions.

import type Router from '@koa/router';
import type { Middleware } from 'koa';
import type { UssdService } from '../../lib/ussd/service.ts';

/** `GET /api/ussd/debug/:sessionId` and `GET /api/ussd/sessions`, behind `operators`. */
export function ussdDebugRoutes(router: Router, gateway: UssdService, operators: Middleware): void {
  router.get('/api/ussd/debug/:sessionId', operators, async (ctx) => {
    const sessionId = ctx.params.sessionId as string;
    const debugInfo = await gateway.inspect(sessionId);
    if (debugInfo) {
      ctx.body = { sessionId, debugInfo, activeSessions: await gateway.sessions() };
      return;
    }
    ctx.status = 404;
    ctx.body = { error: 'Session not found', sessionId };
  });
  router.get('/api/ussd/sessions', operators, async (ctx) => {
    const activeSessions = await gateway.sessions();
    ctx.body = { activeSessions, count: activeSessions.length };
  });
}
