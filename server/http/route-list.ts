// What the routers of a server answer: their methods and addresses, for its documentation and for people.

import type Router from '@koa/router';
import type { ServedRoute } from '../boot/running-server.ts';

export type { ServedRoute };

/** The routes of a router, in order. HEAD is not named beside GET, and what only passes requests on is left out. */
export function routesOf({ stack }: Router): ServedRoute[] {
  return stack.flatMap(({ path, methods }) =>
    methods.filter((method) => method !== 'HEAD').map((method) => ({ method, path: String(path) })),
  );
}

/** The methods that an address takes; none when the router does not know it. */
export function methodsAt(
  router: Router,
  { path, method }: { readonly path: string; readonly method: string },
): string[] {
  return [...new Set(router.match(path, method).path.flatMap(({ methods }) => methods))];
}
