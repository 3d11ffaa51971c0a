// The table of all routes of this server. A door that is added brings its groups.

import { MODEL_ROUTES } from '../agent/models.ts';
import { AGENT_ROUTES } from '../agent/routes.ts';
import type { Config } from '../config/config.ts';
import { HEALTH_ROUTES } from '../health/routes.ts';
import type { DeclaredRoute, RouteGroup } from '../http/route-table.ts';
import { BULK_PART } from '../openapi/parts/bulk.ts';
import { CARDS_PART, STATUS_LISTS_PART } from '../openapi/parts/credentials.ts';
import { EVENTS_PART } from '../openapi/parts/events.ts';
import { IDENTIFIERS_PART } from '../openapi/parts/identifiers.ts';
import { INSPECTOR_PART } from '../openapi/parts/inspector.ts';
import { operatorPart } from '../openapi/parts/operator.ts';
import { DOCS_PART } from '../openapi/parts/own-pages.ts';
import { PROPOSALS_PART } from '../openapi/parts/proposals.ts';
import { PROTOCOLS_PART } from '../openapi/parts/protocols.ts';
import { LIMITS_PART } from '../openapi/parts/service-limits.ts';
import { TOOLS_PART } from '../openapi/parts/tools.ts';
import { TWINS_PART } from '../openapi/parts/twins.ts';
import { ussdPart } from '../openapi/parts/ussd.ts';
import { WEBHOOKS_PART } from '../openapi/parts/webhooks.ts';

/** Every route of the server that is known before it runs; plugins and the query gateway bring theirs. */
export function routeGroups({ metricsPort, ussd }: Pick<Config, 'metricsPort' | 'ussd'>): RouteGroup[] {
  return [
    ussdPart(ussd),
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
    operatorPart({ metrics: metricsPort === undefined }),
    TOOLS_PART,
    INSPECTOR_PART,
    HEALTH_ROUTES,
    DOCS_PART,
  ];
}

/** The same, as plugins are checked against them. */
export function ownRoutes(config: Pick<Config, 'metricsPort' | 'ussd'>): DeclaredRoute[] {
  return routeGroups(config).flatMap(({ access: usual = 'public', owns, routes }) =>
    routes.map(({ method, path, access = usual }) => ({ method, path, access, owns })),
  );
}
