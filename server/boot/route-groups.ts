// The table of all routes of this server. A door that is added brings its groups.

import type { Adapter } from '../../lib/ussd/adapter.ts';
import { MODEL_ROUTES } from '../agent/models.ts';
import { AGENT_ROUTES } from '../agent/routes.ts';
import type { Config } from '../config/config.ts';
import { DOCS_ROUTES } from '../docs/routes.ts';
import { DOMAIN_ROUTES } from '../domain/door.ts';
import { HEALTH_ROUTES } from '../health/routes.ts';
import type { Exceptions } from '../http/fast-path.ts';
import { type DeclaredRoute, pathNames, type RouteGroup } from '../http/route-table.ts';
import { CALLBACK_ROUTES } from '../ussd/callbacks.ts';
import { ussdRouteGroup } from '../ussd/dialects.ts';
import { operatorRouteGroup } from '../ussd/operator-routes.ts';
import { INSPECTOR_ROUTES } from '../web/inspector/routes.ts';
import { PAGE_FILE_ROUTES } from '../web/kit/routes.ts';
import { PREVIEW_ROUTES } from '../web/preview/routes.ts';
import { REGISTRY_ROUTES } from '../web/registry/routes.ts';
import { studioRouteGroup } from '../web/studio/open.ts';
import { OPERATOR_PAGES } from '../web/tools.ts';

/** What decides which routes there are. */
export type RouteSettings = Pick<Config, 'metricsPort' | 'ussd' | 'studio'>;

/** Telecom dialects by name. */
type Adapters = Readonly<Record<string, Adapter>>;

/**
 * Every route of the server that is known before it runs; plugins and the query gateway bring theirs. `adapters`: with those of
 * ADAPTERS, where there are some.
 */
export function routeGroups({ metricsPort, ussd, studio }: RouteSettings, adapters?: Adapters): RouteGroup[] {
  return [
    ussdRouteGroup(ussd, adapters),
    CALLBACK_ROUTES as RouteGroup,
    ...DOMAIN_ROUTES,
    AGENT_ROUTES,
    MODEL_ROUTES,
    operatorRouteGroup({ metrics: metricsPort === undefined }),
    OPERATOR_PAGES,
    INSPECTOR_ROUTES,
    studioRouteGroup(studio) as RouteGroup,
    ...(studio ? [PREVIEW_ROUTES as RouteGroup] : []),
    HEALTH_ROUTES,
    DOCS_ROUTES,
    PAGE_FILE_ROUTES,
    REGISTRY_ROUTES,
  ];
}

/** The same, as plugins are checked against them. */
export function ownRoutes(config: RouteSettings, adapters?: Adapters): DeclaredRoute[] {
  return routeGroups(config, adapters).flatMap(({ access: usual, owns, routes }) =>
    routes.map(({ method, path, access = usual }) => ({ method, path, access, owns })),
  );
}

// Probes are answered under overload too: else an orchestrator would restart a busy process. So is the health report.
export const ALWAYS_ANSWERED = new Set(HEALTH_ROUTES.routes.map(({ path }) => path));

/** By path: routes of `rate: 'none'`, where each name in a path has one of few values, and those that are always answered. */
export function listExceptions(groups: readonly RouteGroup[]): ReadonlyMap<string, Exceptions> {
  const uncounted = groups.flatMap(({ routes, parameters }) =>
    routes.filter(({ rate }) => rate === 'none').flatMap(({ path }) => listPaths(path, parameters)),
  );
  const exceptions = new Map<string, Exceptions>(uncounted.map((path) => [path, { uncounted: true }]));
  for (const path of ALWAYS_ANSWERED) exceptions.set(path, { ...exceptions.get(path), always: true });
  return exceptions;
}

// A flood of made-up names is counted.
function listPaths(path: string, parameters: RouteGroup['parameters'] = {}): string[] {
  const [name] = pathNames(path);
  if (name === undefined) return [path];
  const { enum: values = [] } = (parameters[name]?.schema ?? {}) as { readonly enum?: readonly string[] };
  return values.flatMap((value) => listPaths(path.replace(`:${name}`, value), parameters));
}
