// What a gateway serves: its routes with all that is known of each before a request comes, and what is odd about them.

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

/** A route, and how its requests are answered. */
export interface GatewayRoute extends Route {
  /** `/package.Service/Method` */
  readonly grpcPath: string;
  /** `call`: by the node; else a refusal. */
  readonly use: 'call' | 'disabled' | 'forbidden';
  readonly write: JsonWriter;
  /** The reply is a google.api.HttpBody, which is answered as it is and not as JSON. */
  readonly isRaw: boolean;
  /** Whether those who ask the same at the same time get one answer: only where nothing can be changed. */
  readonly isShared: boolean;
}

type GatewayMatch = Exclude<Match, { kind: 'found' }> | (Extract<Match, { kind: 'found' }> & { route: GatewayRoute });

export interface Catalog {
  readonly settings: GatewaySettings;
  readonly routes: readonly GatewayRoute[];
  readonly answers: StatusAnswers;
  /** What no request can reach, and why. */
  readonly left: readonly LeftOut[];
  /** What the operator should know, one line each. */
  readonly warnings: readonly string[];
  /** Finds the route for the path of a request as it came, without its query. Throws ERR_INPUT. */
  match(method: string, path: string): GatewayMatch;
  /** How metadata of the node come back. */
  readonly back: HeadersBack;
}

/** Compiles it all. Throws ERR_CONFIG with every problem of the descriptors. */
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
    ...descriptors.left.map(({ field, error }) => `${field} is left out: ${error}`),
    ...table.left.map(({ rpc, path, reason }) => `${rpc} is left out${path && ` at ${path}`}: ${reason}`),
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

function findOddities({ disabled, gate, prefixes }: GatewaySettings, routes: readonly Route[]): string[] {
  const rpcs = routes.map(({ rpc }) => rpc);
  const idle = (name: string, patterns: readonly string[]) =>
    idlePatterns(patterns, rpcs).map((pattern) => `"${name}" has the pattern ${pattern}, which means no method`);
  const leads = ([, to]: readonly [string, string]) =>
    to === '/' || routes.some(({ template }) => template === to || template.startsWith(`${to}/`));
  const lost = Object.entries(prefixes).filter((one) => !leads(one));
  return [
    ...idle('disabled', disabled),
    ...idle('gate.forbid', gate?.forbid ?? []),
    ...lost.map(([from, to]) => `the prefix ${from} leads to ${to}, where no route begins`),
  ];
}
