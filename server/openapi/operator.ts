// What operators may see, as OpenAPI describes it.

import type { Schema } from '../../lib/domain/schema/parts.ts';
import { record } from '../../lib/domain/schema/twin-answers.ts';
import { METRICS_TYPE } from '../metrics.ts';
import type { Part, Route } from './operation.ts';
import { PLAIN_ANSWERS, REFUSED, UNKNOWN } from './refusals.ts';

const TEXT: Schema = { type: 'string' };
const SESSIONS: Schema = { type: 'array', items: TEXT, description: 'Ids of living sessions' };

const DEBUG = record('A session', {
  sessionId: TEXT,
  debugInfo: record('Where it stands', {
    state: { type: 'string', examples: ['preMenu'] },
    context: record('What is known of it; never a PIN', {
      sessionId: TEXT,
      phoneNumber: TEXT,
      message: { type: 'string', description: 'The screen that was shown last' },
      isAuthenticated: { type: 'boolean' },
    }),
    status: { const: 'active' },
  }),
  activeSessions: SESSIONS,
});

const METRICS: Route = {
  method: 'GET',
  path: '/metrics',
  id: 'getMetrics',
  summary: 'Counts and times, for Prometheus',
  description: 'With METRICS_PORT they are served on a port of their own instead.',
  answers: { 200: { description: 'The metrics', types: { [METRICS_TYPE]: TEXT } }, 404: UNKNOWN },
};

/** The part; with `metrics` when they are served on the main port. */
export function operatorPart({ metrics }: { readonly metrics: boolean }): Part {
  return {
    tag: 'Operators',
    description:
      'With OPERATOR_TOKEN set, for who sends it. Without, for this machine in development, and 404 in production.',
    security: ['operatorToken'],
    securitySchemes: {
      operatorToken: { type: 'http', scheme: 'bearer', description: 'The OPERATOR_TOKEN of the server' },
    },
    parameters: { sessionId: { description: 'The id that the telecom gateway gave it', schema: TEXT } },
    answers: {
      ...PLAIN_ANSWERS,
      401: {
        description: 'The token is missing or another',
        types: { 'application/json': REFUSED },
        headers: { 'WWW-Authenticate': 'How to come in' },
      },
    },
    routes: [
      {
        method: 'GET',
        path: '/api/ussd/sessions',
        id: 'listSessions',
        summary: 'Living USSD sessions',
        answers: {
          200: {
            description: 'Their ids',
            types: {
              'application/json': record('Living sessions', { activeSessions: SESSIONS, count: { type: 'integer' } }),
            },
          },
          404: UNKNOWN,
        },
      },
      {
        method: 'GET',
        path: '/api/ussd/debug/{sessionId}',
        id: 'debugSession',
        summary: 'Where a USSD session stands',
        answers: {
          200: { description: 'The session', types: { 'application/json': DEBUG } },
          404: {
            description: 'No such session, or it is over',
            types: { 'application/json': record('No session', { error: TEXT, sessionId: TEXT }) },
          },
        },
      },
      ...(metrics ? [METRICS] : []),
    ],
  };
}
