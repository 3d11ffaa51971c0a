// `twinline routes`: everything that a server of this configuration answers, who may ask, and how much at a time; `twinline gateway
// routes`: what the query gateway serves by its file.

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
  /** As routers write it: `/v1/domains/:did`. */
  readonly path: string;
  readonly access: Access;
  /** Names of what proves who asks, one of which is needed; none for everybody and for telecom gateways. */
  readonly needs: readonly string[];
  /** Requests per window and client; undefined where there is no limit. */
  readonly rate: { readonly max: number; readonly windowMs: number } | undefined;
  /** Most bytes of a body; undefined where none is read. */
  readonly bodyBytes: number | undefined;
  /** Whether that is the most of one of its lines. */
  readonly perLine: boolean;
}

/** The table of routes, with those of the plugins and of the query gateway that this configuration names. */
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

/** How long a node of the query gateway that must describe itself is waited for, in milliseconds. */
export const NODE_PATIENCE_MS = 5_000;

/** The configuration of `env` without its stores, which say nothing about routes; or the problems of the rest. */
export function readRoutesConfig(env: NodeJS.ProcessEnv): ReturnType<typeof readConfig> {
  return readConfig({ ...env, ...NOTHING_KEPT }, { makeKeys: true });
}

/** The groups of the server, its adapters and its plugins. Throws ERR_CONFIG when one of them cannot be loaded. */
export async function readDeclaredGroups(config: Config): Promise<RouteGroup[]> {
  const adapters = await loadAdapters(config.ussd, { folder: process.cwd() });
  return [...routeGroups(config, adapters), ...(await pluginRouteGroups(config, ownRoutes(config, adapters)))];
}

/** The same, and those of the query gateway. Rejects with ERR_CONFIG, and with ERR_SERVICE when its node is not there. */
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
