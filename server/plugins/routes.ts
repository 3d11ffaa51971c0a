// The routes of plugins, listed or added by a function: their access, their problems, and their OpenAPI groups.

import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { suggest } from '../../lib/flow/expression/suggest.ts';
import { bearerCheck } from '../http/middleware/operator.ts';
import {
  addRoutes,
  type DeclaredRoute,
  listRoutes,
  type Method,
  newRouter,
  pathNames,
  type Route,
  type RouteGroup,
  routeKey,
  type ServedRoute,
} from '../http/route-table.ts';
import { requireUser } from '../user/authenticate.ts';
import { agentError, jsonAnswer, refusalAnswer, USER_ANSWERS } from '../user/errors.ts';
import { AGENT_INPUT } from '../user/input.ts';
import type { Excluded, Plugin, PluginContext, PluginSecret } from './plugin.ts';

/** A plugin with its routes. */
export interface Mounted {
  readonly plugin: Plugin;
  readonly router: Router;
  readonly routes: readonly ServedRoute[];
}

/** Mounts the routes of a plugin on their own router. User routes are open until {@link closeRoutes}. */
export async function mountPlugin(plugin: Plugin, ctx: PluginContext): Promise<Mounted> {
  const router = newRouter();
  const { name, routes = [] } = plugin;
  if (typeof routes === 'function') await routes(router, ctx);
  else
    for (const { access = 'user', ...route } of routes) {
      const isSecret = typeof access === 'object';
      const handle = route.handle as unknown as Route<PluginContext>['handle'];
      const declaration = {
        ...describeRoute(name, route),
        ...{ ...route, handle },
        access: isSecret ? ('api-key' as const) : access,
      };
      const group = { tag: name, description: '', access: 'user' as const, routes: [declaration] };
      const guards = {
        user: pass,
        operator: ctx.operatorsOnly as unknown as Middleware,
        ...(isSecret && { 'api-key': secretHolders(access, name) }),
      };
      addRoutes(router, group, { deps: ctx, guards, input: AGENT_INPUT });
    }
  return { plugin, router, routes: listRoutes(router) };
}

const pass: Middleware = (_ctx, next) => next();

function secretHolders({ bearer, name }: PluginSecret, plugin: string): Middleware {
  const holds = bearerCheck(bearer);
  return (ctx, next) => {
    if (holds(ctx.get('authorization'))) return next();
    ctx.set('WWW-Authenticate', `Bearer realm="${plugin}"`);
    throw agentError(401, `Send Authorization: Bearer <${name}>`);
  };
}

/** Requires a user on every route that is not free, however the request got there. */
export function closeRoutes({ router }: Pick<Mounted, 'router'>, free: ReadonlySet<string>): void {
  const isFree = (method: string, path: string) =>
    free.has(routeKey({ method: method === 'HEAD' ? 'GET' : method, path }));
  for (const { methods, path, stack } of router.stack)
    if (methods.length && !methods.every((method) => isFree(method, String(path)))) stack.unshift(requireUser as never);
  // Routes added later would bypass the checks.
  Object.freeze(router.stack);
}

/** Key of the route that answers a request; undefined if there is none. */
export function routeAt(routers: readonly Router[], request: ServedRoute): string | undefined {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  for (const router of routers) {
    const layer = router.match(request.path, method).pathAndMethod.find(({ methods }) => methods.length > 0);
    if (layer) return routeKey({ method, path: String(layer.path) });
  }
  return undefined;
}

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const SEGMENT = /^:?[A-Za-z0-9_.~-]+$/;

/** Problems with plugin routes, one per line; `own` are the server's routes. */
export function routeProblems(plugins: readonly Mounted[], own: readonly DeclaredRoute[]): string[] {
  const problems: string[] = [];
  const ownedPrefixes = new Set(own.flatMap(({ owns = [] }) => owns));
  const others = own.map((route): Owned => ({ route, owner: 'Twinline' }));
  for (const { plugin, routes } of plugins) {
    const say = (why: string) => problems.push(`PLUGINS: "${plugin.name}" ${why}`);
    const seen = new Set<string>();
    for (const route of routes) {
      const key = routeKey(route);
      const flaw = pathFlaw(route, ownedPrefixes);
      const other = others.find((one) => overlap(one.route, route));
      if (flaw) say(`has the route ${key}, ${flaw}`);
      else if (seen.has(key)) say(`has the route ${key} twice.`);
      else if (other)
        say(`has the route ${key}, which conflicts with ${routeKey(other.route)} of ${other.owner}. Use another path.`);
      seen.add(key);
    }
    for (const exclusion of plugin.authExcluded ?? [])
      if (!listExcludedKeys(exclusion, routes).length)
        say(
          `excludes ${exclusion.method ? `${exclusion.method.toUpperCase()} ` : ''}${exclusion.path} from authentication, but has no such route. Write the path as the route declares it.`,
        );
    const keys = new Set(routes.map(routeKey));
    const strays = (plugin.documentation?.routes ?? []).map(routeKey).filter((key) => !keys.has(key));
    if (strays.length) say(`documents ${strays.join(', ')}, but has no such route.`);
    others.push(...routes.map((route) => ({ route, owner: `"${plugin.name}"` })));
  }
  return problems;
}

type Owned = { readonly route: ServedRoute; readonly owner: string };

function pathFlaw({ method, path }: ServedRoute, prefixes: ReadonlySet<string>): string | undefined {
  const [, first = '', ...rest] = path.split('/');
  if (!METHODS.has(method))
    return `whose method is not one of ${[...METHODS].join(', ')}. List the methods individually.`;
  if (!path.startsWith('/') || ![first, ...rest].every((segment) => SEGMENT.test(segment)))
    return 'whose path must consist of plain segments and :parameters, such as /chats/:id.';
  if (first.startsWith(':')) return 'whose first segment is a parameter: it would match paths of other routes.';
  return prefixes.has(`/${first}`)
    ? `but the server answers everything under /${first} before plugins. Use another path.`
    : undefined;
}

/** Whether some path matches both. */
function overlap(a: ServedRoute, b: ServedRoute): boolean {
  const [left, right] = [routeKey(a).split('/'), routeKey(b).split('/')];
  return (
    left.length === right.length &&
    left.every((part, at) => part === right[at] || part.startsWith(':') || right[at]!.startsWith(':'))
  );
}

// An exclusion applies to exactly its path.
function listExcludedKeys({ path, method }: Excluded, routes: readonly ServedRoute[]): string[] {
  const isMeant = (route: ServedRoute) => method === undefined || route.method === method.toUpperCase();
  return routes.filter((route) => route.path === path && isMeant(route)).map(routeKey);
}

export interface Exclusions {
  /** Keys of routes that need no user token, as written by {@link routeKey}. */
  readonly free: ReadonlySet<string>;
  readonly problems: readonly string[];
}

/**
 * Finds the routes that need no user token: those declared so, and those in AUTH_EXCLUDED. Operators may exclude plugin and
 * agent routes. Naming a route that is public anyway is allowed; naming one with its own credentials is an error.
 */
export function findExclusions(
  exclusions: readonly string[],
  { mounted: plugins, own }: { readonly mounted: readonly Mounted[]; readonly own: readonly DeclaredRoute[] },
): Exclusions {
  const free = new Set(plugins.flatMap(listFreeRoutes));
  const ours = own.filter(({ access }) => access === 'user').map(routeKey);
  const freeable = new Set([...ours, ...plugins.flatMap(({ routes }) => routes.map(routeKey))]);
  const open = new Set(own.filter(({ access }) => access === 'public' || access === 'telecom').map(routeKey));
  const problems = exclusions.flatMap((line) => {
    const key = line.replace(/\{(\w+)\}/g, ':$1');
    if (freeable.has(key)) free.add(key);
    if (freeable.has(key) || open.has(key)) return [];
    const other = own.some((route) => routeKey(route) === key);
    const why = other ? 'is a route with its own credentials' : `is not a route.${suggest(key, [...freeable])}`;
    return [`AUTH_EXCLUDED: "${line}" ${why}${/[.?]$/.test(why) ? '' : '.'} Write routes as in /openapi.json.`];
  });
  return { free, problems };
}

function listFreeRoutes({ plugin, routes }: Mounted): string[] {
  if (Array.isArray(plugin.routes))
    return plugin.routes.filter(({ access = 'user' }) => access !== 'user').map(routeKey);
  return (plugin.authExcluded ?? []).flatMap((exclusion) => listExcludedKeys(exclusion, routes));
}

/** The OpenAPI group of a plugin: its own documentation, with minimal defaults. */
export function pluginGroup({ plugin, routes }: Mounted, free: ReadonlySet<string>): RouteGroup {
  const { name, version, documentation = {} } = plugin;
  const declared = Array.isArray(plugin.routes) ? plugin.routes : undefined;
  const words = new Map((declared ?? documentation.routes ?? []).map((route) => [routeKey(route), route]));
  const all = routes.map((route) => {
    const key = routeKey(route);
    const isOperators = declared !== undefined && words.get(key)?.access === 'operator';
    const access = isOperators ? 'operator' : free.has(key) ? 'public' : 'user';
    return { ...describeRoute(name, route), ...words.get(key), path: route.path, access } as const;
  });
  const names = all.flatMap(({ path }) => pathNames(path));
  return {
    tag: `Plugin ${name}`,
    description: documentation.description ?? `Routes of the plugin ${name}, version ${version}.`,
    access: 'user',
    answers: USER_ANSWERS,
    parameters: {
      ...Object.fromEntries(names.map((one) => [one, { description: one, schema: { type: 'string' } }])),
      ...documentation.parameters,
    },
    ...(documentation.schemas && { schemas: documentation.schemas }),
    routes: all,
  };
}

function describeRoute(plugin: string, { method, path }: ServedRoute) {
  return {
    method: method as Method,
    path,
    id: `${plugin}-${method.toLowerCase()}${path.replace(/\W+/g, '-')}`,
    summary: `${method} ${path.replace(/:(\w+)/g, '{$1}')}`,
    answers: {
      200: jsonAnswer('The response of the plugin', {}),
      400: refusalAnswer('The request is invalid'),
    },
  };
}
