// What happens to twins, as OpenAPI describes it.

import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { EVENT } from '../../../lib/domain/schema/webhook-answers.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { domainPart } from './domain-part.ts';

const TEXT: Schema = { type: 'string' };

export const EVENTS_PART: RouteGroup = domainPart({
  tag: 'Events',
  description: 'What happens to the twins of a tenant. Numbers and order survive restarts.',
  schemas: { Event: EVENT },
  routes: [
    {
      method: 'GET',
      path: '/v1/events',
      id: 'followEvents',
      summary: 'Follow what happens, as server-sent events',
      description:
        'Each event has its number as `id`, its type as `event`, and as `data` one line of JSON: an `Event`.',
      query: {
        after: {
          description: 'The number of the last event that is known; 0 from the beginning',
          schema: { type: 'integer', minimum: 0 },
        },
        types: {
          description: 'Types or families with commas between them, such as `domain.verified,proposal.*`',
          schema: { type: 'string', maxLength: SERVER_LIMITS.eventTypesChars },
        },
        did: { description: 'Only about this twin', schema: { type: 'string', format: 'did' } },
      },
      headers: { 'Last-Event-ID': { description: 'As `after`; browsers send it when they come back', schema: TEXT } },
      answers: { 200: { description: 'The stream', types: { 'text/event-stream': TEXT } } },
      problems: ['bad-request'],
    },
  ],
});
