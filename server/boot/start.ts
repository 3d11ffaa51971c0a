// Builds a server from a configuration (engine, doors, background work) and closes it in order.

import { type Disposables, openWithDisposables } from '../../lib/disposables.ts';
import type { Config } from '../config/config.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { checkNamed } from '../doctor/named.ts';
import { type ClockWatch, watchClocks } from '../health/clock-watch.ts';
import { type Health, storeMetrics, watchHealth } from '../health/health.ts';
import { listWatched } from '../health/write-watch.ts';
import { listen } from '../http/listen.ts';
import { type OperatorRule, operatorRule } from '../http/middleware/operator.ts';
import { lintDoors, listRefused } from '../menus/menus.ts';
import { watchMenus } from '../menus/watch.ts';
import { ussdGateways } from '../ussd/gateways.ts';
import { operatorNotes } from '../ussd/operator-routes.ts';
import { openStudio } from '../web/studio/open.ts';
import { openToolPages } from '../web/tools.ts';
import { type App, createApp } from './app.ts';
import { type DoorServices, openDoorServices } from './door-services.ts';
import { type Ground, openGround, type Seams } from './ground.ts';
import { type Host, openHost } from './host.ts';
import { logOpened, logPublicRoutes, storeHealthLogger, warnAtStart, warnOfPassedOver } from './notices.ts';
import { openMetrics } from './observe.ts';
import type { RunningServer } from './running-server.ts';
import { startSweeper, sweepMemories, sweepSessions, watchClock } from './sweeper.ts';

export type { RunningServer, Seams };

/** Starts a server. Throws ERR_CONFIG, ERR_FLOW_INVALID, ERR_FLOW_UNKNOWN or ERR_STORE; then nothing is left open. */
export function startServer(config: Config, seams: Seams = {}): Promise<RunningServer> {
  return openWithDisposables((ends) => start(config, seams, ends));
}

/** The parts that the application and the background work need. */
interface Opened {
  readonly config: Config;
  readonly seams: Seams;
  readonly ground: Ground;
  readonly host: Host;
  readonly services: DoorServices;
  readonly operators: OperatorRule;
  readonly health: Health;
  readonly clocks: ClockWatch;
}

/** Reloading menus; set once the folder is watched, after everything else has started. */
interface Reloads {
  now: () => Promise<void>;
  refused: () => readonly string[];
}

async function start(config: Config, seams: Seams, ends: Disposables): Promise<RunningServer> {
  const { defer } = ends;
  await checkNamed(config, seams);
  const ground = await openGround(config, seams, ends);
  const { log, clock } = ground;
  const { metrics } = ground.observed;
  const host = await openGroundedHost(config, seams, ground);
  defer(host.close);
  const { stores, places, redis } = host;
  if (redis && ground.hub) await ground.inspector.join(redis);
  logOpened(config, host, log);
  warnAtStart(config, log);
  await warnOfPassedOver(config, stores, log);
  const clocks = watchClocks(host.clocks, { clock, log });
  defer(clocks.stop);
  metrics.add(clocks.metrics);
  const health = watchHealth(listWatched(stores), { clock, onChange: storeHealthLogger(log) });
  metrics.add(async () => storeMetrics(await health.judgeStores()));

  const operators = operatorRule(config, { log, clock });
  const services = await openDoorServices(config, { ground, host, operators, sender: seams.webhookSender }, ends);
  const { domain, agent } = services;
  logPublicRoutes(agent.door.publicRoutes, log, config);
  const reloads: Reloads = { now: async () => {}, refused: () => [] };
  const opened = { config, seams, ground, host, services, operators, health, clocks };
  const app = await openApp(opened, reloads, ends);
  const metricsDoor = await openMetrics(config, metrics.render);
  defer(() => metricsDoor?.close(0));
  ground.overload.begin();
  const connections = { ...app.connections, ...seams.connections };
  const door = await listen(app.listener, { host: config.host, port: config.port, connections });
  await startBackground(opened, reloads, ends);

  const stop = stopper(opened, { door, disposeAll: ends.disposeAll });
  let stopping: Promise<void> | undefined;
  return {
    url: door.url,
    metricsUrl: metricsDoor?.url,
    places,
    developmentKey: domain.keys.developmentKey,
    log,
    routes: app.routes,
    publicRoutes: agent.door.publicRoutes,
    refresh: reloads.now,
    close: ({ drainDelayMs = config.drainDelayMs } = {}) => {
      stopping ??= stop(drainDelayMs);
      return stopping;
    },
  };
}

function openGroundedHost(config: Config, seams: Seams, ground: Ground): Promise<Host> {
  const { adapters, parts, clock, log, observed, hub, recorder } = ground;
  const { metrics } = observed;
  return openHost(config, {
    ...{ dialects: Object.keys(adapters), parts, clock, log, stores: seams.stores, inspector: hub },
    ...{ onProblem: metrics.problem, onTurn: observed.onTurn, onFailure: observed.failures.fail },
    services: (services) => observed.watchServices(hub ? recorder.watch(services) : services),
    onCrowded: () => metrics.refused('sessions'),
  });
}

/** Opens the studio, the other operator pages, and the application. */
async function openApp(opened: Opened, reloads: Reloads, { defer }: Disposables): Promise<App> {
  const { config, seams, ground, host, services, operators, health, clocks } = opened;
  const { log, clock, adapters, recorder, overload } = ground;
  const { metrics } = ground.observed;
  const { engine, ussd, audit, stores } = host;
  const { documents } = stores;
  const { domain, agent, query } = services;
  const inspector = ground.inspector.open({
    ...{ engine, audit, dialled: host.dialled, trouble: ground.observed.failures.trouble },
    aliases: host.aliases,
  });
  const studio = config.studio
    ? await openStudio({
        ...{ home: host.menuHome, dialled: host.dialled, library: engine.library },
        ...{ documents, clock, drawings: inspector.drawings, services: host.services, recorder },
        contracts: host.menuFolder.contracts,
        reload: () => reloads.now(),
        note: async (action, by, details) => void (await audit.append({ action, by, details })),
        savesDrafts: config.studioSavesDrafts,
        ...{ chatFlow: config.agent.flow, keyring: config.keyring, publicUrl: config.publicUrl },
        callsServices: !config.production,
        doors: lintDoors(config, host.dialled),
      })
    : undefined;
  if (studio) defer(studio.close);
  return createApp({
    ...{ config, ussd, operators, adapters, health, overload, metrics, log, clock, query },
    gateways: ussdGateways(config.ussd.gateways, { dialects: Object.keys(adapters), clock }),
    desk: host.desk,
    usage: host.usage,
    callbacks: { engine, contracts: host.menuFolder.contracts ?? {}, log },
    notes: config.operatorTokens.length ? operatorNotes(host) : undefined,
    redis: host.redis,
    routes: seams.routes,
    documentation: agent.documentation,
    unsent: seams.unsent,
    domain: domain.door,
    agent: agent.door,
    sockets: agent.sockets,
    toolPages: await openToolPages({
      ...{ config, documents, recorder, inspector, studio, operators, health, clocks, clock },
      oracleDid: ground.oracleKeys[0].did,
      service: ussd,
      library: engine.library,
      dialled: host.dialled,
      menus: host.menuFolder,
      usage: host.usage,
      refusedEdits: () => reloads.refused(),
    }),
  });
}

/** Starts the sweeper and the watch on menus. */
async function startBackground(
  { ground, host, services }: Opened,
  reloads: Reloads,
  { defer }: Disposables,
): Promise<void> {
  const { log, clock, observed } = ground;
  const { engine, menuFolder, menus } = host;
  const { domain, agent } = services;
  const clockWatch = watchClock(clock, (aheadMs) =>
    log.warn(
      { aheadSeconds: Math.round(aheadMs / 1_000) },
      'the clock was set on: what has expired by it since then is not removed for a day; check the time of this machine',
    ),
  );
  const memories = sweepMemories(host.memory, engine.clock);
  const sweeper = startSweeper([clockWatch, sweepSessions(engine), memories, domain.sweep, agent.sweep], {
    clock,
    onProblem: (error) => {
      observed.metrics.problem('sweep');
      log.error({ err: error }, 'background work failed');
    },
  });
  const watchedMenus = watchMenus({
    ...{ menus: menuFolder, library: engine.library, log, dialled: host.dialled, refused: listRefused(menus) },
    onProblem: () => observed.metrics.problem('reload'),
    // All doors serve an edited flow.
    onServed: agent.add,
  });
  reloads.now = watchedMenus.reload;
  reloads.refused = watchedMenus.refused;
  observed.addMenus(watchedMenus);
  defer(watchedMenus.close);
  defer(sweeper.stop);
  await watchedMenus.ready;
}

interface StopperOptions extends Pick<Disposables, 'disposeAll'> {
  readonly door: Awaited<ReturnType<typeof listen>>;
}

/** Shuts down in order: stop intake, finish work in progress, close the parts. */
function stopper({ ground, host, services, health }: Opened, { door, disposeAll }: StopperOptions) {
  const { clock, inspector } = ground;
  const { domain, agent, query } = services;
  return async (drainDelayMs: number): Promise<void> => {
    health.draining = true;
    if (drainDelayMs > 0) await clock.wait(drainDelayMs);
    const until = clock.monotonic() + SERVER_LIMITS.drainMs;
    domain.drain();
    inspector.drain();
    query?.drain();
    const answered = agent.drain(SERVER_LIMITS.drainMs);
    const lingerMs = drainDelayMs > 0 ? SERVER_LIMITS.lingerMs : 0;
    await Promise.all([door.close(SERVER_LIMITS.drainMs, lingerMs), answered]);
    // All requests are answered; late calls may still finish.
    const isIdle = new AbortController();
    await Promise.race([host.engine.idle(), clock.wait(Math.max(0, until - clock.monotonic()), isIdle.signal)]);
    isIdle.abort();
    await disposeAll();
  };
}
