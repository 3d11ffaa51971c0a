// Which addresses of the server are the gateway's, and under which each route is served: methods and paths, with a name for
// each part of a path that varies.

import { type GatewaySettings, legacyRewrites, type Route } from '../../lib/gateway/index.ts';
import { parseTemplate } from '../../lib/gateway/route/paths.ts';
import { firstSegment, type ServedRoute } from '../http/route-table.ts';
import type { Catalog, GatewayRoute } from './catalog.ts';

// Sockets of the agent.
const NOT_IN_ROUTES = ['socket.io'];

/** How paths of other doors begin. */
export function listTaken(others: readonly ServedRoute[]): ReadonlySet<string> {
  return new Set([...others.map(({ path }) => firstSegment(path)), ...NOT_IN_ROUTES]);
}

/** Whether a path (as it came, without its query) is the gateway's to answer. */
export type Owns = (path: string) => boolean;

/**
 * With prefixes, what lies below them; without, every path that begins like a route or a rewrite. Paths that begin as
 * those of other doors do, in `taken`, are theirs.
 */
export function ownership(
  { prefixes, rewrites, legacy }: GatewaySettings,
  { routes, taken }: { readonly routes: readonly Route[]; readonly taken: ReadonlySet<string> },
): Owns {
  const given = Object.keys(prefixes);
  if (given.length && !given.includes('/'))
    return (path) =>
      given.some(
        (prefix) => path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/'),
      ) && !taken.has(firstSegment(path));
  const templates = [
    ...routes.map(({ template }) => template),
    ...[...rewrites, ...legacyRewrites(legacy)].map(({ from }) => from),
  ];
  const first = templates.map(firstSegment);
  // A template that begins with a variable takes any path, and so does the prefix /.
  const isOpen = given.length > 0 || first.some((text) => /[{*]/.test(text));
  const own = new Set(first);
  return isOpen
    ? (path) => !taken.has(firstSegment(path))
    : (path) => own.has(firstSegment(path)) && !taken.has(firstSegment(path));
}

/** The templates under which a route is served, rewrites aside: one for each prefix that leads to it. */
export function listServedTemplates({ template }: Route, { prefixes }: GatewaySettings): string[] {
  const given = Object.entries(prefixes);
  if (!given.length) return [template];
  const trimRoot = (prefix: string) => (prefix === '/' ? '' : prefix);
  const below = (path: string, prefix: string) => path === prefix || path.startsWith(`${trimRoot(prefix)}/`);
  return given.flatMap(([from, to]) => {
    if (!below(template, to)) return [];
    const served = `${trimRoot(from)}${template.slice(trimRoot(to).length)}` || '/';
    // A longer prefix would take it.
    return given.some(([other]) => other.length > from.length && below(served, other)) ? [] : [served];
  });
}

export interface Served {
  readonly method: string;
  /** As OpenAPI writes it: `/ixo/entity/{id}`; of `{name=shelves/*}` what varies alone: `/shelves/{name}`. */
  readonly path: string;
  readonly route: GatewayRoute;
  /** Names in the path, in order, with the field that each is (or is a part of), if it is one. */
  readonly names: readonly { readonly name: string; readonly field: string | undefined }[];
}

export interface Split {
  readonly served: readonly Served[];
  /** Templates whose paths belong to other doors. */
  readonly hidden: readonly string[];
}

// What a route for any method is listed under.
const ANY = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** All routes under all addresses, rewrites aside. Two with one shape have the same names. */
export function splitRoutes({ routes, settings }: Catalog, owns: Owns): Split {
  const served: Served[] = [];
  const hidden: string[] = [];
  const shapes = new Map<string, string>();
  const known = new Set<string>();
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
      const renamed = names.map(({ field }, at) => ({ name: texts[at]!, field }));
      // A route for any method stands back where there is one for this.
      for (const method of route.method === '*' ? ANY : [route.method])
        if (!known.has(`${method} ${shape}`)) {
          known.add(`${method} ${shape}`);
          served.push({ method, path: same, route, names: renamed });
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
