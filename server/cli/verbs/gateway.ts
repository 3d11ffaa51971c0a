// `twinline gateway routes`: what the query gateway serves by its file, as a table of methods, paths and calls.

import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { type RouteRow, routeRows } from '../../../lib/gateway/index.ts';
import type { Catalog } from '../../gateway/catalog.ts';
import { readGatewayFile } from '../../gateway/file.ts';
import { openCatalog } from '../../gateway/open.ts';
import { listServedTemplates, listTaken, ownership, splitRoutes } from '../../gateway/places.ts';
import type { ServedRoute } from '../../http/route-table.ts';
import { NODE_PATIENCE_MS, readDeclaredGroups, readRoutesConfig } from '../declared-routes.ts';
import { UsageError, type Verb } from '../verb.ts';

export const gatewayVerb: Verb = {
  usage: 'routes [file] [options]',
  options: { '--json': 'the routes as JSON', '(default)': 'the file GATEWAY_FILE' },
  run: async (args, env) => {
    const options = { json: { type: 'boolean' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [what, path = env.GATEWAY_FILE?.trim(), ...more] = positionals;
    if (what !== 'routes') throw new UsageError('The gateway can be asked for its routes: twinline gateway routes.');
    if (more.length) throw new UsageError('Only one file can be given.');
    if (!path) throw new UsageError('Name the file of the gateway, or set GATEWAY_FILE.');
    const { rows, warnings } = await readRows(path, env);
    console.log(values.json ? JSON.stringify(rows, null, 2) : formatRows(rows).join('\n'));
    for (const warning of warnings) console.error(pc.yellow(warning));
    return 0;
  },
};

interface ListedRoute extends RouteRow {
  /** Whether requests reach the node, or why not; `hidden`: another door of the server has the path. */
  readonly use: 'call' | 'disabled' | 'forbidden' | 'hidden' | 'left-out';
  /** Why it is left out. */
  readonly reason?: string;
}

async function readRows(
  path: string,
  env: NodeJS.ProcessEnv,
): Promise<{ rows: ListedRoute[]; warnings: readonly string[] }> {
  const file = readGatewayFile(path);
  const { catalog, channel } = await openCatalog(file, { patienceMs: NODE_PATIENCE_MS });
  await channel.close();
  const others = await otherDoors(env);
  const owns = ownership(file.settings, { routes: catalog.routes, taken: listTaken(others.routes) });
  const hidden = new Set(splitRoutes(catalog, owns).hidden);
  const rows = routeRows(catalog.routes).flatMap((row, at) => {
    const route = catalog.routes[at]!;
    const { use } = route;
    return listServedTemplates(route, file.settings).map(
      (template): ListedRoute => ({ ...row, path: template, use: hidden.has(template) ? 'hidden' : use }),
    );
  });
  return { rows: [...rows, ...catalog.left.map(makeLeftOutRow)], warnings: [...catalog.warnings, ...others.warnings] };
}

function makeLeftOutRow({ rpc, path, reason }: Catalog['left'][number]): ListedRoute {
  const [method = '', template = ''] = path.split(' ');
  return { method, path: template, rpc, streaming: false, query: [], use: 'left-out', reason };
}

/** The routes of the server's other doors, which keep their paths. */
async function otherDoors(env: NodeJS.ProcessEnv): Promise<{ routes: readonly ServedRoute[]; warnings: string[] }> {
  const { config, problems } = readRoutesConfig({ ...env, GATEWAY_FILE: '' });
  const withoutMarks = (why: string) => ({
    routes: [],
    warnings: [`Routes that other doors hide are not marked: ${why}`],
  });
  if (!config) return withoutMarks(problems.join(' '));
  try {
    return { routes: (await readDeclaredGroups(config)).flatMap(({ routes }) => routes), warnings: [] };
  } catch (error) {
    return withoutMarks((error as Error).message);
  }
}

// Routes that are left out are printed below, with the other warnings.
function formatRows(rows: readonly ListedRoute[]): string[] {
  return rows.filter(({ use }) => use !== 'left-out').map(formatRow);
}

const MARKS: { readonly [use in ListedRoute['use']]?: string } = {
  disabled: 'disabled',
  forbidden: 'forbidden',
  hidden: 'hidden: another door has this path',
};

function formatRow({ method, path, rpc, streaming, query, use }: ListedRoute): string {
  const names = query.map(({ name, repeated }) => (repeated ? `${name}*` : name)).join(' ');
  const marks = [...(streaming ? ['stream'] : []), ...(MARKS[use] ? [MARKS[use]] : [])];
  const line = `${method.padEnd(6)} ${path}  ${pc.dim('→')} ${rpc}${marks.length ? ` (${marks.join(', ')})` : ''}`;
  return names ? `${line}\n       ${pc.dim(`? ${names}`)}` : line;
}
