// What operators may see and do: live sessions, accounts, metrics. Phone numbers travel in bodies, never in URLs, which
// proxies log.

import { record, type Schema } from '../../lib/json/schema.ts';
import type { UssdRequest } from '../../lib/ussd/request.ts';
import type { SessionDebug, UssdService } from '../../lib/ussd/service.ts';
import type { Audit } from '../audit/audit.ts';
import { readInput } from '../http/check-input.ts';
import { PLAIN_ANSWERS, REFUSED, UNKNOWN } from '../http/common-answers.ts';
import type { Route, RouteGroup } from '../http/route-table.ts';
import { METRICS_TYPE, type Metrics } from '../telemetry/metrics.ts';
import { USAGE_PARAMETERS, USAGE_ROUTE, type UsageDeps } from '../usage/routes.ts';
import type { AccountDesk } from './account-desk.ts';
import { SESSION } from './dialect-bodies.ts';

export interface UssdOperatorDeps extends UsageDeps {
  readonly ussd: UssdService;
  readonly desk: AccountDesk;
  /** Undefined without operator tokens: access is then limited to this machine and not audited. */
  readonly notes: Pick<OperatorNotes, 'shown'> | undefined;
  readonly metrics: Metrics;
}

const TEXT: Schema = { type: 'string' };
const SESSIONS: Schema = { type: 'array', items: TEXT, description: 'Ids of live sessions' };

const DEBUG = record('A session', {
  sessionId: TEXT,
  debugInfo: record('State of the session', {
    state: { type: 'string', examples: ['preMenu'] },
    context: record('Session data; never a PIN', {
      sessionId: TEXT,
      phoneNumber: TEXT,
      message: {
        type: 'string',
        description: 'The last screen; each character of a private value is shown as `*`',
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
  failuresInWindow: { type: 'integer', description: 'Within the last day' },
  locks: { type: 'integer', description: 'Since the last success; each lock lasts twice as long as the one before' },
  simChangedAt: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When the number got a new SIM, if recently',
  },
  callers: {
    type: 'array',
    description:
      'What `caller` is in log lines of this number, for each key of PIN_ENCRYPTION_KEY; the active one first',
    items: record('A keyed hash of the number', { key: TEXT, caller: TEXT }),
  },
  lastUnlock: {
    anyOf: [record('The last unlock', { by: TEXT, at: { type: 'string', format: 'date-time' } }), { type: 'null' }],
  },
};
const ACCOUNT = record('The account of a phone number', ACCOUNT_FIELDS);
const UNLOCKED = record('The result of an unlock', {
  registered: { type: 'boolean' },
  unlocked: { type: 'boolean', description: 'Whether there was anything to clear' },
  before: ACCOUNT,
});

interface PhoneInput {
  readonly body: { readonly phoneNumber: string };
}

interface AccountRoute extends Pick<Route<UssdOperatorDeps>, 'summary' | 'handle'> {
  readonly answer: Schema;
}

const FLOW_MEMORY = record(
  'What one flow keeps',
  {
    flow: TEXT,
    simulated: { const: true, description: 'Kept of a simulated phone with this number; missing for callers' },
    values: { type: 'object', description: 'The variables with `keep` that have a value, by name' },
  },
  ['simulated'],
);

function accountRoute(
  action: 'show' | 'unlock' | 'export' | 'erase',
  { summary, answer, handle }: AccountRoute,
): Route<UssdOperatorDeps> {
  const body: Schema = {
    type: 'object',
    required: ['phoneNumber'],
    properties: { phoneNumber: { type: 'string', description: 'International, with or without the +' } },
    additionalProperties: false,
  };
  return {
    method: 'POST',
    path: `/api/ussd/accounts/${action}`,
    id: action === 'show' || action === 'unlock' ? `${action}Account` : `${action}Caller`,
    summary,
    handle,
    body: { types: { 'application/json': body }, example: { phoneNumber: '+260971230001' } },
    answers: {
      200: { description: 'Done; also for a number without an account', types: { 'application/json': answer } },
      400: { description: 'The body or the number is invalid', types: { 'application/json': REFUSED } },
      404: UNKNOWN,
      413: { description: 'The body is too large', types: { 'application/json': REFUSED } },
      415: { description: 'The body is not JSON', types: { 'application/json': REFUSED } },
    },
  };
}

const METRICS_ROUTE: Route<UssdOperatorDeps> = {
  method: 'GET',
  path: '/metrics',
  id: 'getMetrics',
  summary: 'Metrics in the Prometheus format',
  description: 'With METRICS_PORT they are served on that port instead.',
  answers: { 200: { description: 'The metrics', types: { [METRICS_TYPE]: TEXT } }, 404: UNKNOWN },
  handle: async (ctx, { metrics }) => {
    ctx.type = METRICS_TYPE;
    ctx.body = await metrics.render();
  },
};

const ACCOUNT_ROUTES: readonly Route<UssdOperatorDeps>[] = [
  accountRoute('show', {
    summary: 'The account of a phone number',
    answer: ACCOUNT,
    handle: async (ctx, { desk }) => {
      ctx.body = await desk.show(readInput<PhoneInput>(ctx).body.phoneNumber);
    },
  }),
  accountRoute('unlock', {
    summary: 'Clear all failed PIN attempts of a phone number',
    answer: UNLOCKED,
    handle: async (ctx, { desk }) => {
      ctx.body = await desk.unlock(readInput<PhoneInput>(ctx).body.phoneNumber, ctx.state.operator);
    },
  }),
  accountRoute('export', {
    summary: 'What flows keep of a caller',
    answer: record('What flows keep of a caller', { memory: { type: 'array', items: FLOW_MEMORY } }),
    handle: async (ctx, { desk }) => {
      ctx.body = await desk.export(readInput<PhoneInput>(ctx).body.phoneNumber, ctx.state.operator);
    },
  }),
  accountRoute('erase', {
    summary: 'Erase what flows keep of a caller',
    answer: record('What was erased', {
      erased: { type: 'integer', description: 'How many flows kept something of the caller' },
    }),
    handle: async (ctx, { desk }) => {
      ctx.body = await desk.erase(readInput<PhoneInput>(ctx).body.phoneNumber, ctx.state.operator);
    },
  }),
];

/** The route group; `metrics`: served on the main port. */
export function operatorRouteGroup({ metrics }: { readonly metrics: boolean }): RouteGroup<UssdOperatorDeps> {
  return {
    tag: 'Operators',
    description:
      'Requires OPERATOR_TOKEN if it is set. If not: open to this machine in development, 404 in production.',
    access: 'operator',
    parameters: {
      sessionId: { description: 'The id that the telecom gateway assigned', schema: SESSION },
      ...USAGE_PARAMETERS,
    },
    answers: {
      ...PLAIN_ANSWERS,
      401: {
        description: 'The token is missing or wrong',
        types: { 'application/json': REFUSED },
        headers: { 'WWW-Authenticate': 'The authentication scheme' },
      },
    },
    routes: [
      {
        method: 'GET',
        path: '/api/ussd/sessions',
        id: 'listSessions',
        summary: 'Live USSD sessions',
        answers: {
          200: {
            description: 'Their ids',
            types: {
              'application/json': record('Live sessions', { activeSessions: SESSIONS, count: { type: 'integer' } }),
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
        summary: 'State of a USSD session',
        description: 'With OPERATOR_TOKEN set, the audit log records who asked: the phone number is shown in full.',
        answers: {
          200: { description: 'The session', types: { 'application/json': DEBUG } },
          404: {
            description: 'No such session, it has ended, or the caller may not see it',
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
      ...ACCOUNT_ROUTES,
      USAGE_ROUTE,
      ...(metrics ? [METRICS_ROUTE] : []),
    ],
  };
}

/** Each resolves once its row is stored. Rejects with ERR_STORE or ERR_CONFLICT. */
export interface OperatorNotes {
  /** An operator views a session. */
  shown(by: string, session: SessionDebug): Promise<void>;
  /** A simulated phone starts a session. */
  simulated(by: string, dialect: string, request: UssdRequest): Promise<void>;
}

interface OperatorNotesOptions {
  /** Pseudonym of a phone number that must not be written. */
  readonly alias: (phone: string) => string;
  readonly audit: Pick<Audit, 'append'>;
}

export function operatorNotes({ alias, audit }: OperatorNotesOptions): OperatorNotes {
  return {
    async shown(by, { state, context }) {
      await audit.append({ action: 'session.shown', by, details: { phone: alias(context.phoneNumber), state } });
    },
    async simulated(by, dialect, { phoneNumber, serviceCode }) {
      const details = { phone: alias(phoneNumber), dialect, serviceCode };
      await audit.append({ action: 'session.simulated', by, details });
    },
  };
}
