// What a gateway serves: its routes with everything precomputed, and warnings about its configuration.

import { TwinlineError } from '../../lib/errors.ts';
import {
  compileRewrites,
  createJsonWriters,
  createRouteTable,
  createStatusAnswers,
  type Descriptors,
  type GatewaySettings,
  type HeadersBack,
  idlePatterns,
  isHttpBody,
  type JsonWriter,
  type JsonWriters,
  type LeftOut,
  legacyRewrites,
  type Match,
  type Route,
  rpcFilter,
  type StatusAnswers,
  withoutAddresses,
} from '../../lib/gateway/index.ts';
import type { GatewayFile } from './file.ts';

/** A route, and how its requests are handled. */
export interface GatewayRoute extends Route {
  /** `/package.Service/Method` */
  readonly grpcPath: string;
  /** `call`: by the node; otherwise a refusal. */
  readonly use: 'call' | 'disabled' | 'forbidden';
  readonly write: JsonWriter;
  /** Whether the reply is a google.api.HttpBody, which is returned as is and not as JSON. */
  readonly isRaw: boolean;
  /** Whether identical concurrent requests share a reply: only if nothing can be changed. */
  readonly isShared: boolean;
}

type GatewayMatch = Exclude<Match, { kind: 'found' }> | (Extract<Match, { kind: 'found' }> & { route: GatewayRoute });

export interface Catalog {
  readonly settings: GatewaySettings;
  readonly routes: readonly GatewayRoute[];
  readonly answers: StatusAnswers;
  /** Bindings that are not served, and why. */
  readonly left: readonly LeftOut[];
  /** Warnings for the operator, one line each. */
  readonly warnings: readonly string[];
  /** Matches the path of a request, still encoded and without the query. Throws ERR_INPUT. */
  match(method: string, path: string): GatewayMatch;
  /** How the node's metadata becomes response headers. */
  readonly back: HeadersBack;
}

/** Compiles the catalog. Throws ERR_CONFIG with every problem of the descriptors. */
export function createCatalog({ settings, source, descriptors: from }: GatewayFile, descriptors: Descriptors): Catalog {
  const isDisabled = rpcFilter(settings.disabled);
  const table = createRouteTable(descriptors, { ...(from && { source: from.source }), standsBack: isDisabled });
  if (!table.routes.length)
    throw new TwinlineError(
      'ERR_CONFIG',
      `${source}: none of the ${descriptors.methods.length} methods has a google.api.http option, so there are no routes. Compile the descriptors with their annotations.`,
    );
  const { prefixes, rewrites, legacy, unknownRoute, upstream } = settings;
  const rewrite = compileRewrites({ prefixes, rewrites, legacy: legacyRewrites(legacy) });
  const { registry } = descriptors;
  const writers = createJsonWriters({ registry, form: settings.json });
  const hide = [upstream, upstream.replace(/:\d+$/, '')].filter((text) => text.length > 3);
  const warnings = [
    ...findOddities(settings, table.routes),
    ...descriptors.left.map(({ field, error }) => `${field} is skipped: ${error}`),
    ...table.left.map(({ rpc, path, reason }) => `${rpc} is skipped${path && ` at ${path}`}: ${reason}`),
  ];
  const isForbidden = rpcFilter(settings.gate?.forbid ?? []);
  const routes = new Map<Route, GatewayRoute>();
  for (const route of table.routes) {
    const use = isForbidden(route.rpc) ? 'forbidden' : isDisabled(route.rpc) ? 'disabled' : 'call';
    routes.set(route, completeRoute(route, { use, writers, warnings }));
  }
  return {
    settings,
    routes: [...routes.values()],
    answers: createStatusAnswers({ registry, writers, hide, unknownRoute }),
    back: { named: settings.forwardHeaders, clean: (text) => withoutAddresses(text, hide) },
    left: table.left,
    warnings,
    match: (method, path) => {
      const inside = rewrite(path);
      if (inside === undefined) return UNKNOWN;
      const match = table.match(method, inside);
      return match.kind === 'found' ? { ...match, route: routes.get(match.route)! } : match;
    },
  };
}

const UNKNOWN = { kind: 'unknown' } as const;

interface CompletedRoute {
  readonly use: GatewayRoute['use'];
  readonly writers: JsonWriters;
  readonly warnings: string[];
}

function completeRoute(route: Route, { use, writers, warnings }: CompletedRoute): GatewayRoute {
  const { rpc, output, responseBody, method, streaming, body } = route;
  const isRaw = isHttpBody(output) && responseBody === '';
  const isShared = method === 'GET' && !streaming && body === '';
  const common = { ...route, grpcPath: `/${rpc}`, isRaw, isShared };
  if (use !== 'call') return { ...common, use, write: refuseToWrite };
  try {
    return { ...common, use, write: writers.findWriter(output, responseBody || undefined) };
  } catch (error) {
    warnings.push(`${rpc} is answered with 501: ${(error as Error).message}`);
    return { ...common, use: 'disabled', write: refuseToWrite };
  }
}

const refuseToWrite: JsonWriter = () => {
  throw new Error('a method that is not served has an answer');
};

function findOddities(
  { disabled: disabledPatterns, gate, prefixes }: GatewaySettings,
  routes: readonly Route[],
): string[] {
  const rpcs = routes.map(({ rpc }) => rpc);
  const idle = (name: string, patterns: readonly string[]) =>
    idlePatterns(patterns, rpcs).map((pattern) => `"${name}" has the pattern ${pattern}, which matches no method`);
  const leads = ([, to]: readonly [string, string]) =>
    to === '/' || routes.some(({ template }) => template === to || template.startsWith(`${to}/`));
  const lost = Object.entries(prefixes).filter((one) => !leads(one));
  return [
    ...idle('disabled', disabledPatterns),
    ...idle('gate.forbid', gate?.forbid ?? []),
    ...lost.map(([from, to]) => `the prefix ${from} maps to ${to}, where no route starts`),
  ];
}
