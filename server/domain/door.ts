// The HTTP door of the domain service: /v1 and what stands around it, with its own errors and its own callers.

import Router from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import type { Resolver } from '../../lib/domain/did/resolution.ts';
import { refuse } from '../../lib/domain/problems.ts';
import type { Webhooks } from '../../lib/domain/webhook/webhooks.ts';
import { methodsAt, routesOf, type ServedRoute } from '../http/route-table.ts';
import type { ApiKeys } from './api-keys.ts';
import { authenticate } from './authenticate.ts';
import { ACCEPT_PATCH } from './body.ts';
import { problems } from './problem.ts';
import { type BulkDeps, bulkRoutes } from './routes/bulk.ts';
import { type CardDeps, cardRoutes, STATUS_PREFIX } from './routes/cards.ts';
import { type EventDeps, eventRoutes } from './routes/events.ts';
import { IDENTIFIER_ROUTES, identifierDoor } from './routes/identifiers.ts';
import { limitRoutes } from './routes/limits.ts';
import { type ProposalDeps, proposalRoutes } from './routes/proposals.ts';
import { protocolRoutes } from './routes/protocols.ts';
import { twinRoutes } from './routes/twins.ts';
import { webhookRoutes } from './routes/webhooks.ts';

export interface DomainDeps extends ProposalDeps, CardDeps, EventDeps, BulkDeps {
  readonly keys: ApiKeys;
  readonly resolve: Resolver;
  readonly webhooks: Webhooks;
  /** Told of everything that is our fault. */
  readonly onFault: (error: unknown, ctx: ParameterizedContext) => void;
}

/** Everything below /v1 and /1.0/identifiers, as one middleware. Other paths pass. */
export type DomainDoor = Middleware & { readonly routes: readonly ServedRoute[] };

/** Opens the door. */
export function domainDoor(deps: DomainDeps): DomainDoor {
  const router = new Router({ sensitive: true, strict: true });
  const { registry, idempotency, clock } = deps;
  twinRoutes(router, { registry, idempotency, clock });
  protocolRoutes(router, { protocols: registry.protocols, idempotency, clock });
  proposalRoutes(router, deps);
  cardRoutes(router, deps);
  eventRoutes(router, deps);
  webhookRoutes(router, deps);
  bulkRoutes(router, deps);
  limitRoutes(router);

  const routes = router.routes() as Middleware;
  const told = problems(deps.onFault);
  const known = authenticate(deps.keys);
  const identifiers = identifierDoor(deps);
  const door: Middleware = (ctx, next) => {
    if (ctx.path !== '/v1' && !ctx.path.startsWith('/v1/')) return identifiers(ctx, next);
    const answer = async () => {
      await routes(ctx, async () => nowhere(ctx, router));
      // Who listens in this process hears of a write at once.
      if (ctx.method !== 'GET' && ctx.method !== 'HEAD') deps.feed.nudge();
    };
    const asked = () => deps.pages.browsers(ctx, () => known(ctx, answer));
    return told(ctx, () => (ctx.path.startsWith(STATUS_PREFIX) ? answer() : asked()));
  };
  return Object.assign(door, { routes: [...routesOf(router), ...IDENTIFIER_ROUTES] });
}

// Reached when no route has answered: the address is unknown, or known for other methods, which OPTIONS asks for.
function nowhere(ctx: ParameterizedContext, router: Router): void {
  const methods = methodsAt([router], ctx);
  if (!methods.length) throw refuse('not-found', `There is nothing at ${ctx.path}.`);
  ctx.set('Allow', methods.join(', '));
  if (methods.includes('PATCH')) ctx.set('Accept-Patch', ACCEPT_PATCH);
  if (ctx.method === 'OPTIONS') {
    ctx.status = 204;
    return;
  }
  throw refuse('method-not-allowed', `${ctx.path} takes ${methods.join(', ')}, not ${ctx.method}.`);
}
