// Alive, ready, healthy: three questions that orchestrators, load balancers and people ask.

import type Router from '@koa/router';
import type { Config } from '../config.ts';
import type { Health } from '../health.ts';

/** `GET /livez`, `/readyz`, `/health` and `/`. */
export function healthRoutes(router: Router, health: Health, { environment }: Pick<Config, 'environment'>): void {
  router.get('/livez', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    const connected = await health.connected();
    const status = health.draining ? 'draining' : connected ? 'ok' : 'store-away';
    ctx.status = status === 'ok' ? 200 : 503;
    ctx.body = { status };
  });
  router.get('/health', async (ctx) => {
    const connected = await health.connected();
    ctx.body = {
      status: connected ? 'ok' : 'degraded',
      environment,
      timestamp: new Date().toISOString(),
      uptime: process.uptime(),
      database: connected ? 'connected' : 'disconnected',
    };
  });
  router.get('/', (ctx) => {
    ctx.body = { status: 'ok', message: 'Twinline is running', environment, timestamp: new Date().toISOString() };
  });
}
