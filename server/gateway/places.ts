// Which paths of the server belong to the gateway, and the methods and paths under which each route is served.

import { type GatewaySettings, legacyRewrites, type Route } from '../../lib/gateway/index.ts';
import { parseTemplate } from '../../lib/gateway/route/paths.ts';
import { firstSegment, type ServedRoute } from '../http/route-table.ts';
import type { Catalog, GatewayRoute } from './catalog.ts';

// The agent's sockets.
const NOT_IN_ROUTES = ['socket.io'];

/** The first path segments of other doors. */
export function listTaken(others: readonly ServedRoute[]): ReadonlySet<string> {
  return new Set([...others.map(({ path }) => firstSegment(path)), ...NOT_IN_ROUTES]);
}

/** Whether the gateway serves a path (still encoded, without the query). */
export type Owns = (path: string) => boolean;

/**
 * With prefixes, everything below them; without, every path that starts like a route or a rewrite. Paths whose first segment
 * is in `takenSegments` belong to other doors.
 */
export function ownership(
  { prefixes, rewrites, legacy }: GatewaySettings,
  { routes, taken: takenSegments }: { readonly routes: readonly Route[]; readonly taken: ReadonlySet<string> },
): Owns {
  const prefixList = Object.keys(prefixes);
  if (prefixList.length && !prefixList.includes('/'))
    return (path) =>
      prefixList.some(
        (prefix) => path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/'),
      ) && !takenSegments.has(firstSegment(path));
  const templates = [
    ...routes.map(({ template }) => template),
    ...[...rewrites, ...legacyRewrites(legacy)].map(({ from }) => from),
  ];
  const first = templates.map(firstSegment);
  // A template that starts with a variable matches any path, and so does the prefix /.
  const isOpen = prefixList.length > 0 || first.some((text) => /[{*]/.test(text));
  const own = new Set(first);
  return isOpen
    ? (path) => !takenSegments.has(firstSegment(path))
    : (path) => own.has(firstSegment(path)) && !takenSegments.has(firstSegment(path));
}

/** The templates under which a route is served, without rewrites: one for each prefix that maps to it. */
export function listServedTemplates({ template }: Route, { prefixes }: GatewaySettings): string[] {
  const prefixList = Object.entries(prefixes);
  if (!prefixList.length) return [template];
  const trimRoot = (prefix: string) => (prefix === '/' ? '' : prefix);
  const below = (path: string, prefix: string) => path === prefix || path.startsWith(`${trimRoot(prefix)}/`);
  return prefixList.flatMap(([from, to]) => {
    if (!below(template, to)) return [];
    const candidate = `${trimRoot(from)}${template.slice(trimRoot(to).length)}` || '/';
    // A longer prefix would take precedence.
    return prefixList.some(([other]) => other.length > from.length && below(candidate, other)) ? [] : [candidate];
  });
}

export interface Served {
  readonly method: string;
  /** In OpenAPI form: `/ixo/entity/{id}`; for `{name=shelves/*}` only the variable part: `/shelves/{name}`. */
  readonly path: string;
  readonly route: GatewayRoute;
  /** Names in the path, in order, each with its field (or the field it is part of), if any. */
  readonly names: readonly { readonly name: string; readonly field: string | undefined }[];
}

export interface Split {
  readonly served: readonly Served[];
  /** Templates whose paths belong to other doors. */
  readonly hidden: readonly string[];
}

// The methods under which a route for any method is listed.
const ANY = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** All routes under all their paths, without rewrites. Routes with the same shape get the same names. */
export function splitRoutes({ routes, settings }: Catalog, owns: Owns): Split {
  const served: Served[] = [];
  const hidden: string[] = [];
  const shapes = new Map<string, string>();
  const keys = new Set<string>();
  for (const route of routes)
    for (const template of listServedTemplates(route, settings)) {
      const { path, names } = nameVariables(template);
      if (!owns(path)) {
        hidden.push(template);
        continue;
      }
      const shape = path.replace(/\{\w+\}/g, '{}');
      const same = shapes.get(shape) ?? path;
      shapes.set(shape, same);
      const texts = [...same.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
      const uniformNames = names.map(({ field }, at) => ({ name: texts[at]!, field }));
      // A route for any method yields to one for this method.
      for (const method of route.method === '*' ? ANY : [route.method])
        if (!keys.has(`${method} ${shape}`)) {
          keys.add(`${method} ${shape}`);
          served.push({ method, path: same, route, names: uniformNames });
        }
    }
  return { served, hidden };
}

function nameVariables(template: string): Pick<Served, 'path' | 'names'> {
  const { segments, variables, verb } = parseTemplate(template);
  const names: { name: string; field: string | undefined }[] = [];
  const parts = segments.map((segment, at) => {
    if (segment.kind === 'literal') return segment.text;
    const field = variables.find(({ start, end = segments.length }) => at >= start && at < end)?.path;
    const base = (field ?? (segment.kind === 'rest' ? 'rest' : 'segment')).replaceAll('.', '_');
    const again = names.filter(({ name }) => name === base || name.startsWith(`${base}__`)).length;
    const name = again ? `${base}__${again + 1}` : base;
    names.push({ name, field });
    return `{${name}}`;
  });
  return { path: `/${parts.join('/')}${verb && `:${verb}`}`, names };
}
