// Alive, ready, healthy: three questions that orchestrators, load balancers and people ask.

import type Router from '@koa/router';
import type { Config } from '../config/config.ts';
import type { Health } from './health.ts';

/** `GET /livez`, `/readyz`, `/health` and `/`. */
export function healthRoutes(router: Router, health: Health, { environment }: Pick<Config, 'environment'>): void {
  const storesAway = async () => (await health.stores()).filter(({ away }) => away !== undefined);

  router.get('/livez', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    const away = await storesAway();
    const status = health.draining ? 'draining' : away.length ? 'store-away' : 'ok';
    ctx.status = status === 'ok' ? 200 : 503;
    ctx.body = status === 'store-away' ? { status, stores: away } : { status };
  });
  router.get('/health', async (ctx) => {
    const connected = (await storesAway()).length === 0;
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
