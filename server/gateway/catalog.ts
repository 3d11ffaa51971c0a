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
  type LeftOut,
  legacyRewrites,
  type Match,
  type RewritePath,
  type Route,
  type RpcFilter,
  rpcFilter,
  type StatusAnswers,
  withoutAddresses,
} from '../../lib/gateway/index.ts';
import type { GatewayFile } from './file.ts';

/** How requests for one route are answered. */
export interface Plan {
  readonly route: Route;
  /** `/package.Service/Method` */
  readonly path: string;
  /** `call`: by the node; else a refusal. */
  readonly use: 'call' | 'disabled' | 'forbidden';
  readonly write: JsonWriter;
  /** The reply is a google.api.HttpBody, which is answered as it is and not as JSON. */
  readonly isRaw: boolean;
  /** Whether those who ask the same at the same time get one answer: only where nothing can be changed. */
  readonly isShared: boolean;
}

export interface Catalog {
  readonly settings: GatewaySettings;
  readonly routes: readonly Route[];
  readonly answers: StatusAnswers;
  /** What no request can reach, and why. */
  readonly left: readonly LeftOut[];
  /** What the operator should know, one line each. */
  readonly warnings: readonly string[];
  /** Finds the route for the path of a request as it came, without its query. Throws ERR_INPUT. */
  match(method: string, path: string): Match;
  planOf(route: Route): Plan;
  /** How metadata of the node come back. */
  readonly back: HeadersBack;
  /** The path in the descriptors; undefined when no prefix serves it. */
  readonly rewrite: RewritePath;
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
  const answers = createStatusAnswers({ registry, writers, hide, unknownRoute });
  const warnings = [
    ...oddities(settings, table.routes),
    ...descriptors.left.map(({ field, error }) => `${field} is left out: ${error}`),
    ...table.left.map(({ rpc, path, reason }) => `${rpc} is left out${path && ` at ${path}`}: ${reason}`),
  ];
  const isForbidden = rpcFilter(settings.gate?.forbid ?? []);
  const planning = { isForbidden, isDisabled, writers, warnings };
  const plans = new Map(table.routes.map((route) => [route, planOf(route, planning)]));
  return {
    settings,
    routes: table.routes,
    answers,
    back: { named: settings.forwardHeaders, clean: (text) => withoutAddresses(text, hide) },
    left: table.left,
    warnings,
    rewrite,
    match: (method, path) => {
      const inside = rewrite(path);
      return inside === undefined ? UNKNOWN : table.match(method, inside);
    },
    planOf: (route) => plans.get(route)!,
  };
}

const UNKNOWN: Match = { kind: 'unknown' };

interface Planning {
  readonly isForbidden: RpcFilter;
  readonly isDisabled: RpcFilter;
  readonly writers: ReturnType<typeof createJsonWriters>;
  readonly warnings: string[];
}

function planOf(route: Route, { isForbidden, isDisabled, writers, warnings }: Planning): Plan {
  const { rpc, output, responseBody, method, streaming, body } = route;
  const isRaw = isHttpBody(output) && responseBody === '';
  const one = { route, path: `/${rpc}`, isRaw, isShared: method === 'GET' && !streaming && body === '' };
  if (isForbidden(rpc)) return { ...one, use: 'forbidden', write: noWriter };
  if (isDisabled(rpc)) return { ...one, use: 'disabled', write: noWriter };
  try {
    return { ...one, use: 'call', write: writers.writerOf(output, responseBody || undefined) };
  } catch (error) {
    warnings.push(`${rpc} is answered with 501: ${(error as Error).message}`);
    return { ...one, use: 'disabled', write: noWriter };
  }
}

const noWriter: JsonWriter = () => {
  throw new Error('a method that is not served has an answer');
};

function oddities({ disabled, gate, prefixes }: GatewaySettings, routes: readonly Route[]): string[] {
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
