// The routes that a server of some configuration would have, read from their declarations: nothing is started.

import { ownRoutes, routeGroups } from '../boot/route-groups.ts';
import { type Config, readConfig } from '../config/config.ts';
import { IN_MEMORY } from '../config/data-dir.ts';
import type { RouteGroup } from '../http/route-table.ts';
import { pluginRouteGroups } from '../plugins/open.ts';
import { loadAdapters } from '../ussd/adapters.ts';

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
export async function readDeclaredGroupsWithGateway(config: Config): Promise<RouteGroup[]> {
  const groups = await readDeclaredGroups(config);
  if (config.gatewayFile === undefined) return groups;
  const { readGatewayFile } = await import('../gateway/file.ts');
  const { gatewayRouteGroup } = await import('../gateway/open.ts');
  const others = groups.flatMap(({ routes }) => routes);
  const options = { others, patienceMs: NODE_PATIENCE_MS };
  return [...groups, await gatewayRouteGroup(readGatewayFile(config.gatewayFile), options)];
}
