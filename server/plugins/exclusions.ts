// Which routes need no token: those that plugins name, and those of AUTH_EXCLUDED. Nothing is freed but exactly these.

import { suggest } from '../../lib/flow/expression/suggest.ts';
import { type DeclaredRoute, routeKey } from '../http/route-table.ts';
import { freedBy, type Mounted } from './mount.ts';

export interface Exclusions {
  /** Keys of routes, as {@link routeKey} writes them. */
  readonly free: ReadonlySet<string>;
  readonly problems: readonly string[];
}

/**
 * Collects them. An operator may free routes of plugins and of the agent service; those that are for everybody already
 * may be named, those of other doors have keys of their own and may not.
 */
export function exclusions(
  excluded: readonly string[],
  { mounted, own }: { readonly mounted: readonly Mounted[]; readonly own: readonly DeclaredRoute[] },
): Exclusions {
  const free = new Set<string>();
  for (const { plugin, routes } of mounted)
    for (const exclusion of plugin.authExcluded ?? [])
      for (const route of freedBy(exclusion, routes)) free.add(routeKey(route));
  const ours = own.filter(({ access }) => access === 'user').map(routeKey);
  const freeable = new Set([...ours, ...mounted.flatMap(({ routes }) => routes.map(routeKey))]);
  const open = new Set(own.filter(({ access }) => access === 'public' || access === 'telecom').map(routeKey));
  const problems = excluded.flatMap((line) => {
    const key = line.replace(/\{(\w+)\}/g, ':$1');
    if (freeable.has(key)) free.add(key);
    if (freeable.has(key) || open.has(key)) return [];
    const other = own.some((route) => routeKey(route) === key);
    const why = other ? 'is a route with keys of its own' : `is no route here.${suggest(key, [...freeable])}`;
    return [`AUTH_EXCLUDED: "${line}" ${why}${/[.?]$/.test(why) ? '' : '.'} Name routes as /openapi.json has them.`];
  });
  return { free, problems };
}
