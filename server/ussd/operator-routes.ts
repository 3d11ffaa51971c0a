// What operators may see and do: living sessions, the account of a phone number, metrics. Phone numbers stand in bodies, never
// in URLs: those are logged by proxies.

import { record, type Schema } from '../../lib/json/schema.ts';
import type { UssdService } from '../../lib/ussd/service.ts';
import { readInput } from '../http/check-input.ts';
import { PLAIN_ANSWERS, REFUSED, UNKNOWN } from '../http/common-answers.ts';
import type { Route, RouteGroup } from '../http/route-table.ts';
import { METRICS_TYPE, type Metrics } from '../telemetry/metrics.ts';
import type { AccountDesk } from './account-desk.ts';
import { SESSION } from './dialect-bodies.ts';
import type { OperatorNotes } from './operator-notes.ts';

export interface UssdOperatorDeps {
  readonly ussd: UssdService;
  readonly desk: AccountDesk;
  /** Undefined where there are no tokens of operators: whoever sits at this machine needs no witness. */
  readonly notes: Pick<OperatorNotes, 'shown'> | undefined;
  readonly metrics: Metrics;
}

const TEXT: Schema = { type: 'string' };
const SESSIONS: Schema = { type: 'array', items: TEXT, description: 'Ids of living sessions' };

const DEBUG = record('A session', {
  sessionId: TEXT,
  debugInfo: record('Where it stands', {
    state: { type: 'string', examples: ['preMenu'] },
    context: record('What is known of it; never a PIN', {
      sessionId: TEXT,
      phoneNumber: TEXT,
      message: {
        type: 'string',
        description: 'The screen that was shown last; `*` stands for each character of a private value',
      },
      isAuthenticated: { type: 'boolean' },
    }),
    status: { const: 'active' },
  }),
  activeSessions: SESSIONS,
});

const ACCOUNT_FIELDS: { readonly [name: string]: Schema } = {
  registered: { type: 'boolean', description: 'Whether the number has an account' },
  customerId: { type: ['string', 'null'] },
  state: { enum: ['open', 'locked', 'held'], description: '`held`: until an operator unlocks it' },
  lockedUntil: { type: ['string', 'null'], format: 'date-time' },
  failuresInRow: { type: 'integer' },
  failuresInWindow: { type: 'integer', description: 'Within a day' },
  locks: { type: 'integer', description: 'Since the last success; each doubles the next' },
  simChangedAt: { type: ['string', 'null'], format: 'date-time', description: 'When the number got a new SIM, lately' },
  lastUnlock: {
    anyOf: [record('The last unlocking', { by: TEXT, at: { type: 'string', format: 'date-time' } }), { type: 'null' }],
  },
};
const ACCOUNT = record('How a phone number stands', ACCOUNT_FIELDS);
const UNLOCKED = record('What was unlocked', {
  registered: { type: 'boolean' },
  unlocked: { type: 'boolean', description: 'Whether there was anything to forget' },
  before: ACCOUNT,
});

interface PhoneInput {
  readonly body: { readonly phoneNumber: string };
}

interface AccountRoute extends Pick<Route<UssdOperatorDeps>, 'summary' | 'handle'> {
  readonly answer: Schema;
}

function accountRoute(action: 'show' | 'unlock', { summary, answer, handle }: AccountRoute): Route<UssdOperatorDeps> {
  const body: Schema = {
    type: 'object',
    required: ['phoneNumber'],
    properties: { phoneNumber: { type: 'string', description: 'International, with or without its +' } },
    additionalProperties: false,
  };
  return {
    method: 'POST',
    path: `/api/ussd/accounts/${action}`,
    id: `${action}Account`,
    summary,
    handle,
    body: { types: { 'application/json': body }, example: { phoneNumber: '+260971230001' } },
    answers: {
      200: { description: 'Also for a number without an account', types: { 'application/json': answer } },
      400: { description: 'The body or the number is wrong', types: { 'application/json': REFUSED } },
      404: UNKNOWN,
      413: { description: 'The body is too large', types: { 'application/json': REFUSED } },
      415: { description: 'The body is no JSON', types: { 'application/json': REFUSED } },
    },
  };
}

const METRICS_ROUTE: Route<UssdOperatorDeps> = {
  method: 'GET',
  path: '/metrics',
  id: 'getMetrics',
  summary: 'Counts and times, for Prometheus',
  description: 'With METRICS_PORT they are served on a port of their own instead.',
  answers: { 200: { description: 'The metrics', types: { [METRICS_TYPE]: TEXT } }, 404: UNKNOWN },
  handle: async (ctx, { metrics }) => {
    ctx.type = METRICS_TYPE;
    ctx.body = await metrics.render();
  },
};

/** The group; with `metrics` when they are served on the main port. */
export function operatorRouteGroup({ metrics }: { readonly metrics: boolean }): RouteGroup<UssdOperatorDeps> {
  return {
    tag: 'Operators',
    description:
      'With OPERATOR_TOKEN set, for who sends it. Without, for this machine in development, and 404 in production.',
    access: 'operator',
    parameters: { sessionId: { description: 'The id that the telecom gateway gave it', schema: SESSION } },
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
        handle: async (ctx, { ussd }) => {
          const activeSessions = await ussd.sessions();
          ctx.body = { activeSessions, count: activeSessions.length };
        },
      },
      {
        method: 'GET',
        path: '/api/ussd/debug/:sessionId',
        id: 'debugSession',
        summary: 'Where a USSD session stands',
        description: 'With OPERATOR_TOKEN set, the audit log says who asked: the number of the caller is shown whole.',
        answers: {
          200: { description: 'The session', types: { 'application/json': DEBUG } },
          404: {
            description: 'No such session, or it is over; or nothing is told to who asks',
            types: { 'application/json': { anyOf: [record('No session', { error: TEXT, sessionId: TEXT }), REFUSED] } },
          },
        },
        handle: async (ctx, { ussd, notes }) => {
          const sessionId = ctx.params.sessionId as string;
          const debugInfo = await ussd.inspect(sessionId);
          if (debugInfo) await notes?.shown(ctx.state.operator, debugInfo);
          if (!debugInfo) ctx.status = 404;
          ctx.body = debugInfo
            ? { sessionId, debugInfo, activeSessions: await ussd.sessions() }
            : { error: 'Session not found', sessionId };
        },
      },
      accountRoute('show', {
        summary: 'How the account of a phone number stands',
        answer: ACCOUNT,
        handle: async (ctx, { desk }) => {
          ctx.body = await desk.show(readInput<PhoneInput>(ctx).body.phoneNumber);
        },
      }),
      accountRoute('unlock', {
        summary: 'Forget all failed tries at the PIN of a phone number',
        answer: UNLOCKED,
        handle: async (ctx, { desk }) => {
          ctx.body = await desk.unlock(readInput<PhoneInput>(ctx).body.phoneNumber, ctx.state.operator);
        },
      }),
      ...(metrics ? [METRICS_ROUTE] : []),
    ],
  };
}
