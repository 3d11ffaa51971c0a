// What `import … from 'twinline/server'` gives: a whole server from an environment, for tests and for hosts of their own.

import { requireGiven } from '../lib/given.ts';
import type { RunningServer, ServerParts } from './boot/running-server.ts';
import { startServer as start } from './boot/start.ts';
import type { Config } from './config/config.ts';

export type { RunningServer, ServerParts } from './boot/running-server.ts';
export { type Config, type ConfigReading, readConfig, requireConfig } from './config/config.ts';
export type { Parameter, RequestContent, RouteAnswer, ServedRoute } from './http/route-description.ts';
export type { PluginExchange, PluginInput, PluginMiddleware, PluginRefusal, PluginRouter } from './plugins/exchange.ts';
export type {
  Plugin,
  PluginContext,
  PluginEvent,
  PluginHost,
  PluginRoute,
  PluginTool,
  PluginToolContext,
} from './plugins/plugin.ts';
export type { GivenStores } from './stores/given.ts';
export type { StorePlace } from './stores/stores.ts';

/**
 * Starts a server, with parts of your own where you give some. Throws ERR_CONFIG, ERR_FLOW_INVALID, ERR_FLOW_UNKNOWN or
 * ERR_STORE; then nothing is left open but what you gave.
 * @example
 * const server = await startServer(requireConfig({ PORT: '0', DATA_DIR: ':memory:', LOG_LEVEL: 'silent' }));
 * const { status } = await (await fetch(`${server.url}/health`)).json();
 * status; // → 'ok'
 * await server.close();
 */
export async function startServer(config: Config, parts: ServerParts = {}): Promise<RunningServer> {
  requireGiven('start a server', { config }, { config: 'config' });
  return start(config, { parts });
}
