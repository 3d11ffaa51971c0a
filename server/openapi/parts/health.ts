// The questions that orchestrators and people ask, as OpenAPI describes them.

import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { record } from '../../../lib/domain/schema/twin-answers.ts';
import type { Part } from '../operation.ts';
import { PLAIN_ANSWERS } from '../refusals.ts';

const TIME: Schema = { type: 'string', format: 'date-time' };
const ENVIRONMENT: Schema = { type: 'string', examples: ['development', 'production'] };
const json = (schema: Schema) => ({ 'application/json': schema });

const READY = record(
  'Whether requests should be sent here',
  {
    status: { enum: ['ok', 'draining', 'store-away'] },
    stores: {
      type: 'array',
      description: 'Those that do not answer, or refuse writes',
      items: record('A store', {
        keeps: { enum: ['sessions', 'documents'], description: 'What it keeps' },
        kind: { type: 'string', examples: ['lmdb', 'redis'] },
        away: { enum: ['refused', 'cut', 'no-answer', 'error', 'refuses-writes'], description: 'How it fails' },
      }),
    },
  },
  ['stores'],
);

export const HEALTH_PART: Part = {
  tag: 'Health',
  description: 'Alive, ready, healthy. `/livez` and `/readyz` are never limited.',
  routes: [
    {
      method: 'GET',
      path: '/',
      id: 'getRoot',
      summary: 'Whether a server is here',
      answers: {
        200: {
          description: 'It is',
          types: json(
            record('A sign of life', {
              status: { const: 'ok' },
              message: { type: 'string' },
              environment: ENVIRONMENT,
              timestamp: TIME,
            }),
          ),
        },
        429: PLAIN_ANSWERS[429],
      },
    },
    {
      method: 'GET',
      path: '/livez',
      id: 'getLiveness',
      summary: 'Whether the process lives',
      answers: {
        200: { description: 'It does', types: json(record('A sign of life', { status: { const: 'ok' } })) },
      },
    },
    {
      method: 'GET',
      path: '/readyz',
      id: 'getReadiness',
      summary: 'Whether requests should be sent here',
      answers: {
        200: { description: 'They should', types: json(READY) },
        503: {
          description: 'They should not: it is being stopped, or a store does not answer or refuses writes',
          types: json(READY),
        },
      },
    },
    {
      method: 'GET',
      path: '/health',
      id: 'getHealth',
      summary: 'How the server is',
      description: 'Always 200, and within 100 ms.',
      answers: {
        200: {
          description: 'How it is',
          types: json(
            record('The state of the server', {
              status: { enum: ['ok', 'degraded'] },
              environment: ENVIRONMENT,
              timestamp: TIME,
              uptime: { type: 'number', minimum: 0, description: 'Seconds' },
              database: {
                enum: ['connected', 'disconnected'],
                description: 'Whether every store answers and takes writes',
              },
            }),
          ),
        },
        429: PLAIN_ANSWERS[429],
      },
    },
  ],
};
