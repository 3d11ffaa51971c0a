// What /openapi.json says about the routes of a plugin: its own words, and the least that can be said of the rest.

import { TwinlineError } from '../../lib/errors.ts';
import type { ServedRoute } from '../http/route-list.ts';
import { type Method, type Part, pathNames, type Route } from '../openapi/operation.ts';
import { AGENT_PART } from '../openapi/parts/agent.ts';
import { AGENT_ERROR } from '../openapi/parts/agent-schemas.ts';
import type { Mounted } from './mount.ts';
import { keyOf } from './mount.ts';

/** The part of a plugin; `free` holds the keys of routes that need no token. */
export function pluginPart({ plugin, routes }: Mounted, free: ReadonlySet<string>): Part {
  const { name, version, documentation = {} } = plugin;
  const written = new Map((documentation.routes ?? []).map((route) => [keyOf(route), route]));
  const keys = new Set(routes.map(keyOf));
  const strays = [...written.keys()].filter((key) => !keys.has(key));
  if (strays.length)
    throw new TwinlineError('ERR_CONFIG', `PLUGINS: "${name}" documents ${strays.join(', ')}, which it does not have.`);
  const all = routes.map((route) => {
    const isFree = free.has(keyOf(route));
    return { ...(isFree && { security: [] }), ...(written.get(keyOf(route)) ?? leastOf(name, route)) };
  });
  const names = all.flatMap(({ path }) => pathNames(path));
  return {
    tag: `Plugin ${name}`,
    description: documentation.description ?? `Routes of the plugin ${name}, version ${version}.`,
    security: AGENT_PART.security!,
    answers: AGENT_PART.answers!,
    parameters: {
      ...Object.fromEntries(names.map((one) => [one, { description: one, schema: { type: 'string' } }])),
      ...documentation.parameters,
    },
    ...(documentation.schemas && { schemas: documentation.schemas }),
    routes: all,
  };
}

function leastOf(plugin: string, { method, path }: ServedRoute): Route {
  const braces = path.replace(/:(\w+)/g, '{$1}');
  return {
    method: method as Method,
    path: braces,
    id: `${plugin}-${method.toLowerCase()}${path.replace(/\W+/g, '-')}`,
    summary: `${method} ${braces}`,
    answers: {
      200: { description: 'What the plugin answers', types: { 'application/json': {} } },
      400: { description: 'Something is wrong with the request', types: { 'application/json': AGENT_ERROR } },
    },
  };
}
