// Which routes need no token: those that plugins name, and those of AUTH_EXCLUDED. Nothing is freed but exactly these.

import { suggest } from '../../lib/flow/expression/suggest.ts';
import type { ServedRoute } from '../http/route-list.ts';
import { freedBy, keyOf, type Mounted } from './mount.ts';

export interface Exclusions {
  /** Keys of routes, as {@link keyOf} writes them. */
  readonly free: ReadonlySet<string>;
  readonly problems: readonly string[];
}

/** Routes of the server, and whether they ask for a token of a user, for something else, or for nothing. */
export interface OwnRoute extends ServedRoute {
  readonly security: readonly string[];
}

/**
 * Collects them. An operator may free routes of plugins and of the agent service; those that are for everybody already
 * may be named, those of other doors have keys of their own and may not.
 */
export function exclusions(
  excluded: readonly string[],
  { mounted, own }: { readonly mounted: readonly Mounted[]; readonly own: readonly OwnRoute[] },
): Exclusions {
  const free = new Set<string>();
  for (const { plugin, routes } of mounted)
    for (const exclusion of plugin.authExcluded ?? [])
      for (const route of freedBy(exclusion, routes)) free.add(keyOf(route));
  const ours = own.filter(({ security }) => security.includes('ucan')).map(keyOf);
  const freeable = new Set([...ours, ...mounted.flatMap(({ routes }) => routes.map(keyOf))]);
  const open = new Set(own.filter(({ security }) => !security.length).map(keyOf));
  const problems = excluded.flatMap((line) => {
    const key = line.replace(/\{(\w+)\}/g, ':$1');
    if (freeable.has(key)) free.add(key);
    if (freeable.has(key) || open.has(key)) return [];
    const other = own.some((route) => keyOf(route) === key);
    const why = other ? 'is a route with keys of its own' : `is no route here.${suggest(key, [...freeable])}`;
    return [`AUTH_EXCLUDED: "${line}" ${why}${/[.?]$/.test(why) ? '' : '.'} Name routes as /openapi.json has them.`];
  });
  return { free, problems };
}
