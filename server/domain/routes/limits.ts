// GET /v1/limits: how large things may be.

import { LIMITS } from '../../../lib/limits.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { domainGroup, JSON_TYPE } from '../requests.ts';

const ALL = { ...LIMITS, ...SERVER_LIMITS } as const;

const NAMES = [
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

/** The limits that clients meet. */
export const LIMIT_ROUTES: RouteGroup<object> = domainGroup({
  tag: 'Limits',
  description: 'How large things may be.',
  routes: [
    {
      method: 'GET',
      path: '/v1/limits',
      id: 'getLimits',
      summary: 'The limits of the domain service',
      answers: {
        200: {
          description: 'Name → number; the name says the unit',
          types: { [JSON_TYPE]: { type: 'object', additionalProperties: { type: 'integer' } } },
        },
      },
      handle: (ctx) => {
        ctx.body = Object.fromEntries(NAMES.map((name) => [name, ALL[name]]));
      },
    },
  ],
});
