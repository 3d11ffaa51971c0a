// How large things may be, as OpenAPI describes it.

import type { RouteGroup } from '../../http/route-table.ts';
import { domainPart, JSON_TYPE } from './domain-part.ts';

export const LIMITS_PART: RouteGroup = domainPart({
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
    },
  ],
});
