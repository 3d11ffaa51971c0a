// Builds a server from a configuration: the engine, its doors, background work; and closes it in order.

import type { DestinationStream } from 'pino';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { parseOracleKey } from '../../lib/delegation/oracle-key.ts';
import { type Disposables, openWithDisposables } from '../../lib/disposables.ts';
import type { SenderOptions } from '../../lib/http/client.ts';
import { openAgentService } from '../agent/open.ts';
import type { Config } from '../config/config.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { openDomain } from '../domain/open.ts';
import type { GatewayOptions, QueryGateway } from '../gateway/open.ts';
import { watchClocks } from '../health/clock-watch.ts';
import { storeMetrics, watchHealth } from '../health/health.ts';
import { listWatched } from '../health/write-watch.ts';
import type { ConnectionRules } from '../http/connections.ts';
import { listen } from '../http/listen.ts';
import { operatorRule, operatorsOnly } from '../http/middleware/operator.ts';
import { type OverloadLimits, overloadWatch } from '../http/overload.ts';
import { lintDoors, listRefused } from '../menus/menus.ts';
import { watchMenus } from '../menus/watch.ts';
import { checkGivenStores } from '../stores/given.ts';
import { createLog } from '../telemetry/log.ts';
import { loadAdapters } from '../ussd/adapters.ts';
import { ussdGateways } from '../ussd/gateways.ts';
import { operatorNotes } from '../ussd/operator-routes.ts';
import { createInspector } from '../web/inspector/open.ts';
import { serviceRecorder } from '../web/simulator/flow-test.ts';
import { openStudio } from '../web/studio/open.ts';
import { openToolPages } from '../web/tools.ts';
import { type AppDeps, createApp } from './app.ts';
import { type HostOptions, openHost } from './host.ts';
import { logPublicRoutes, storeHealthLogger, warnAtStart, warnOfLostIssuers, warnOfPassedOver } from './notices.ts';
import { observe, openMetrics } from './observe.ts';
import { ownRoutes } from './route-groups.ts';
import type { RunningServer, ServerParts } from './running-server.ts';
import { startSweeper, sweepSessions, watchClock } from './sweeper.ts';

export type { RunningServer };

/** Places where a test puts something of its own. */
export interface Seams {
  readonly parts?: ServerParts;
  readonly stores?: HostOptions['stores'];
  readonly log?: DestinationStream;
  readonly routes?: AppDeps['routes'];
  readonly overload?: OverloadLimits;
  readonly webhookSender?: SenderOptions;
  readonly connections?: ConnectionRules;
  readonly unsent?: AppDeps['unsent'];
  /** What the server and its stores take for the time. @default the system's clock */
  readonly clock?: Clock;
}

/** Starts a server. Throws ERR_CONFIG, ERR_FLOW_INVALID, ERR_FLOW_UNKNOWN or ERR_STORE; then nothing is left open. */
export function startServer(config: Config, seams: Seams = {}): Promise<RunningServer> {
  return openWithDisposables((ends) => start(config, seams, ends));
}

async function start(config: Config, seams: Seams, { defer, disposeAll }: Disposables): Promise<RunningServer> {
  const log = createLog(config, seams.log);
  const { parts = {}, clock = systemClock } = seams;
  const { keyring } = config;
  const oracleKeys = [parseOracleKey(config.oracleKey), ...config.olderOracleKeys.map(parseOracleKey)] as const;
  const given = { ...parts, stores: checkGivenStores(parts.stores ?? {}) };
  const overload = overloadWatch(log, seams.overload);
  defer(overload.stop);
  const observed = observe(config, { log, overload, clock });
  const { metrics } = observed;
  const onUnseen = (error: unknown) => {
    metrics.problem('background');
    log.error({ err: error }, 'the inspector does not show everything');
  };
  const inspector = createInspector({ keyring, clock, onProblem: onUnseen });
  defer(inspector.close);
  // Without access to operator pages nothing is recorded for them.
  const recorder = serviceRecorder();
  const isOperated = !config.production || config.operatorTokens.length > 0;
  const hub = isOperated ? inspector.hub : undefined;
  const adapters = await loadAdapters(config.ussd, {
    folder: process.cwd(),
    given: given.adapters,
    onProblem: (error, dialect) => {
      metrics.problem('ussd');
      log.error({ err: error, dialect }, 'an adapter failed: the caller is told that the input is invalid');
    },
  });
  const host = await openHost(config, {
    ...{ dialects: Object.keys(adapters), parts: given, clock },
    ...{ log, onProblem: metrics.problem, stores: seams.stores, inspector: hub, onTurn: observed.onTurn },
    services: (given) => observed.watchServices(isOperated ? recorder.watch(given) : given),
    onCrowded: () => metrics.refused('sessions'),
  });
  defer(host.close);
  const { engine, ussd, stores, places, redis, menuFolder, menus, machines, services, audit } = host;
  // In development a line for people says it, and none of the log.
  const atStart = config.production ? 'info' : 'debug';
  for (const place of places) log[atStart](place, 'a store is open');
  if (redis && isOperated) await inspector.join(redis);
  warnAtStart(config, log);
  await warnOfPassedOver(config, stores, log);
  for (const { id, version } of menus.compiled.values()) log[atStart]({ flow: id, version }, 'a menu is served');
  for (const { id, version } of machines) log[atStart]({ machine: id, version }, 'a machine is served');
  const clocks = watchClocks(host.clocks, { clock, log });
  defer(clocks.stop);
  metrics.add(clocks.metrics);
  const health = watchHealth(listWatched(stores), { clock, onChange: storeHealthLogger(log) });
  metrics.add(async () => storeMetrics(await health.judgeStores()));

  const domain = await openDomain({
    documents: stores.documents,
    apiKeysFile: config.apiKeysFile,
    governanceFile: config.governanceFile,
    oracleKeys,
    publicUrl: config.publicUrl,
    keyring,
    clock,
    webhookSender: seams.webhookSender,
    production: config.production,
    inspector: hub,
    audit,
    log,
    onProblem: () => metrics.problem('http'),
  });
  defer(domain.close);
  metrics.add(domain.metrics);
  await warnOfLostIssuers(stores.documents, config, log);

  const operators = operatorRule(config, { log, clock });
  const agent = await openAgentService({
    ...{ ownRoutes: ownRoutes(config, adapters), parts: given },
    ...{ config, stores, redis, oracleKeys, services, inspector: hub, log, clock },
    conversations: [...menus.compiled.values(), ...machines],
    ...{ sessionClock: host.sessionClock, sender: seams.webhookSender },
    operatorsOnly: operatorsOnly(operators),
    readClient: operators.readClient,
    audit,
    onProblem: () => metrics.problem('http'),
  });
  defer(agent.close);
  metrics.add(agent.metrics);
  observed.addStores(engine, stores.documents);

  const query = await openQuery(config, { log, clock, onProblem: () => metrics.problem('http') });
  defer(async () => query?.close());
  if (query) metrics.add(query.metrics);

  const gateways = ussdGateways(config.ussd.gateways, { dialects: Object.keys(adapters), clock });
  logPublicRoutes(agent.door.publicRoutes, log, config);
  const inspectorDoor = inspector.open({ engine, audit, flow: config.ussd.flow });
  // The folder is watched once everything else is there.
  const reloads = { now: async () => {}, refused: (): readonly string[] => [] };
  const studio = config.studio
    ? await openStudio({
        ...{ folder: config.menusDir, flow: config.ussd.flow, library: engine.library },
        documents: stores.documents,
        clock,
        drawings: inspectorDoor.drawings,
        reload: () => reloads.now(),
        noteEdit: async ({ by, ...details }) => void (await audit.append({ action: 'menus.edited', by, details })),
        ...{ services, recorder },
        callsServices: !config.production,
        doors: lintDoors(config),
      })
    : undefined;
  if (studio) defer(studio.drafts.close);
  const app = createApp({
    config,
    ussd,
    gateways,
    desk: host.desk,
    notes: config.operatorTokens.length ? operatorNotes(host) : undefined,
    operators,
    adapters,
    health,
    overload,
    metrics,
    log,
    clock,
    redis,
    routes: seams.routes,
    documentation: agent.documentation,
    unsent: seams.unsent,
    domain: domain.door,
    agent: agent.door,
    sockets: agent.sockets,
    toolPages: await openToolPages({
      config,
      documents: stores.documents,
      oracleDid: oracleKeys[0].did,
      service: ussd,
      library: engine.library,
      refusedEdits: () => reloads.refused(),
      recorder,
      inspector: inspectorDoor,
      studio,
      operators,
      health,
      clocks,
      clock,
    }),
    query,
  });
  const metricsDoor = await openMetrics(config, metrics.render);
  defer(() => metricsDoor?.close(0));
  overload.begin();
  const connections = { ...app.connections, ...seams.connections };
  const door = await listen(app.listener, { host: config.host, port: config.port, connections });

  const clockWatch = watchClock(clock, (aheadMs) =>
    log.warn(
      { aheadSeconds: Math.round(aheadMs / 1_000) },
      'the clock was set on: what has expired by it since then is not removed for a day; check the time of this machine',
    ),
  );
  const sweeper = startSweeper([clockWatch, sweepSessions(engine), domain.sweep, agent.sweep], {
    clock,
    onProblem: (error) => {
      metrics.problem('sweep');
      log.error({ err: error }, 'background work failed');
    },
  });
  const watchedMenus = watchMenus({
    ...{ menus: menuFolder, library: engine.library, log, refused: listRefused(menus) },
    onProblem: () => metrics.problem('reload'),
    // An edited flow is served by every door.
    onServed: agent.add,
  });
  reloads.now = watchedMenus.reload;
  reloads.refused = watchedMenus.refused;
  observed.addMenus(watchedMenus);
  defer(watchedMenus.close);
  defer(sweeper.stop);
  await watchedMenus.ready;

  const stop = async (drainDelayMs: number) => {
    health.draining = true;
    if (drainDelayMs > 0) await clock.wait(drainDelayMs);
    const until = clock.monotonic() + SERVER_LIMITS.drainMs;
    domain.drain();
    inspector.drain();
    query?.drain();
    const answered = agent.drain(SERVER_LIMITS.drainMs);
    const lingerMs = drainDelayMs > 0 ? SERVER_LIMITS.lingerMs : 0;
    await Promise.all([door.close(SERVER_LIMITS.drainMs, lingerMs), answered]);
    // All answers are given; what goes on behind them (late calls) may still finish.
    const isIdle = new AbortController();
    await Promise.race([engine.idle(), clock.wait(Math.max(0, until - clock.monotonic()), isIdle.signal)]);
    isIdle.abort();
    await disposeAll();
  };
  let stopping: Promise<void> | undefined;
  return {
    url: door.url,
    metricsUrl: metricsDoor?.url,
    places,
    developmentKey: domain.keys.developmentKey,
    log,
    routes: app.routes,
    publicRoutes: agent.door.publicRoutes,
    refresh: watchedMenus.reload,
    close: ({ drainDelayMs = config.drainDelayMs } = {}) => {
      stopping ??= stop(drainDelayMs);
      return stopping;
    },
  };
}

// What it is made of takes a third of the time of a start, so it is loaded where it is asked for.
async function openQuery(
  config: Config,
  tools: Pick<GatewayOptions, 'log' | 'clock' | 'onProblem'>,
): Promise<QueryGateway | undefined> {
  const { gatewayFile: path, storeWaitMs: patienceMs } = config;
  if (path === undefined) return undefined;
  const { openGateway } = await import('../gateway/open.ts');
  return openGateway({ path, patienceMs, ...tools });
}
