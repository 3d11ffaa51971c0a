// GET /v1/limits: the limits of the service; GET /v1/whoami: the caller behind a key.

import { ROLES } from '../../../lib/domain/caller.ts';
import { record } from '../../../lib/json/schema.ts';
import { LIMITS } from '../../../lib/limits.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { readCaller } from '../api-keys.ts';
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
  description: 'How large things may be, and for whom a key stands.',
  routes: [
    {
      method: 'GET',
      path: '/v1/whoami',
      id: 'whoAmI',
      summary: 'For whom this key stands, and what it may do',
      answers: {
        200: {
          description: 'Who asks',
          types: {
            [JSON_TYPE]: record('A caller', {
              principal: { type: 'string', description: 'A DID' },
              roles: { type: 'array', items: { enum: ROLES } },
              tenant: { type: 'string' },
            }),
          },
        },
      },
      reply: (request) => {
        const { principal, roles, tenant } = readCaller(request);
        return { body: { principal, roles: [...roles].sort(), tenant } };
      },
    },
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
      reply: () => ({ body: Object.fromEntries(NAMES.map((name) => [name, ALL[name]])) }),
    },
  ],
});
