// The HTTP door of the agent service: sessions, messages, runs and delegations, with its own errors and its own callers.

import Router from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import type { Agent } from '../../lib/agent/agent.ts';
import type { Delegations } from '../../lib/delegation/delegations.ts';
import type { EventStreams } from '../event-streams.ts';
import { methodsAt, routesOf, type ServedRoute } from '../route-list.ts';
import { type AuthOptions, authenticateUsers } from './authenticate.ts';
import { delegationRoutes } from './delegation-routes.ts';
import { messageRoutes } from './message-routes.ts';
import { nest, nestErrors } from './nest.ts';
import { sessionRoutes } from './session-routes.ts';

export interface AgentDeps extends AuthOptions {
  readonly agent: Agent;
  readonly delegations: Delegations;
  readonly streams: EventStreams;
  /** Told of everything that is our fault. */
  readonly onFault: (error: unknown, ctx: ParameterizedContext) => void;
}

/** The addresses of the agent service, as one middleware. Other paths pass. */
export type AgentDoor = Middleware & { readonly routes: readonly ServedRoute[] };

const OWN = new Set(['sessions', 'messages', 'runs', 'delegation']);

/** Opens the door. Tokens are looked at on its own paths only: elsewhere they cost nothing. */
export function agentDoor(deps: AgentDeps): AgentDoor {
  const router = new Router({ sensitive: true, strict: true });
  sessionRoutes(router, deps.agent);
  messageRoutes(router, deps);
  delegationRoutes(router, deps.delegations);
  const routes = router.routes() as Middleware;
  const told = nestErrors(deps.onFault);
  const known = authenticateUsers(deps);
  const door: Middleware = (ctx, next) => {
    if (!OWN.has(ctx.path.split('/', 2)[1]!)) return next();
    return told(ctx, () => known(ctx, () => routes(ctx, async () => nowhere(ctx, router))));
  };
  return Object.assign(door, { routes: routesOf(router) });
}

function nowhere(ctx: ParameterizedContext, router: Router): void {
  const methods = methodsAt(router, ctx);
  if (!methods.length) throw nest(404, `Cannot ${ctx.method} ${ctx.path}`);
  ctx.set('Allow', methods.join(', '));
  throw nest(405, `${ctx.path} takes ${methods.join(', ')}`);
}
