// Opens the plugins of a server: checks their routes, offers their tools, calls their gates and listeners in order.

import { AsyncLocalStorage } from 'node:async_hooks';
import type Router from '@koa/router';
import type { Middleware } from 'koa';
import type { Agent } from '../../lib/agent/agent.ts';
import type { Room } from '../../lib/agent/room.ts';
import type { HostTool } from '../../lib/agent/tool.ts';
import type { Delegations } from '../../lib/delegation/delegations.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { RouteGroup, ServedRoute } from '../http/route-table.ts';
import { agentError } from '../user/errors.ts';
import { pluginPart } from './documentation.ts';
import { exclusions } from './exclusions.ts';
import { ownDocuments, pluginContext } from './host/context.ts';
import { type Listeners, listenersOf } from './host/listeners.ts';
import { type PluginDeps, pluginHost } from './host/plugin-host.ts';
import { requestInfo } from './host/request-info.ts';
import { loadPlugins } from './load.ts';
import { closeRoutes, type Mounted, mount, routeProblems } from './mount.ts';
import type { Plugin, PluginContext, RequestInfo } from './plugin.ts';
import { hostTool } from './tools.ts';

export interface Plugins {
  /** Their routes, as one middleware each. */
  readonly doors: readonly Middleware[];
  readonly routers: readonly Router[];
  readonly routes: readonly ServedRoute[];
  /** Keys of all routes of the agent service and of plugins that need no token. */
  readonly free: ReadonlySet<string>;
  readonly documentation: readonly RouteGroup[];
  readonly tools: readonly HostTool[];
  /** Rejects with what a plugin throws. Asked for every protected route, and for every socket. */
  gate(request: RequestInfo): Promise<void>;
  readonly listeners: Listeners;
  /** How much background work was done. */
  sweep(): Promise<number>;
  /** Gives them what is opened after them. */
  bind(late: Late): void;
  /** Work of their own should end. */
  close(): void;
}

/** What plugins use and what uses plugins. */
export interface Late {
  readonly agent: Agent;
  readonly delegations: Pick<Delegations, 'invoke'>;
}

/** Loads and opens the plugins of a configuration. Throws ERR_CONFIG with every problem, one per line. */
export async function openPlugins(deps: PluginDeps): Promise<Plugins> {
  const { config, documents, log, ownRoutes: taken } = deps;
  const loaded = await loadPlugins(config.plugins.modules, {
    folder: process.cwd(),
    settings: config.plugins.settings,
  });
  await documents.declare(loaded.flatMap(({ kinds = [] }) => kinds));
  let late: Late | undefined;
  const closing = new AbortController();
  const needLate = () => late ?? raise('The agent service is not open yet: use it in routes, tools and events only.');
  const host = pluginHost(deps, { late: needLate, gate: (request) => gate(request), closing: closing.signal });
  const contexts = new Map<Plugin, (now: () => RequestInfo) => PluginContext>();
  for (const plugin of loaded) {
    const { name, kinds = [], env = [] } = plugin;
    const own = {
      ...host,
      documents: ownDocuments(documents, kinds),
      env: Object.fromEntries(env.map((variable) => [variable, config.plugins.variable(variable)])),
      log: log.child({ plugin: name }),
    };
    const room: Pick<Room, 'tell'> = { tell: (...told) => needLate().agent.room.tell(...told) };
    contexts.set(plugin, (now) => pluginContext(own, room, now));
  }
  const contextOf = (plugin: Plugin, request: RequestInfo) => contexts.get(plugin)!(() => request);
  const having = <K extends keyof Plugin>(hook: K) => loaded.filter((plugin) => plugin[hook] !== undefined);

  async function gate(request: RequestInfo): Promise<void> {
    for (const plugin of having('gate')) await plugin.gate!(contextOf(plugin, request));
  }

  const current = new AsyncLocalStorage<RequestInfo>();
  const mounted = await mountAll(loaded, (plugin) => contexts.get(plugin)!(() => current.getStore() ?? {}));
  const { free, problems } = exclusions(config.plugins.authExcluded, { mounted, own: taken });
  const all = [...routeProblems(mounted, taken), ...problems];
  if (all.length) throw new TwinlineError('ERR_CONFIG', all.join('\n'));
  for (const one of mounted) closeRoutes(one, free);

  return {
    doors: mounted.map(({ router }) => doorOf(router, current)),
    routers: mounted.map(({ router }) => router),
    routes: mounted.flatMap(({ routes }) => routes),
    free,
    documentation: mounted.filter(({ routes }) => routes.length).map((one) => pluginPart(one, free)),
    tools: loaded.flatMap((plugin) =>
      (plugin.tools ?? []).map((tool) => hostTool(tool, (request) => contextOf(plugin, request))),
    ),
    gate,
    listeners: listenersOf(loaded, contextOf),
    async sweep() {
      const done = having('sweep').map((plugin) => plugin.sweep!(contextOf(plugin, {})));
      return Math.max(0, ...(await Promise.all(done)));
    },
    bind: (given) => {
      late = given;
    },
    close: () => closing.abort('closing'),
  };
}

function raise(words: string): never {
  throw new TwinlineError('ERR_CONFIG', words);
}

// What a plugin throws while it adds its routes is its author's to read.
async function mountAll(
  plugins: readonly Plugin[],
  contextOf: (plugin: Plugin) => PluginContext,
): Promise<readonly Mounted[]> {
  const problems: string[] = [];
  const mounted: Mounted[] = [];
  for (const plugin of plugins) {
    try {
      mounted.push(await mount(plugin, (router) => plugin.routes?.(router, contextOf(plugin))));
    } catch (error) {
      problems.push(
        `PLUGINS: "${plugin.name}" cannot add its routes: ${error instanceof Error ? error.message : error}`,
      );
    }
  }
  if (problems.length) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
  return mounted;
}

function doorOf(router: Router, current: AsyncLocalStorage<RequestInfo>): Middleware {
  const routes = router.routes() as Middleware;
  const told = koaRefusals();
  return (ctx, next) => {
    if (!router.match(ctx.path, ctx.method).route) return next();
    return current.run(requestInfo(ctx), () => told(ctx, () => routes(ctx, next)));
  };
}

/** Hands on refusals of 400 to 499 whose words are meant to be shown; all else stays as it is. */
function koaRefusals(): Middleware {
  return async (_ctx, next) => {
    try {
      await next();
    } catch (error) {
      const { status, expose, message } = error as { status?: unknown; expose?: unknown; message?: unknown };
      if (expose === true && typeof status === 'number' && status >= 400 && status <= 499)
        throw agentError(status, String(message));
      throw error;
    }
  };
}
