// Opens the plugins of a server: checks their routes, offers their tools, calls their gates and listeners in order.

import { AsyncLocalStorage } from 'node:async_hooks';
import type Router from '@koa/router';
import type { Middleware } from 'koa';
import type { AgentOptions, RunReport, RunStart } from '../../lib/agent/options.ts';
import type { HostTool } from '../../lib/agent/responder.ts';
import type { RunRoomEvent } from '../../lib/agent/room.ts';
import type { FaultKind, RunFault } from '../../lib/agent/run/frames.ts';
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
  /** Their routes, as one middleware each. */
  readonly doors: readonly Middleware[];
  readonly routers: readonly Router[];
  readonly routes: readonly ServedRoute[];
  /** Keys of all routes of the agent service and of plugins that need no token of a user. */
  readonly free: ReadonlySet<string>;
  /** Of those that have routes. */
  readonly documentation: readonly RouteGroup[];
  readonly tools: readonly HostTool[];
  /** Rejects with what a plugin throws. Asked for every protected route, and for every socket; undefined without gates. */
  readonly gate: AskGates | undefined;
  /** What the agent calls; one is missing where no plugin wants it. */
  readonly listeners: Pick<AgentOptions, 'begin' | 'settle' | 'onEvent' | 'onEnd' | 'instructions'>;
  /** How much background work was done. */
  sweep(): Promise<number>;
  /** Gives them what is opened after them. */
  bind(late: Late): void;
  /** Work of their own should end. */
  close(): void;
}

/** Loads and opens the plugins of a configuration. Throws ERR_CONFIG with every problem, one per line. */
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
 * The groups of the routes that the plugins of a configuration add. Nothing listens, and documents are kept in memory: a plugin
 * whose function adds routes finds no services. Throws ERR_CONFIG with every problem, one per line.
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

function describeRoutes(mounted: readonly Mounted[], free: ReadonlySet<string>): readonly RouteGroup[] {
  return mounted.filter(({ routes }) => routes.length).map((one) => pluginGroup(one, free));
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
    late: () => late ?? raise('The agent service is not open yet: use it in routes, tools and events only.'),
    gate: gated.length > 0 ? askGates : undefined,
    bind: (given: Late) => {
      late = given;
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
  /** What a plugin cannot do that fails in it, or does not end. */
  readonly failure: string;
  readonly work: (plugin: Plugin) => Promise<T>;
}

// What a plugin throws while the server starts is its author's to read.
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

/** Hands on refusals of 400 to 499 whose words are meant to be shown, as `koa.throw` makes; all else stays as it is. */
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
      instructions: async (asked) => {
        const said = instructing.map((plugin) => plugin.instructions!(makeContext(plugin, runRequest(asked))));
        return (await Promise.all(said)).filter((text): text is string => text !== undefined && text !== '');
      },
    }),
  };
}

async function tellPlugin(plugin: Plugin, event: PluginEvent, context: PluginContext): Promise<void> {
  try {
    await plugin.onEvent!(event, context);
  } catch (error) {
    context.log.error({ err: error }, 'a plugin failed on an event');
  }
}

const KIND_OF_STATUS: { readonly [status: number]: FaultKind } = { 402: 'billing', 403: 'auth', 429: 'rate_limit' };

// A plugin that fails lets no run begin: it may be what protects an account.
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

// A store that is away may come back; what a plugin has got wrong must not keep runs from ending.
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
