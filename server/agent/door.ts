// The HTTP door of the agent service: sessions, messages, runs and delegations, with its own errors and authentication.

import type { Middleware, ParameterizedContext } from 'koa';
import type { Delegations } from '../../lib/delegation/delegations.ts';
import {
  addRoutes,
  firstSegment,
  listRoutes,
  newRouter,
  refuseUnrouted,
  routeKey,
  type ServedRoute,
} from '../http/route-table.ts';
import { requestInfo } from '../plugins/context.ts';
import type { Plugins } from '../plugins/open.ts';
import { routeAt } from '../plugins/routes.ts';
import { type AuthOptions, authenticateRequests, requireUser } from '../user/authenticate.ts';
import { type AgentErrorsOptions, answerAgentErrors } from '../user/errors.ts';
import { AGENT_INPUT } from '../user/input.ts';
import type { MessageDeps } from './message-routes.ts';
import { MODEL_ROUTES, type ModelSettings } from './models.ts';
import { AGENT_ROUTES } from './routes.ts';

export interface AgentDeps extends AuthOptions, MessageDeps, AgentErrorsOptions {
  readonly delegations: Delegations;
  readonly models: ModelSettings;
  readonly plugins: Pick<Plugins, 'doors' | 'routers' | 'routes' | 'free' | 'gate'>;
}

/** Serves the paths of the agent service and its plugins as one middleware; passes other paths on. */
export interface AgentDoor extends Middleware {
  readonly routes: readonly ServedRoute[];
  /** Routes that were made public and need no token. */
  readonly publicRoutes: readonly ServedRoute[];
}

/** Opens the door. Checks tokens on its own paths only, so that they cost nothing elsewhere. */
export function agentDoor(deps: AgentDeps): AgentDoor {
  const { plugins } = deps;
  const models = newRouter();
  addRoutes(models, MODEL_ROUTES, { deps: deps.models, input: AGENT_INPUT });
  const router = newRouter();
  addRoutes(router, AGENT_ROUTES, { deps, guards: { user: requireUser }, input: AGENT_INPUT });
  const routers = [router, ...plugins.routers];
  const routes = [...listRoutes(router), ...plugins.routes];
  const modelSegments = new Set(listRoutes(models).map(({ path }) => firstSegment(path)));
  const segments = new Set(routes.map(({ path }) => firstSegment(path)));
  const isFree = (ctx: ParameterizedContext) => plugins.free.size > 0 && plugins.free.has(routeAt(routers, ctx) ?? '');
  const answerModels = models.routes() as Middleware;
  const answer = tryInOrder([router.routes() as Middleware, ...plugins.doors]);
  const answerErrors = answerAgentErrors(deps);
  const authenticate = authenticateRequests(deps);
  const door: Middleware = (ctx, next) => {
    const segment = firstSegment(ctx.path);
    if (modelSegments.has(segment) && models.match(ctx.path, ctx.method).path.length > 0)
      return answerErrors(ctx, () =>
        answerModels(ctx, async () => refuseUnrouted(ctx, [models], { unknown: `Cannot ${ctx.method} ${ctx.path}` })),
      );
    if (!segments.has(segment)) return next();
    const last = async () => refuseUnrouted(ctx, routers, { unknown: `Cannot ${ctx.method} ${ctx.path}` });
    if (isFree(ctx)) return answerErrors(ctx, () => answer(ctx, last));
    return answerErrors(ctx, () =>
      authenticate(ctx, async () => {
        if (plugins.gate) await plugins.gate(requestInfo(ctx));
        return answer(ctx, last);
      }),
    );
  };
  return Object.assign(door, {
    routes: [...listRoutes(models), ...routes],
    publicRoutes: routes.filter((route) => plugins.free.has(routeKey(route))),
  });
}

function tryInOrder(doors: readonly Middleware[]): Middleware {
  return (ctx, last) => {
    const from = (at: number): Promise<unknown> => (at === doors.length ? last() : doors[at]!(ctx, () => from(at + 1)));
    return from(0);
  };
}
