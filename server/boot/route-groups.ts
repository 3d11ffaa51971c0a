// The table of all routes of this server. A door that is added brings its groups.

import type { Config } from '../config/config.ts';
import { DOMAIN_ROUTES } from '../domain/door.ts';
import { HEALTH_ROUTES } from '../health/routes.ts';
import type { DeclaredRoute, RouteGroup } from '../http/route-table.ts';
import { AGENT_PART } from '../openapi/parts/agent.ts';
import { INSPECTOR_PART } from '../openapi/parts/inspector.ts';
import { MODELS_PART } from '../openapi/parts/models.ts';
import { operatorPart } from '../openapi/parts/operator.ts';
import { DOCS_PART } from '../openapi/parts/own-pages.ts';
import { TOOLS_PART } from '../openapi/parts/tools.ts';
import { ussdPart } from '../openapi/parts/ussd.ts';

/** Every route of the server that is known before it runs; plugins and the query gateway bring theirs. */
export function routeGroups({ metricsPort, ussd }: Pick<Config, 'metricsPort' | 'ussd'>): RouteGroup[] {
  return [
    ussdPart(ussd),
    ...DOMAIN_ROUTES,
    AGENT_PART,
    MODELS_PART,
    operatorPart({ metrics: metricsPort === undefined }),
    TOOLS_PART,
    INSPECTOR_PART,
    HEALTH_ROUTES,
    DOCS_PART,
  ];
}

/** The same, as plugins are checked against them. */
export function ownRoutes(config: Pick<Config, 'metricsPort' | 'ussd'>): DeclaredRoute[] {
  return routeGroups(config).flatMap((group) =>
    group.routes.map(({ method, path, access }) => ({ method, path, access: access ?? group.access ?? 'public' })),
  );
}
