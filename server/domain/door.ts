// The HTTP door of the domain service: /v1 and /1.0/identifiers, with their own errors and authentication.

import type { Middleware, ParameterizedContext } from 'koa';
import {
  addRoutes,
  findHandler,
  listRoutes,
  newRouter,
  type RouteGroup,
  type RouteRequest,
  refuseMethod,
  refuseUnrouted,
  type ServedRoute,
} from '../http/route-table.ts';
import { problems } from './answers.ts';
import { type ApiKeys, authenticate } from './api-keys.ts';
import { ACCEPT_PATCH, DOMAIN_INPUT } from './requests.ts';
import { BULK_ROUTES, type BulkDeps } from './routes/bulk.ts';
import { CARD_ROUTES, type CardDeps, STATUS_LIST_ROUTES } from './routes/cards.ts';
import { EVENT_ROUTES, type EventDeps } from './routes/events.ts';
import { IDENTIFIER_PREFIX, IDENTIFIER_ROUTES, type IdentifierDeps } from './routes/identifiers.ts';
import { LIMIT_ROUTES } from './routes/limits.ts';
import { PROPOSAL_ROUTES, type ProposalDeps } from './routes/proposals.ts';
import { PROTOCOL_ROUTES } from './routes/protocols.ts';
import type { TwinDeps } from './routes/twin-changes.ts';
import { TWIN_ROUTES } from './routes/twins.ts';
import { WEBHOOK_ROUTES, type WebhookDeps } from './routes/webhooks.ts';

/** The dependencies of the handlers. */
export interface DomainDeps extends TwinDeps, ProposalDeps, CardDeps, EventDeps, BulkDeps, IdentifierDeps, WebhookDeps {
  readonly keys: ApiKeys;
  /** Reports an internal error. */
  readonly onFault: (error: unknown, request: Pick<RouteRequest, 'state'>) => void;
}

/** Every route of the service, in the order of the documentation. */
export const DOMAIN_ROUTES: readonly RouteGroup<DomainDeps>[] = [
  TWIN_ROUTES,
  PROTOCOL_ROUTES,
  PROPOSAL_ROUTES,
  EVENT_ROUTES,
  WEBHOOK_ROUTES,
  BULK_ROUTES,
  CARD_ROUTES,
  STATUS_LIST_ROUTES,
  IDENTIFIER_ROUTES,
  LIMIT_ROUTES,
];

/** Serves everything below /v1 and /1.0/identifiers as one middleware; passes other paths on. */
export type DomainDoor = Middleware & { readonly routes: readonly ServedRoute[] };

/** Opens the door. */
export function domainDoor(deps: DomainDeps): DomainDoor {
  const requireKey = authenticate(deps.keys);
  // Browsers have a pass for a page, or are told how to get one.
  const guard: Middleware = (ctx, next) => deps.pages.browsers(ctx, () => requireKey(ctx, next));
  const router = newRouter();
  for (const group of DOMAIN_ROUTES)
    addRoutes(router, group, { deps, guards: { 'api-key': guard }, input: DOMAIN_INPUT });

  const routes = router.routes() as Middleware;
  const answerProblems = problems(deps.onFault);
  const identifiers = identifierDoor(deps, requireKey);
  const answer: Middleware = async (ctx) => {
    await routes(ctx, () => answerNowhere(ctx));
    // Followers in this process see a write at once.
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') deps.feed.nudge();
  };

  // Called when no route matched: an unknown path, another method, or OPTIONS.
  async function answerNowhere(ctx: ParameterizedContext): Promise<void> {
    const isPublic = router.match(ctx.path, ctx.method).path.some(({ path }) => publicPaths.has(String(path)));
    if (!isPublic) await requireKey(ctx, async () => {});
    refuseUnrouted(ctx, [router], { unknown: `There is nothing at ${ctx.path}.`, patch: ACCEPT_PATCH });
  }

  const door: Middleware = (ctx, next) => {
    if (ctx.path.startsWith(IDENTIFIER_PREFIX)) return answerProblems(ctx, () => identifiers(ctx, next));
    if (ctx.path !== '/v1' && !ctx.path.startsWith('/v1/')) return next();
    return answerProblems(ctx, () => answer(ctx, next));
  };
  return Object.assign(door, { routes: listRoutes(router) });
}

const publicPaths = new Set(
  DOMAIN_ROUTES.flatMap(({ routes, access: usual }) =>
    routes.filter(({ access = usual }) => access === 'public').map(({ path }) => path),
  ),
);

// A DID URL may contain slashes, which router paths cannot match.
function identifierDoor(deps: DomainDeps, requireKey: Middleware): Middleware {
  const methods = ['GET', 'HEAD', 'POST'];
  return (ctx) => {
    const method = ctx.method === 'HEAD' ? 'GET' : ctx.method;
    const route = IDENTIFIER_ROUTES.routes.find((one) => one.method === method);
    const handle = route && findHandler(route);
    if (!handle) {
      ctx.set('Allow', methods.join(', '));
      throw refuseMethod(ctx, methods);
    }
    const answer = async () => handle(ctx as never, deps);
    // No key is required, but a request with one sees only its own tenant.
    return ctx.get('authorization') === '' ? answer() : requireKey(ctx, answer);
  };
}
