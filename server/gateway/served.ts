// The routes of the gateway as others may know them: methods and addresses, with a name for each part of a path that varies.

import type { Route } from '../../lib/gateway/index.ts';
import { parseTemplate } from '../../lib/gateway/route/paths.ts';
import type { Catalog } from './catalog.ts';
import { type Owns, servedTemplates } from './places.ts';

export interface Served {
  readonly method: string;
  /** As OpenAPI writes it: `/ixo/entity/{id}`; of `{name=shelves/*}` what varies alone: `/shelves/{name}`. */
  readonly path: string;
  readonly route: Route;
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
    for (const template of servedTemplates(route, settings)) {
      const { path, names } = named(template);
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

function named(template: string): Pick<Served, 'path' | 'names'> {
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
