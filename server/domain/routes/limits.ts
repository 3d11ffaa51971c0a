// GET /v1/limits: how large things may be.

import type Router from '@koa/router';
import { LIMITS } from '../../../lib/limits.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';

const ALL = { ...LIMITS, ...SERVER_LIMITS } as const;

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
] as const satisfies readonly (keyof typeof ALL)[];

export function limitRoutes(router: Router): void {
  router.get('/v1/limits', (ctx) => {
    ctx.body = Object.fromEntries(TOLD.map((name) => [name, ALL[name]]));
  });
}
