// What /openapi.json says about the routes of a plugin: its own words, and the least that can be said of the rest.

import { TwinlineError } from '../../lib/errors.ts';
import {
  type Method,
  pathNames,
  type RouteDescription,
  type RouteGroup,
  routeKey,
  type ServedRoute,
} from '../http/route-table.ts';
import { AGENT_ERROR, USER_ANSWERS } from '../user/errors.ts';
import type { Mounted } from './mount.ts';

/** The part of a plugin; `free` holds the keys of routes that need no token. */
export function pluginPart({ plugin, routes }: Mounted, free: ReadonlySet<string>): RouteGroup {
  const { name, version, documentation = {} } = plugin;
  const written = new Map((documentation.routes ?? []).map((route) => [routeKey(route), route]));
  const keys = new Set(routes.map(routeKey));
  const strays = [...written.keys()].filter((key) => !keys.has(key));
  if (strays.length)
    throw new TwinlineError('ERR_CONFIG', `PLUGINS: "${name}" documents ${strays.join(', ')}, which it does not have.`);
  const all = routes.map((route) => {
    const declared: RouteDescription = written.get(routeKey(route)) ?? leastOf(name, route);
    const access = declared.access ?? (free.has(routeKey(route)) ? 'public' : 'user');
    return { ...declared, path: declared.path.replace(/\{(\w+)\}/g, ':$1'), access };
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

function leastOf(plugin: string, { method, path }: ServedRoute): RouteDescription {
  const braces = path.replace(/:(\w+)/g, '{$1}');
  return {
    method: method as Method,
    path,
    id: `${plugin}-${method.toLowerCase()}${path.replace(/\W+/g, '-')}`,
    summary: `${method} ${braces}`,
    answers: {
      200: { description: 'What the plugin answers', types: { 'application/json': {} } },
      400: { description: 'Something is wrong with the request', types: { 'application/json': AGENT_ERROR } },
    },
  };
}
