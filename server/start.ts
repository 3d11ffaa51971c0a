// A whole server from a configuration: stores, services, flows, engine, doors; and its orderly end.

import { setTimeout as pause } from 'node:timers/promises';
import type { DestinationStream } from 'pino';
import { accounts } from '../lib/account/account.ts';
import { pinVault } from '../lib/account/pin.ts';
import { accountServices } from '../lib/account/services.ts';
import { systemClock } from '../lib/clock.ts';
import { createEngine } from '../lib/engine/engine.ts';
import { httpServices } from '../lib/engine/http-service.ts';
import { problemLine } from '../lib/flow/problem.ts';
import { parseKeyring } from '../lib/keyring.ts';
import { LIMITS } from '../lib/limits.ts';
import { createAdapters } from '../lib/ussd/adapter.ts';
import { ussdGateway } from '../lib/ussd/gateway.ts';
import { type AppDeps, createApp } from './app.ts';
import type { Config } from './config.ts';
import { healthOf } from './health.ts';
import { listen } from './listen.ts';
import { createLog, type Log } from './log.ts';
import { loadMenus, type Menus } from './menus.ts';
import { createMetrics, METRICS_TYPE } from './metrics.ts';
import { type Overload, overloadWatch } from './overload.ts';
import { watchMenus } from './reload.ts';
import { loadServices, watched } from './services.ts';
import { openStores, prepareDocuments, type Stores } from './stores.ts';
import { startSweeper } from './sweeper.ts';

export interface RunningServer {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  /** Where metrics have a port of their own. */
  readonly metricsUrl: string | undefined;
  readonly log: Log;
  /** Looks for edited flows now. */
  refresh(): Promise<void>;
  /**
   * Stops: `/readyz` says 503 for `drainDelayMs` (default: the configuration's), then no new connections, then what is
   * in flight ends or is cut off after 20 s, then the stores are closed. Once, however often it is called.
   */
  close(options?: { readonly drainDelayMs?: number }): Promise<void>;
}

/** Places where a test puts something of its own. */
export interface Seams {
  readonly stores?: (stores: Stores) => Stores;
  readonly log?: DestinationStream;
  readonly plugins?: AppDeps['plugins'];
  readonly overload?: (watch: Overload) => Overload;
}

/** Starts a server. Throws ERR_CONFIG, ERR_FLOW_INVALID, ERR_FLOW_UNKNOWN or ERR_STORE; then nothing is left open. */
export async function startServer(config: Config, seams: Seams = {}): Promise<RunningServer> {
  const ends: (() => Promise<void> | void)[] = [];
  const endAll = async () => {
    for (let end = ends.pop(); end; end = ends.pop()) await end();
  };
  try {
    return await build(config, seams, { ends, endAll });
  } catch (error) {
    await endAll();
    throw error;
  }
}

interface Ends {
  /** What must be ended; the last one first. */
  readonly ends: (() => Promise<void> | void)[];
  readonly endAll: () => Promise<void>;
}

async function build(config: Config, seams: Seams, { ends, endAll }: Ends): Promise<RunningServer> {
  const log = createLog(config, seams.log);
  const keyring = parseKeyring(config.pinKeys);
  const opened = openStores(config);
  ends.push(() => opened.documents.close());
  ends.push(() => opened.snapshots.close());
  const { snapshots, documents } = seams.stores?.(opened) ?? opened;
  await prepareDocuments(documents, keyring);

  const watch = overloadWatch({ log });
  ends.push(watch.stop);
  const overload = seams.overload?.(watch) ?? watch;
  const metrics = createMetrics(overload);
  const onAlarm = (alarm: object) => log.error(alarm, 'many PIN checks fail: somebody may be guessing');
  const vault = pinVault({ keyring });
  const builtIn = {
    ...accountServices(accounts({ documents, vault, clock: systemClock, onAlarm })),
    ...httpServices({ hosts: config.serviceHosts }),
  };
  const services = await loadServices(config.services, { builtIn, folder: process.cwd() });

  const menuFolder = { folder: config.menusDir, services: new Set(Object.keys(services)) };
  const menus = await loadMenus(menuFolder, config.ussd.flow);
  tellProblems(menus, log);

  const problem = (where: 'ussd' | 'background' | 'sweep', words: string) => (error: unknown) => {
    metrics.problem(where);
    log.error({ err: error }, words);
  };
  const engine = createEngine({
    store: snapshots,
    conversations: [...menus.compiled.values()],
    services: watched(services, { log, production: config.production }),
    keyring,
    ttlSeconds: config.ussd.ttlSeconds,
    // The key of a session may hold a phone number.
    onProblem: ({ reason, error }) => {
      metrics.problem('background');
      log.error({ err: error, reason }, 'a stored session cannot go on, or its background work failed');
    },
  });
  const gateway = ussdGateway({
    engine,
    flow: config.ussd.flow,
    keyring,
    unknownSession: config.ussd.unknownSession,
    deadlineMs: config.ussd.deadlineMs,
    onProblem: problem('ussd', 'a USSD turn failed'),
  });

  const health = healthOf([snapshots, documents]);
  const adapters = createAdapters(config.ussd.textMode);
  const plugins = seams.plugins ? { plugins: seams.plugins } : {};
  const app = createApp({ config, gateway, adapters, health, overload, metrics, log, ...plugins });
  const own = config.metricsPort === undefined ? undefined : { host: config.host, port: config.metricsPort };
  const metricsDoor = own && (await listen(plainMetrics(metrics.render), own));
  ends.push(() => metricsDoor?.close(0));
  const door = await listen(app, config);

  const sweeper = startSweeper(engine, problem('sweep', 'sweeping failed'));
  const onProblem = () => metrics.problem('reload');
  const reload = watchMenus({ menus: menuFolder, library: engine.library, log, onProblem });

  const stop = async (drainDelayMs: number) => {
    health.draining = true;
    if (drainDelayMs > 0) await pause(drainDelayMs);
    const until = performance.now() + LIMITS.drainMs;
    await Promise.all([sweeper.stop(), reload.close(), door.close(LIMITS.drainMs)]);
    // Answers were given; what goes on behind them (late calls) may still finish.
    await Promise.race([engine.idle(), pause(Math.max(0, until - performance.now()), undefined, { ref: false })]);
    await endAll();
  };
  let stopping: Promise<void> | undefined;
  return {
    url: door.url,
    metricsUrl: metricsDoor?.url,
    log,
    refresh: reload.refresh,
    close: ({ drainDelayMs = config.drainDelayMs } = {}) => {
      stopping ??= stop(drainDelayMs);
      return stopping;
    },
  };
}

function tellProblems({ problems, failures }: Menus, log: Log): void {
  for (const problem of problems) log.warn(problemLine(problem));
  for (const failure of failures) log.warn(failure);
  const broken = failures.length || problems.some(({ severity }) => severity === 'error');
  if (broken) log.warn('flows with errors are left out');
}

function plainMetrics(render: () => string): Parameters<typeof listen>[0] {
  return (req, res) => {
    const found = req.url === '/metrics' && (req.method === 'GET' || req.method === 'HEAD');
    res.writeHead(found ? 200 : 404, { 'Content-Type': found ? METRICS_TYPE : 'text/plain' });
    res.end(found ? render() : 'Not found');
  };
}
