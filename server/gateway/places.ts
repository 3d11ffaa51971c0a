// Which addresses of the server are the gateway's, and under which a route is served.

import { type GatewaySettings, legacyRewrites, type Route } from '../../lib/gateway/index.ts';
import type { ServedRoute } from '../http/route-table.ts';

/** What stands between the first two slashes of a path, up to a colon. */
function firstSegment(path: string): string {
  const end = /[/:?]/g;
  end.lastIndex = 1;
  return path.slice(1, end.exec(path)?.index);
}

// Sockets of the agent.
const NOT_IN_ROUTES = ['socket.io'];

/** How paths of other doors begin. */
export function takenBy(others: readonly ServedRoute[]): ReadonlySet<string> {
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
export function servedTemplates({ template }: Route, { prefixes }: GatewaySettings): string[] {
  const given = Object.entries(prefixes);
  if (!given.length) return [template];
  const bare = (prefix: string) => (prefix === '/' ? '' : prefix);
  const below = (path: string, prefix: string) => path === prefix || path.startsWith(`${bare(prefix)}/`);
  return given.flatMap(([from, to]) => {
    if (!below(template, to)) return [];
    const served = `${bare(from)}${template.slice(bare(to).length)}` || '/';
    // A longer prefix would take it.
    return given.some(([other]) => other.length > from.length && below(served, other)) ? [] : [served];
  });
}
