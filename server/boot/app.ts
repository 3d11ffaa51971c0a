// The HTTP application: what a request passes through, in this order, and the routes at the end of it.

import type Router from '@koa/router';
import Koa, { type Middleware, type Next, type ParameterizedContext } from 'koa';
import type { Clock } from '../../lib/clock.ts';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import type { Adapter } from '../../lib/ussd/adapter.ts';
import type { UssdService } from '../../lib/ussd/service.ts';
import type { AgentDoor } from '../agent/door.ts';
import type { Config } from '../config/config.ts';
import { readVersion } from '../config/modules.ts';
import { DOCS_ROUTES, openDocs } from '../docs/routes.ts';
import { problems } from '../domain/answers.ts';
import type { DomainDoor } from '../domain/door.ts';
import type { QueryGateway } from '../gateway/open.ts';
import type { Health } from '../health/health.ts';
import { HEALTH_ROUTES } from '../health/routes.ts';
import type { ConnectionOptions } from '../http/connections.ts';
import { Refusal } from '../http/errors.ts';
import {
  admission,
  admitRequests,
  answerAhead,
  connectionOptions,
  countedLivePlaces,
  countedOverload,
  dialLimiter,
  type Exceptions,
  openLimiter,
  requestId,
} from '../http/fast-path.ts';
import { guardListener, type Listener, traceRequests } from '../http/guard.ts';
import { jsonBody } from '../http/json-body.ts';
import { answerErrors, recorder } from '../http/middleware/answer-errors.ts';
import { type CorsDoor, crossOrigin } from '../http/middleware/cors.ts';
import { type OperatorRule, operatorsOnly } from '../http/middleware/operator.ts';
import { SECURITY_HEADERS } from '../http/middleware/security-headers.ts';
import type { Overload } from '../http/overload.ts';
import {
  addRoutes,
  firstSegment,
  listRoutes,
  newRouter,
  ownRequestFinder,
  type RouteGroup,
  refuseUnrouted,
  type ServedRoute,
} from '../http/route-table.ts';
import { boundAnswers, type UnsentLimits, unsentBytes } from '../http/unsent.ts';
import { openApiDocument } from '../openapi/document.ts';
import type { Door as SocketDoor } from '../sockets/socket-server.ts';
import type { Log } from '../telemetry/log.ts';
import { gauge, type Metrics } from '../telemetry/metrics.ts';
import type { UsageCounts } from '../usage/counts.ts';
import type { AccountDesk } from '../ussd/account-desk.ts';
import { CALLBACK_ROUTES, type CallbackDeps } from '../ussd/callbacks.ts';
import { USSD_BASE } from '../ussd/dialects.ts';
import { forbiddenGateways, type UssdGateways } from '../ussd/gateways.ts';
import type { OperatorNotes } from '../ussd/operator-routes.ts';
import { operatorRouteGroup } from '../ussd/operator-routes.ts';
import { ussdRoutes } from '../ussd/routes.ts';
import { sendErrorPage, sendWaitPage } from '../web/kit/frame.ts';
import { setHeaderOptions } from '../web/kit/header.ts';
import { PAGE_FILE_ROUTES } from '../web/kit/routes.ts';
import { REGISTRY_ROUTES } from '../web/registry/routes.ts';
import type { ToolPages } from '../web/tools.ts';
import { ALWAYS_ANSWERED, listExceptions, routeGroups } from './route-groups.ts';

export interface AppDeps {
  readonly config: Config;
  readonly ussd: UssdService;
  readonly gateways: UssdGateways;
  readonly desk: AccountDesk;
  readonly callbacks: CallbackDeps;
  readonly usage: UsageCounts;
  readonly notes: OperatorNotes | undefined;
  readonly adapters: Readonly<Record<string, Adapter>>;
  readonly health: Health;
  readonly overload: Overload;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  /** Where instances count requests together; without it each counts for itself. */
  readonly redis?: RedisConnection | undefined;
  /** Everything below /v1. */
  readonly domain: DomainDoor;
  readonly agent: AgentDoor;
  readonly sockets: Pick<SocketDoor, 'path' | 'packets' | 'handshakes'>;
  readonly toolPages: ToolPages;
  readonly operators: OperatorRule;
  /** Undefined where there is none. */
  readonly query?: QueryGateway | undefined;
  /** Groups that plugins serve, for /openapi.json. */
  readonly documentation: readonly RouteGroup[];
  /** Further groups with their handlers, for tests. */
  readonly routes?: readonly RouteGroup<undefined>[] | undefined;
  readonly unsent?: UnsentLimits | undefined;
}

export interface App {
  /** For `http.createServer`. */
  readonly listener: Listener;
  /** For the connections that lead to it. */
  readonly connections: ConnectionOptions;
  /** Everything that it answers. */
  readonly routes: readonly ServedRoute[];
}

/** The application. */
export function createApp(deps: AppDeps): App {
  const { config, health, metrics, log, routes = [] } = deps;
  const { readClient } = deps.operators;
  const limiter = openLimiter(deps);
  const overload = countedOverload(deps);
  const admit = admission({ overload, readClient, limiter });
  const unsent = unsentBytes({ readClient, onRefused: () => metrics.refused('unsent'), ...deps.unsent });
  const live = countedLivePlaces(deps, readClient);
  metrics.add(() => [
    ...gauge('twinline_unsent_bytes', 'Bytes of large answers that clients have not taken.', unsent.bytes),
    ...gauge('twinline_live_streams', 'Streams of events and sockets that are open.', live.open),
  ]);
  const operators = operatorsOnly(deps.operators);
  const declared = routeGroups(config, deps.adapters);
  const cors = crossOrigin(config);
  const ussdDoor = openUssdDoor(deps, { overload, limiter, cors: cors.ussd });
  const parts = [...declared, ...deps.documentation, ...routes];
  const allParts = () => (query ? [...parts, query.part()] : parts);
  const document = () => openApiDocument({ groups: allParts(), version: readVersion(), url: config.publicUrl });
  const router = openRouter(deps, { declared, operators, phones: ussdDoor.simulated });
  addRoutes(router, DOCS_ROUTES, { deps: openDocs({ openApi: document, groups: allParts }) });
  for (const group of routes) addRoutes(router, group, { deps: undefined });

  const own = [...ussdDoor.routes, ...deps.domain.routes, ...deps.agent.routes, ...listRoutes(router)];
  const query = deps.query?.door(own, { admit, cors: cors.gateway, record: recorder(deps) });
  const doors = doorsBySegment(deps, own);
  const isOwnRequest = ownRequestFinder(parts);
  const isQuery = (url: string) => query?.owns(url) === true;
  const byPath = listExceptions(declared);
  const exceptions = ({ path, req, state }: ParameterizedContext): Exceptions | undefined =>
    state.isOwn ? { ...byPath.get(path), operator: deps.toolPages.findOperator(req.headers) } : byPath.get(path);
  const app = new Koa({ env: config.environment });
  setHeaderOptions(app, deps.toolPages.headers);
  app
    .use((ctx, next) => {
      const url = ctx.req.url!;
      ctx.state.door = doors.get(firstSegment(url)) ?? NO_DOOR;
      if (url.startsWith(USSD_BASE)) return ussdDoor(ctx, next);
      return isQuery(url) ? query!.answer(ctx, next) : next();
    })
    .use(assignRequestId())
    .use((ctx, next) => {
      ctx.state.isOwn = isOwnRequest({
        method: ctx.get('access-control-request-method') || ctx.method,
        path: ctx.path,
      });
      return ctx.state.isOwn ? next() : cors[ctx.path.startsWith(USSD_BASE) ? 'ussd' : findDoor(ctx).cors](ctx, next);
    })
    .use(({ res }, next) => {
      for (const [name, value] of SECURITY_HEADERS) res.setHeader(name, value);
      return next();
    })
    .use(answerErrors({ log, metrics, redact: config.redact, sendErrorPage }))
    .use(answerEarlyProblems())
    .use(boundAnswers())
    .use((ctx, next) => findDoor(ctx).beforeLimits(ctx, next))
    .use(admitRequests({ admit, exceptions, sendWaitPage }))
    .use((ctx, next) => findDoor(ctx).answer(ctx, next))
    .use(router.routes())
    .use((ctx) => {
      if (!HTTP_METHODS.has(ctx.method)) throw new Refusal('not-implemented');
      refuseUnrouted(ctx, [ussdDoor.router, router]);
    });
  app.on('error', (error) => log.warn({ err: error }, 'a response failed'));
  // The URLs of almost every request pass Koa by, unless a browser asks.
  const ahead = answerAhead(app.callback(), ({ url = '', method }) => {
    if (url === USSD_BASE) return method === 'POST' ? ussdDoor.plain : undefined;
    return isQuery(url) ? query!.fastPath : undefined;
  });
  const listener = traceRequests(
    guardListener(ahead, { overload: deps.overload, health, unsent, live, urgent: ALWAYS_ANSWERED }),
  );
  return {
    listener,
    connections: connectionOptions(deps, readClient),
    routes: query ? [...own, ...query.routes] : own,
  };
}

type UssdDeps = Parameters<typeof ussdRoutes>[0];

interface DialRules {
  readonly overload: Parameters<typeof admission>[0]['overload'];
  readonly limiter: ReturnType<typeof openLimiter>;
  readonly cors: UssdDeps['cors'];
}

function openUssdDoor(deps: AppDeps, { overload, limiter, cors }: DialRules) {
  const { readClient } = deps.operators;
  const { metrics, log } = deps;
  const dials = dialLimiter(limiter, deps);
  return ussdRoutes({
    ...deps,
    admit: admission({ overload, readClient, limiter: dials }),
    admitOperator: admission({ overload, readClient, limiter: async () => 0 }),
    limiter: dials,
    cors,
    onForbidden: forbiddenGateways({ metrics, log, now: deps.clock.monotonic }),
    errorStatus: deps.config.ussd.errorStatus,
  });
}

interface RouterParts {
  readonly declared: readonly RouteGroup[];
  readonly operators: Middleware;
  readonly phones: Parameters<ToolPages['addRoutes']>[1];
}

/** The routes of no door of their own: health, those of operators, pages and their files. */
function openRouter(deps: AppDeps, { declared, operators, phones }: RouterParts): Router {
  const { config, health, clock, metrics, toolPages } = deps;
  const router = newRouter();
  // Callbacks are JSON or forms, and read their own bodies.
  addRoutes(router, CALLBACK_ROUTES, { deps: deps.callbacks });
  router.use(jsonBody(bodyLimits(declared)));
  addRoutes(router, HEALTH_ROUTES, {
    deps: { health, clock, environment: config.environment, sendHome: toolPages.sendHome },
  });
  addRoutes(router, operatorRouteGroup({ metrics: config.metricsPort === undefined }), {
    deps: { ussd: deps.ussd, desk: deps.desk, notes: deps.notes, metrics, usage: deps.usage, clock },
    guards: { operator: operators },
  });
  addRoutes(router, PAGE_FILE_ROUTES, { deps: undefined });
  addRoutes(router, REGISTRY_ROUTES, { deps: undefined });
  toolPages.addRoutes(router, phones);
  return router;
}

function pass(_ctx: unknown, next: Next): Promise<unknown> {
  return next();
}

// Of routes that declare one.
function bodyLimits(groups: readonly RouteGroup[]): ReadonlyMap<string, number> {
  const routes = groups.flatMap(({ routes }) => routes);
  return new Map(routes.flatMap(({ path, body }) => (body?.maxBytes === undefined ? [] : [[path, body.maxBytes]])));
}

const HTTP_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function assignRequestId(): Middleware {
  return (ctx, next) => {
    ctx.state.requestId = requestId(ctx.req);
    ctx.set('X-Request-Id', ctx.state.requestId);
    return next();
  };
}

/** What answers the paths below a first segment. What it passes on is asked of the router. */
interface SegmentDoor {
  /** By whose rules pages of other origins are let in. */
  readonly cors: CorsDoor;
  /** Takes requests that have bounds of their own. */
  readonly beforeLimits: Middleware;
  readonly answer: Middleware;
}

const NO_DOOR: SegmentDoor = { cors: 'others', beforeLimits: pass, answer: pass };

const findDoor = ({ state }: ParameterizedContext): SegmentDoor => state.door;

/** Each first segment of a path that a door answers, all but those of the query gateway, which has what is left. */
function doorsBySegment(
  { agent, domain, sockets }: Pick<AppDeps, 'agent' | 'domain' | 'sockets'>,
  routes: readonly ServedRoute[],
): ReadonlyMap<string, SegmentDoor> {
  const socketDoor = { cors: 'others', beforeLimits: sockets.packets, answer: sockets.handshakes } as const;
  const listed: [readonly ServedRoute[], SegmentDoor][] = [
    [routes, NO_DOOR],
    [agent.routes, { cors: 'agent', beforeLimits: pass, answer: agent }],
    [domain.routes, { cors: 'domain', beforeLimits: pass, answer: domain }],
  ];
  const doors = listed.flatMap(([all, door]) => all.map(({ path }) => [firstSegment(path), door] as const));
  return new Map([...doors, [firstSegment(sockets.path), socketDoor]]);
}

// Refusals under /v1 have the problem format of the domain service, also those made before its routes.
function answerEarlyProblems(): Middleware {
  const answerProblems = problems((error) => {
    if (!(error instanceof Refusal)) throw error;
  });
  return (ctx, next) => (ctx.path.startsWith('/v1/') ? answerProblems(ctx, next) : next());
}
