// `twinline routes`: lists all routes of a configuration with access and limits. `twinline gateway routes`: lists the routes of the query
// gateway.

import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { type RouteRow as GatewayRow, routeRows } from '../../../lib/gateway/index.ts';
import { ownRoutes, routeGroups } from '../../boot/route-groups.ts';
import { type Config, readConfig } from '../../config/config.ts';
import { IN_MEMORY } from '../../config/data-dir.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import type { Catalog } from '../../gateway/catalog.ts';
import { readGatewayFile } from '../../gateway/file.ts';
import { openCatalog } from '../../gateway/open.ts';
import { listServedTemplates, listTaken, ownership, splitRoutes } from '../../gateway/places.ts';
import { EXIT_CONFIG } from '../../http/errors.ts';
import type { Access, RouteDescription, RouteGroup, ServedRoute } from '../../http/route-table.ts';
import { findAccess, listSchemes } from '../../openapi/operation.ts';
import { pluginRouteGroups } from '../../plugins/open.ts';
import { loadAdapters } from '../../ussd/adapters.ts';
import { formatTable } from '../terminal.ts';
import { UsageError, type Verb } from '../verb.ts';
import { readSettings, SETTING_OPTIONS } from './start.ts';

export const routesVerb: Verb = {
  usage: '[options]',
  options: {
    '--json': 'as JSON',
    '--<setting> <value>': 'as for start, which names them; such as --gateway-file or --plugins',
  },
  run: async (args, env) => {
    const options = { ...SETTING_OPTIONS, json: { type: 'boolean' } } as const;
    const { values } = parseArgs({ args: [...args], options });
    const settings = { ...env, ...readSettings(values) };
    const { config, problems } = readRoutesConfig(settings);
    for (const problem of problems) console.error(pc.red(problem));
    if (!config) return EXIT_CONFIG;
    const rows = await listRoutes(config);
    console.log(values.json ? JSON.stringify(rows, null, 2) : formatRows(rows).join('\n'));
    return 0;
  },
};

export interface RouteRow {
  readonly method: string;
  /** Such as `/v1/domains/:did`. */
  readonly path: string;
  readonly access: Access;
  /** Accepted credentials, of which one is needed; empty for public routes and telecom gateways. */
  readonly needs: readonly string[];
  /** Requests per window and client; undefined for no limit. */
  readonly rate: { readonly max: number; readonly windowMs: number } | undefined;
  /** Maximum bytes of the body; undefined if it is not read. */
  readonly bodyBytes: number | undefined;
  /** Whether that limit applies to each line. */
  readonly perLine: boolean;
}

/** The table of routes, including those of plugins and the query gateway. */
async function listRoutes(config: Config): Promise<RouteRow[]> {
  const groups = await readDeclaredGroupsWithGateway(config);
  return groups.flatMap((group) => group.routes.map((route) => makeRow(route, group, config)));
}

function makeRow(route: RouteDescription, group: RouteGroup, { rateLimit: { max, windowMs } }: Config): RouteRow {
  const { method, path, rate, body } = route;
  const access = findAccess(route, group);
  return {
    ...{ method, path, access },
    needs: listSchemes(access),
    rate: rate === 'none' ? undefined : { max, windowMs },
    bodyBytes: body && (body.maxBytes ?? SERVER_LIMITS.jsonBodyBytes),
    perLine: body?.perLine ?? false,
  };
}

function formatRows(rows: readonly RouteRow[]): string[] {
  const cells = rows.map(({ method, path, access, needs, rate, bodyBytes, perLine }) => [
    method,
    path,
    access === 'telecom' ? 'telecom gateways' : needs.join(' or ') || 'public',
    rate ? `${rate.max} in ${rate.windowMs / 1_000} s` : 'any',
    bodyBytes === undefined ? '-' : `${bodyBytes} bytes${perLine ? ' a line' : ''}`,
  ]);
  return [...formatTable(['method', 'path', 'who', 'rate', 'body'], cells), `${rows.length} routes`];
}

const NOTHING_KEPT = { DATA_DIR: IN_MEMORY, REDIS_URL: '', MONGODB_URL: '', PORT: '0', LOG_LEVEL: 'silent' };

/** Milliseconds to wait for the description of the query gateway's node. */
export const NODE_PATIENCE_MS = 5_000;

/** The configuration of `env` without stores, which do not affect routes; or its problems. */
export function readRoutesConfig(env: NodeJS.ProcessEnv): ReturnType<typeof readConfig> {
  return readConfig({ ...env, ...NOTHING_KEPT }, { makeKeys: true });
}

/** The route groups of the server, its adapters and plugins. Throws ERR_CONFIG if a module cannot be loaded. */
export async function readDeclaredGroups(config: Config): Promise<RouteGroup[]> {
  const adapters = await loadAdapters(config.ussd, { folder: process.cwd() });
  return [...routeGroups(config, adapters), ...(await pluginRouteGroups(config, ownRoutes(config, adapters)))];
}

/** The same with the query gateway's routes. Rejects with ERR_CONFIG, or with ERR_SERVICE if its node cannot be reached. */
async function readDeclaredGroupsWithGateway(config: Config): Promise<RouteGroup[]> {
  const groups = await readDeclaredGroups(config);
  if (config.gatewayFile === undefined) return groups;
  const { readGatewayFile } = await import('../../gateway/file.ts');
  const { gatewayRouteGroup } = await import('../../gateway/open.ts');
  const others = groups.flatMap(({ routes }) => routes);
  const options = { others, patienceMs: NODE_PATIENCE_MS };
  return [...groups, await gatewayRouteGroup(readGatewayFile(config.gatewayFile), options)];
}

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
    console.log(values.json ? JSON.stringify(rows, null, 2) : formatGatewayRows(rows).join('\n'));
    for (const warning of warnings) console.error(pc.yellow(warning));
    return 0;
  },
};

interface ListedRoute extends GatewayRow {
  /** Whether requests reach the node, or why not; `hidden`: another service has the same path. */
  readonly use: 'call' | 'disabled' | 'forbidden' | 'hidden' | 'left-out';
  /** Why it is omitted. */
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

/** The routes of the other services, which take precedence. */
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

// Omitted routes are printed below, with the other warnings.
function formatGatewayRows(rows: readonly ListedRoute[]): string[] {
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
