// The HTTP door of the agent service: sessions, messages, runs and delegations, with its own errors and its own callers.

import type Router from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import type { Agent } from '../../lib/agent/agent.ts';
import type { Delegations } from '../../lib/delegation/delegations.ts';
import type { EventStreams } from '../http/event-streams.ts';
import { firstSegment, methodsAt, newRouter, routeKey, routesOf, type ServedRoute } from '../http/route-table.ts';
import { requestInfo } from '../plugins/host/request-info.ts';
import { routeAt } from '../plugins/mount.ts';
import type { Plugins } from '../plugins/open.ts';
import { type AuthOptions, authenticateUsers } from '../user/authenticate.ts';
import { agentError, answerAgentErrors } from '../user/errors.ts';
import { delegationRoutes } from './delegation-routes.ts';
import { type MessageDeps, messageRoutes } from './message-routes.ts';
import { sessionRoutes } from './session-routes.ts';

export interface AgentDeps extends AuthOptions {
  readonly agent: Agent;
  readonly delegations: Delegations;
  readonly streams: EventStreams;
  readonly readers: MessageDeps['readers'];
  readonly plugins: Pick<Plugins, 'doors' | 'routers' | 'routes' | 'free' | 'gate'>;
  /** Told of everything that is our fault. */
  readonly onFault: (error: unknown, ctx: ParameterizedContext) => void;
}

/** The addresses of the agent service and of its plugins, as one middleware. Other paths pass. */
export interface AgentDoor extends Middleware {
  readonly routes: readonly ServedRoute[];
  /** Those for which no token is needed. */
  readonly publicRoutes: readonly ServedRoute[];
}

const OWN = ['sessions', 'messages', 'runs', 'delegation'];

/** Opens the door. Tokens are looked at on its own paths only: elsewhere they cost nothing. */
export function agentDoor(deps: AgentDeps): AgentDoor {
  const { plugins } = deps;
  const router = newRouter();
  sessionRoutes(router, deps.agent);
  messageRoutes(router, deps);
  delegationRoutes(router, deps.delegations);
  const routers = [router, ...plugins.routers];
  const routes = [...routesOf(router), ...plugins.routes];
  const owned = new Set([...OWN, ...plugins.routes.map(({ path }) => firstSegment(path))]);
  const isFree = (ctx: ParameterizedContext) => plugins.free.size > 0 && plugins.free.has(routeAt(routers, ctx) ?? '');
  const answer = inTurn([router.routes() as Middleware, ...plugins.doors]);
  const told = answerAgentErrors(deps.onFault);
  const known = authenticateUsers(deps);
  const door: Middleware = (ctx, next) => {
    if (!owned.has(firstSegment(ctx.path))) return next();
    const last = async () => nowhere(ctx, routers);
    if (isFree(ctx)) return told(ctx, () => answer(ctx, last));
    return told(ctx, () =>
      known(ctx, async () => {
        await plugins.gate(requestInfo(ctx));
        return answer(ctx, last);
      }),
    );
  };
  return Object.assign(door, { routes, publicRoutes: routes.filter((route) => plugins.free.has(routeKey(route))) });
}

function inTurn(doors: readonly Middleware[]): Middleware {
  return (ctx, last) => {
    const from = (at: number): Promise<unknown> => (at === doors.length ? last() : doors[at]!(ctx, () => from(at + 1)));
    return from(0);
  };
}

function nowhere(ctx: ParameterizedContext, routers: readonly Router[]): void {
  const methods = methodsAt(routers, ctx);
  if (!methods.length) throw agentError(404, `Cannot ${ctx.method} ${ctx.path}`);
  ctx.set('Allow', methods.join(', '));
  throw agentError(405, `${ctx.path} takes ${methods.join(', ')}`);
}
