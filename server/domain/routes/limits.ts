// GET /v1/limits: how large things may be.

import type Router from '@koa/router';
import { LIMITS } from '../../../lib/limits.ts';

const TOLD = [
  'jsonBodyBytes',
  'jsonBodyDepth',
  'documentBytes',
  'pageSizeMax',
  'itemsPerList',
  'aliasesPerTwin',
  'partsPerTwin',
  'protocolDepth',
  'propertySchemaBytes',
  'filterChars',
  'filterDepth',
  'graphDepth',
  'graphNodes',
  'idempotencyKeyChars',
  'idempotencyMs',
  'bulkLines',
  'bulkLineBytes',
  'webhooksPerTenant',
  'webhookTries',
  'eventStreamsPerTenant',
] as const satisfies readonly (keyof typeof LIMITS)[];

export function limitRoutes(router: Router): void {
  router.get('/v1/limits', (ctx) => {
    ctx.body = Object.fromEntries(TOLD.map((name) => [name, LIMITS[name]]));
  });
}
