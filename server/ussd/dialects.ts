// Declares the routes of the telecom dialects.

import type { Adapter, AdapterRoute } from '../../lib/ussd/adapter.ts';
import { createAdapters } from '../../lib/ussd/adapters.ts';
import { USSD_LIMITS } from '../../lib/ussd/limits.ts';
import { PLAIN_TYPE } from '../../lib/ussd/reply.ts';
import type { RouteDescription, RouteGroup } from '../http/route-table.ts';
import { CON_END, DIALECT_ROUTES, describeOwnRoute, SESSION, screen } from './dialect-bodies.ts';

export const USSD_BASE = '/api/ussd';
/** The dialect of the plain endpoint, at USSD_BASE itself. */
export const PLAIN_DIALECT = 'africastalking';

/** All dialect routes, as declared by their adapters. `errorStatus` is the HTTP status of a server error. */
export function ussdRouteGroup(
  { errorStatus }: { readonly errorStatus: number },
  adapters: Readonly<Record<string, Adapter>> = createAdapters('cumulative'),
): RouteGroup {
  return {
    tag: 'USSD',
    owns: ['/api'],
    description: `Called by the telecom gateways that USSD_GATEWAYS lists by address or by dialect secret.
Repeating a request with the same text is a retry and returns the same answer.
Bodies are JSON or forms, whatever their media type, of at most ${USSD_LIMITS.ussdBodyBytes} bytes.`,
    access: 'telecom',
    parameters: { id: { description: 'The id of the session', schema: SESSION } },
    routes: dialectRoutes(adapters).map((place) => describeRoute(place, errorStatus)),
  };
}

/** The routes of all adapters; the plain endpoint is also at the base. */
export function dialectRoutes(adapters: Readonly<Record<string, Adapter>>): DialectPlace[] {
  const places = Object.values(adapters).map((adapter) => ({ adapter, base: `${USSD_BASE}/${adapter.name}` }));
  const plain = { adapter: adapters[PLAIN_DIALECT]!, base: USSD_BASE };
  return [plain, ...places].flatMap(({ adapter, base }) =>
    adapter.routes.map((route) => ({ adapter, base, route, method: route.method, path: base + route.path })),
  );
}

export interface DialectPlace {
  readonly adapter: Adapter;
  readonly route: AdapterRoute;
  /** The base path of the adapter. */
  readonly base: string;
  readonly method: AdapterRoute['method'];
  readonly path: string;
}

function describeRoute({ adapter, route, method, path }: DialectPlace, errorStatus: number): RouteDescription {
  const description =
    DIALECT_ROUTES[`${method} ${path.slice(USSD_BASE.length)}`] ?? describeOwnRoute(adapter.name, route);
  const { types, body, ...rest } = description;
  const answers = { 200: screen(types), 429: { ...screen(types), headers: { 'Retry-After': 'Seconds to wait' } } };
  const forbidden = { description: 'USSD_GATEWAYS does not list the sender', types: { [PLAIN_TYPE]: CON_END } };
  const trouble = errorStatus === 200 ? {} : { [errorStatus]: screen(types) };
  return {
    ...{ method, path, ...rest },
    ...(body && { body: { ...body, maxBytes: USSD_LIMITS.ussdBodyBytes } }),
    answers: { ...answers, 403: forbidden, ...trouble },
  };
}
