// Opens the plugins of a server: checks their routes, offers their tools, and calls their gates and listeners in order.

import { AsyncLocalStorage } from 'node:async_hooks';
import type Router from '@koa/router';
import type { Middleware } from 'koa';
import type { AgentOptions, RunReport, RunStart } from '../../lib/agent/options.ts';
import type { HostTool } from '../../lib/agent/responder.ts';
import type { RunRoomEvent } from '../../lib/agent/room.ts';
import type { FaultKind, RunFault } from '../../lib/agent/run/frame-data.ts';
import { systemClock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import type { Redactor } from '../../lib/redact.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { Config } from '../config/config.ts';
import { startInTime } from '../config/modules.ts';
import type { DeclaredRoute, RouteGroup, ServedRoute } from '../http/route-table.ts';
import { createLog } from '../telemetry/log.ts';
import { AgentError, agentError } from '../user/errors.ts';
import { type AskGates, contextMaker, type Late, type MakeContext, type PluginDeps, requestInfo } from './context.ts';
import { loadPlugins } from './load.ts';
import type { Plugin, PluginContext, PluginEvent, RequestInfo } from './plugin.ts';
import { closeRoutes, findExclusions, type Mounted, mountPlugin, pluginGroup, routeProblems } from './routes.ts';
import { hostTool } from './tools.ts';

export interface Plugins {
  /** Plugin routes, one middleware per plugin. */
  readonly doors: readonly Middleware[];
  readonly routers: readonly Router[];
  readonly routes: readonly ServedRoute[];
  /** Keys of all plugin and agent routes that need no user token. */
  readonly free: ReadonlySet<string>;
  /** One group per plugin with routes. */
  readonly documentation: readonly RouteGroup[];
  readonly tools: readonly HostTool[];
  /** Called for every protected route and every socket; rejects with what a plugin throws. Undefined without gates. */
  readonly gate: AskGates | undefined;
  /** Callbacks of the agent; absent if no plugin uses them. */
  readonly listeners: Pick<AgentOptions, 'begin' | 'settle' | 'onEvent' | 'onEnd' | 'instructions'>;
  /** Runs one round of background work; returns the amount done. */
  sweep(): Promise<number>;
  /** Provides what is opened after the plugins. */
  bind(late: Late): void;
  /** Aborts `closing`, so that plugins end their own work. */
  close(): void;
}

/** Loads and opens the configured plugins. Throws ERR_CONFIG with every problem, one per line. */
export async function openPlugins(deps: PluginDeps): Promise<Plugins> {
  const { plugins, makers, mounted, free, current, hooks } = await mountPlugins(deps);
  const makeContext = (plugin: Plugin, request: RequestInfo) => makers.get(plugin)!(() => request);
  await inEach(deps, plugins, {
    failure: 'cannot start',
    work: async (plugin) => plugin.start?.(makeContext(plugin, {})),
  });
  const sweeping = plugins.filter(({ sweep }) => sweep !== undefined);
  return {
    doors: mounted.map(({ router }) => pluginDoor(router, { current, redact: deps.config.redact })),
    routers: mounted.map(({ router }) => router),
    routes: mounted.flatMap(({ routes }) => routes),
    free,
    documentation: describeRoutes(mounted, free),
    tools: plugins.flatMap((plugin) =>
      (plugin.tools ?? []).map((tool) => ({
        ...hostTool(tool, (request) => makeContext(plugin, request)),
        redact: deps.config.redact,
      })),
    ),
    gate: hooks.gate,
    listeners: makeListeners(plugins, makeContext),
    async sweep() {
      const done = sweeping.map((plugin) => plugin.sweep!(makeContext(plugin, {})));
      return Math.max(0, ...(await Promise.all(done)));
    },
    bind: hooks.bind,
    close: hooks.close,
  };
}

/**
 * The route groups of the configured plugins, without serving them: documents are in memory, and a plugin whose function adds
 * routes finds no services. Throws ERR_CONFIG with every problem, one per line.
 */
export async function pluginRouteGroups(
  config: Config,
  ownRoutes: readonly DeclaredRoute[],
): Promise<readonly RouteGroup[]> {
  const log = createLog({ logLevel: 'silent' });
  const operatorsOnly: Middleware = (_ctx, next) => next();
  const audit: PluginDeps['audit'] = { append: () => Promise.reject(new Error('No request is served here.')) };
  const nothing = { documents: memoryDocuments(), services: {}, clock: systemClock, log, operatorsOnly, audit };
  const { mounted, free, hooks } = await mountPlugins({ config, ownRoutes, ...nothing });
  hooks.close();
  return describeRoutes(mounted, free);
}

function describeRoutes(mountedPlugins: readonly Mounted[], free: ReadonlySet<string>): readonly RouteGroup[] {
  return mountedPlugins.filter(({ routes }) => routes.length).map((one) => pluginGroup(one, free));
}

async function mountPlugins(deps: PluginDeps) {
  const { config, documents, ownRoutes: own } = deps;
  const { modules, settings, authExcluded } = config.plugins;
  const plugins = await loadPlugins(modules, {
    ...{ folder: process.cwd(), settings, audit: deps.audit, given: deps.given, clock: deps.clock },
  });
  await documents.declare(plugins.flatMap(({ kinds = [] }) => kinds));
  let late: Late | undefined;
  const closing = new AbortController();
  const gated = plugins.filter(({ gate }) => gate !== undefined);
  const makers = new Map<Plugin, MakeContext>();
  const askGates: AskGates = async (request) => {
    for (const plugin of gated) await plugin.gate!(makers.get(plugin)!(() => request));
  };
  const hooks = {
    closing: closing.signal,
    late: () => late ?? raise('The agent service is not open yet. Use it only in routes, tools and events.'),
    gate: gated.length > 0 ? askGates : undefined,
    bind: (services: Late) => {
      late = services;
    },
    close: () => closing.abort('closing'),
  };
  const makeContexts = contextMaker(deps, hooks);
  for (const plugin of plugins) makers.set(plugin, makeContexts(plugin));
  const current = new AsyncLocalStorage<RequestInfo>();
  const mounted = await inEach(deps, plugins, {
    failure: 'cannot add its routes',
    work: (plugin) =>
      mountPlugin(
        plugin,
        makers.get(plugin)!(() => current.getStore() ?? {}),
      ),
  });
  const { free, problems } = findExclusions(authExcluded, { mounted, own });
  raiseAll([...routeProblems(mounted, own), ...problems]);
  for (const one of mounted) closeRoutes(one, free);
  return { plugins, makers, mounted, free, current, hooks };
}

function raise(words: string): never {
  throw new TwinlineError('ERR_CONFIG', words);
}

function raiseAll(problems: readonly string[]): void {
  if (problems.length) raise(problems.join('\n'));
}

interface StartStep<T> {
  /** What the plugin failed to do, for the message. */
  readonly failure: string;
  readonly work: (plugin: Plugin) => Promise<T>;
}

// Errors at startup are meant for the plugin's author: show their message.
async function inEach<T>(
  { clock }: Pick<PluginDeps, 'clock'>,
  plugins: readonly Plugin[],
  { failure, work }: StartStep<T>,
): Promise<readonly T[]> {
  const problems: string[] = [];
  const results: T[] = [];
  for (const plugin of plugins) {
    try {
      results.push(await startInTime(clock, work(plugin)));
    } catch (error) {
      problems.push(`PLUGINS: "${plugin.name}" ${failure}: ${error instanceof Error ? error.message : error}`);
    }
  }
  raiseAll(problems);
  return results;
}

interface PluginDoor {
  readonly current: AsyncLocalStorage<RequestInfo>;
  readonly redact: Redactor;
}

function pluginDoor(router: Router, { current, redact }: PluginDoor): Middleware {
  const routes = router.routes() as Middleware;
  return (ctx, next) => {
    if (!router.match(ctx.path, ctx.method).route) return next();
    return current.run(requestInfo(ctx), () => answerExposed(redact, async () => routes(ctx, next)));
  };
}

/** Exposes 4xx errors whose message may be shown, as thrown by `koa.throw`; rethrows all others. */
async function answerExposed(redact: Redactor, answer: () => Promise<unknown>): Promise<void> {
  try {
    await answer();
  } catch (error) {
    const { status, expose, message } = error as { status?: unknown; expose?: unknown; message?: unknown };
    if (expose === true && typeof status === 'number' && status >= 400 && status <= 499)
      throw agentError(status, redact.text(String(message)));
    throw error;
  }
}

type ContextMaker = (plugin: Plugin, request: RequestInfo) => PluginContext;

function makeListeners(plugins: readonly Plugin[], makeContext: ContextMaker): Plugins['listeners'] {
  const having = (hook: keyof Plugin) => plugins.filter((plugin) => plugin[hook] !== undefined);
  const [listening, instructing] = [having('onEvent'), having('instructions')];
  const [beginning, settling] = [having('begin'), having('settle')];
  const tell = (event: PluginEvent, request: RequestInfo) => {
    for (const plugin of listening) void tellPlugin(plugin, event, makeContext(plugin, request));
  };
  return {
    ...(listening.length && {
      onEvent: ({ event, runId, payload, ...about }: RunRoomEvent) =>
        tell({ type: event, runId, payload }, runRequest(about)),
      onEnd: (report) => tell(runEnded(report), runRequest(report)),
    }),
    ...(beginning.length && {
      begin: async (run) => {
        for (const plugin of beginning) {
          const fault = await begin(plugin, run, makeContext(plugin, runRequest(run)));
          if (fault) return fault;
        }
        return undefined;
      },
    }),
    ...(settling.length && {
      settle: async (report) => {
        for (const plugin of settling) await settle(plugin, report, makeContext(plugin, runRequest(report)));
      },
    }),
    ...(instructing.length && {
      instructions: async (run) => {
        const texts = instructing.map((plugin) => plugin.instructions!(makeContext(plugin, runRequest(run))));
        return (await Promise.all(texts)).filter((text): text is string => text !== undefined && text !== '');
      },
    }),
  };
}

async function tellPlugin(plugin: Plugin, event: PluginEvent, context: PluginContext): Promise<void> {
  try {
    await plugin.onEvent!(event, context);
  } catch (error) {
    context.log.error({ err: error }, 'a plugin failed to handle an event');
  }
}

const KIND_OF_STATUS: { readonly [status: number]: FaultKind } = { 402: 'billing', 403: 'auth', 429: 'rate_limit' };

// A failing plugin blocks the run: it may be what protects an account.
async function begin(plugin: Plugin, run: RunStart, context: PluginContext): Promise<RunFault | undefined> {
  try {
    await plugin.begin!(run, context);
    return undefined;
  } catch (error) {
    if (error instanceof TwinlineError && error.retry) throw error;
    if (error instanceof AgentError) {
      const { statusCode: status, message } = error.body;
      return {
        error: [message].flat().join('; '),
        kind: KIND_OF_STATUS[status] ?? 'unknown',
        status,
        retryable: false,
      };
    }
    context.log.error({ err: error, runId: run.runId }, 'a plugin failed before a run');
    return { error: 'The reply could not be made.', kind: 'unknown', status: 500, retryable: true };
  }
}

// Rethrow store failures, which may pass; a bug in a plugin must not keep runs from ending.
async function settle(plugin: Plugin, report: RunReport, context: PluginContext): Promise<void> {
  try {
    await plugin.settle!(report, context);
  } catch (error) {
    if (error instanceof TwinlineError && error.retry) throw error;
    context.log.error({ err: error, runId: report.runId }, 'a plugin failed to settle a run');
  }
}

function runEnded({ owner: _, session: sessionId, runId, ...more }: RunReport): PluginEvent {
  return { type: 'run_ended', runId, payload: { sessionId, ...more } as unknown as JsonObject };
}

function runRequest({ owner, session, requestId }: Pick<RunReport, 'owner' | 'session' | 'requestId'>): RequestInfo {
  return { did: owner, sessionId: session, requestId };
}
