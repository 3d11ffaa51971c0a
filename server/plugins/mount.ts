// The routes of plugins: which there are, which of them need no token, and which cannot be beside others.

import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { newRouter, routeKey, routesOf, type ServedRoute } from '../http/route-table.ts';
import { agentUser } from '../user/authenticate.ts';
import type { Plugin } from './plugin.ts';

/** A plugin with its routes. */
export interface Mounted {
  readonly plugin: Plugin;
  readonly router: Router;
  readonly routes: readonly ServedRoute[];
}

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const SEGMENT = /^:?[A-Za-z0-9_.~-]+$/;
/** First segments of paths that lead elsewhere before any plugin is asked. */
const TAKEN = new Set(['v1', '1.0', 'api', 'docs', 'pages', 'socket.io']);

/** The route that answers a request first, as its key; undefined when there is none. */
export function routeAt(routers: readonly Router[], asked: ServedRoute): string | undefined {
  const method = asked.method === 'HEAD' ? 'GET' : asked.method;
  for (const router of routers) {
    const layer = router.match(asked.path, method).pathAndMethod.find(({ methods }) => methods.length > 0);
    if (layer) return routeKey({ method, path: String(layer.path) });
  }
  return undefined;
}

/** What is wrong with the routes of plugins, in lines; `own` are those of the server. */
export function routeProblems(mounted: readonly Mounted[], own: readonly ServedRoute[]): string[] {
  const problems: string[] = [];
  const others = own.map((route) => ({ route, owner: 'Twinline' }));
  for (const { plugin, routes } of mounted) {
    const say = (why: string) => problems.push(`PLUGINS: "${plugin.name}" ${why}`);
    const seen = new Set<string>();
    for (const route of routes) {
      const key = routeKey(route);
      const flaw = flawOf(route);
      const other = others.find((one) => overlap(one.route, route));
      if (flaw) say(`has the route ${key}, ${flaw}`);
      else if (seen.has(key)) say(`has the route ${key} twice.`);
      else if (other)
        say(`has the route ${key}, which is ${routeKey(other.route)} of ${other.owner}. Use another path.`);
      seen.add(key);
    }
    for (const { path, method } of plugin.authExcluded ?? [])
      if (!freedBy({ path, method }, routes).length)
        say(
          `excludes ${method ? `${method.toUpperCase()} ` : ''}${path} from authentication, which is none of its routes. Write the path as the route has it.`,
        );
    others.push(...routes.map((route) => ({ route, owner: `"${plugin.name}"` })));
  }
  return problems;
}

function flawOf({ method, path }: ServedRoute): string | undefined {
  const [, first = '', ...rest] = path.split('/');
  if (!METHODS.has(method))
    return `whose method is not one of ${[...METHODS].join(', ')}. Name the methods one by one.`;
  if (!path.startsWith('/') || ![first, ...rest].every((segment) => SEGMENT.test(segment)))
    return 'whose path is not of plain segments and :parameters. Write it like /chats/:id.';
  if (first.startsWith(':')) return 'whose first segment is a parameter: it would take the paths of others.';
  return TAKEN.has(first)
    ? `and everything below /${first} is answered before plugins are asked. Use another path.`
    : undefined;
}

/** Whether some path leads to both. */
function overlap(a: ServedRoute, b: ServedRoute): boolean {
  const [left, right] = [routeKey(a).split('/'), routeKey(b).split('/')];
  return (
    left.length === right.length &&
    left.every((part, at) => part === right[at] || isParameter(part) || isParameter(right[at]!))
  );
}

const isParameter = (segment: string) => segment.startsWith(':');

/** The routes that an exclusion frees: those of exactly this path. */
export function freedBy(
  { path, method }: { readonly path: string; readonly method?: string | undefined },
  routes: readonly ServedRoute[],
): readonly ServedRoute[] {
  return routes.filter(
    (route) => route.path === path && (method === undefined || route.method === method.toUpperCase()),
  );
}

/** Refuses unauthenticated requests to routes that are not public, however the request reached them. */
export function closeRoutes({ router }: Pick<Mounted, 'router'>, free: ReadonlySet<string>): void {
  const known: Middleware = (ctx, next) => {
    agentUser(ctx);
    return next();
  };
  for (const { methods, path, stack } of router.stack)
    if (
      methods.length &&
      !methods.every((method) => free.has(routeKey({ method: method === 'HEAD' ? 'GET' : method, path: String(path) })))
    )
      stack.unshift(known as never);
  // Routes added later would not have been examined.
  Object.freeze(router.stack);
}

/** The routes of a plugin, once it has added them. */
export async function mount(plugin: Plugin, addRoutes: (router: Router) => Promise<void> | void): Promise<Mounted> {
  const router = newRouter();
  await addRoutes(router);
  return { plugin, router, routes: routesOf(router) };
}
