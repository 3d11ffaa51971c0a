// The HTTP door of the domain service: /v1 and /1.0/identifiers, with their own errors and their own callers.

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

/** All that the handlers of the routes need. */
export interface DomainDeps extends TwinDeps, ProposalDeps, CardDeps, EventDeps, BulkDeps, IdentifierDeps, WebhookDeps {
  readonly keys: ApiKeys;
  /** Told of everything that is our fault. */
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

/** Everything below /v1 and /1.0/identifiers, as one middleware. Other paths pass. */
export type DomainDoor = Middleware & { readonly routes: readonly ServedRoute[] };

/** Opens the door. */
export function domainDoor(deps: DomainDeps): DomainDoor {
  const known = authenticate(deps.keys);
  // Browsers come with a pass to a page, or are shown how to get one.
  const guard: Middleware = (ctx, next) => deps.pages.browsers(ctx, () => known(ctx, next));
  const router = newRouter();
  for (const group of DOMAIN_ROUTES)
    addRoutes(router, group, { deps, guards: { 'api-key': guard }, input: DOMAIN_INPUT });

  const routes = router.routes() as Middleware;
  const answerProblems = problems(deps.onFault);
  const identifiers = identifierDoor(deps, known);
  const answer: Middleware = async (ctx) => {
    await routes(ctx, () => answerNowhere(ctx));
    // Listeners in this process get a write at once.
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') deps.feed.nudge();
  };

  // Reached when no route has answered: the address is unknown, or known for other methods, which OPTIONS asks for.
  async function answerNowhere(ctx: ParameterizedContext): Promise<void> {
    const isPublic = router.match(ctx.path, ctx.method).path.some(({ path }) => publicPaths.has(String(path)));
    if (!isPublic) await known(ctx, async () => {});
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

// A DID URL may hold slashes, which no path of a router takes.
function identifierDoor(deps: DomainDeps, known: Middleware): Middleware {
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
    // No key is needed; but a request with one sees only its own tenant.
    return ctx.get('authorization') === '' ? answer() : known(ctx, answer);
  };
}
