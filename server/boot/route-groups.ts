// The table of all routes of this server. A door that is added brings its groups.

import { MODEL_ROUTES } from '../agent/models.ts';
import { AGENT_ROUTES } from '../agent/routes.ts';
import type { Config } from '../config/config.ts';
import { DOCS_ROUTES } from '../docs/routes.ts';
import { HEALTH_ROUTES } from '../health/routes.ts';
import type { DeclaredRoute, RouteGroup } from '../http/route-table.ts';
import { BULK_PART } from '../openapi/parts/bulk.ts';
import { CARDS_PART, STATUS_LISTS_PART } from '../openapi/parts/credentials.ts';
import { EVENTS_PART } from '../openapi/parts/events.ts';
import { IDENTIFIERS_PART } from '../openapi/parts/identifiers.ts';
import { PROPOSALS_PART } from '../openapi/parts/proposals.ts';
import { PROTOCOLS_PART } from '../openapi/parts/protocols.ts';
import { LIMITS_PART } from '../openapi/parts/service-limits.ts';
import { TWINS_PART } from '../openapi/parts/twins.ts';
import { WEBHOOKS_PART } from '../openapi/parts/webhooks.ts';
import { ussdRouteGroup } from '../ussd/dialects.ts';
import { operatorRouteGroup } from '../ussd/operator-routes.ts';
import { INSPECTOR_ROUTES } from '../web/inspector/routes.ts';
import { PAGE_FILE_ROUTES } from '../web/kit/routes.ts';
import { OPERATOR_PAGES } from '../web/kit/tools.ts';

/** Every route of the server that is known before it runs; plugins and the query gateway bring theirs. */
export function routeGroups({ metricsPort, ussd }: Pick<Config, 'metricsPort' | 'ussd'>): RouteGroup[] {
  return [
    ussdRouteGroup(ussd),
    TWINS_PART,
    PROTOCOLS_PART,
    PROPOSALS_PART,
    EVENTS_PART,
    WEBHOOKS_PART,
    BULK_PART,
    CARDS_PART,
    STATUS_LISTS_PART,
    IDENTIFIERS_PART,
    LIMITS_PART,
    AGENT_ROUTES,
    MODEL_ROUTES,
    operatorRouteGroup({ metrics: metricsPort === undefined }),
    OPERATOR_PAGES,
    INSPECTOR_ROUTES,
    HEALTH_ROUTES,
    DOCS_ROUTES,
    PAGE_FILE_ROUTES,
  ];
}

/** The same, as plugins are checked against them. */
export function ownRoutes(config: Pick<Config, 'metricsPort' | 'ussd'>): DeclaredRoute[] {
  return routeGroups(config).flatMap(({ access: usual = 'public', owns, routes }) =>
    routes.map(({ method, path, access = usual }) => ({ method, path, access, owns })),
  );
}
