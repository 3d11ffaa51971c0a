// What a server counts: its metrics, and the parts that are watched for them.

import type { RequestListener } from 'node:http';
import { pinVault } from '../../lib/account/pin.ts';
import { RUN } from '../../lib/agent/kinds.ts';
import type { Clock } from '../../lib/clock.ts';
import { DELIVERY, PROPOSAL } from '../../lib/domain/kinds.ts';
import type { Engine } from '../../lib/engine/engine.ts';
import type { Services } from '../../lib/engine/service.ts';
import { sessionKeys } from '../../lib/engine/sessions.ts';
import { nameSession, sessionSecret } from '../../lib/inspection/trace.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { KEY_PREFIX } from '../../lib/ussd/keys.ts';
import type { UssdTurn } from '../../lib/ussd/service.ts';
import type { Config } from '../config/config.ts';
import { IN_MEMORY } from '../config/data-dir.ts';
import { readVersion } from '../config/modules.ts';
import { type Listening, listen } from '../http/listen.ts';
import type { Overload } from '../http/overload.ts';
import type { MenuWatch } from '../menus/watch.ts';
import type { Log } from '../telemetry/log.ts';
import { counter, createMetrics, gauge, METRICS_TYPE, type Metrics } from '../telemetry/metrics.ts';
import { processMetrics, SESSIONS_COUNTED, type StoredCounts } from '../telemetry/process-metrics.ts';
import { serviceCalls, type TurnWatch, turnWatch } from '../telemetry/turn-watch.ts';

export interface Observed {
  readonly metrics: Metrics;
  onTurn(turn: UssdTurn): void;
  /** Sessions of phones that met a failure. */
  readonly failures: Pick<TurnWatch, 'fail' | 'trouble'>;
  /** The same services, counted. */
  watchServices(services: Services): Services;
  /** Counts what they keep, too. */
  addStores(engine: Engine, documents: DocumentStore): void;
  addMenus(menus: MenuWatch): void;
}

export interface ObserveOptions {
  readonly log: Log;
  readonly overload: Overload;
  readonly clock: Clock;
}

export function observe(config: Config, { log, overload, clock }: ObserveOptions): Observed {
  const metrics = createMetrics();
  metrics.add(() => [
    ...gauge('twinline_requests_in_flight', 'Requests in progress.', overload.inFlight),
    ...gauge('twinline_event_loop_delay_seconds', 'Event loop delay, 99th percentile.', overload.loopDelayMs / 1e3),
  ]);
  const secret = sessionSecret(config.keyring);
  const turns = turnWatch({
    log,
    clock,
    alias: pinVault(config).alias,
    nameSession: (key) => nameSession(secret, key),
  });
  const calls = serviceCalls();
  metrics.add(turns.metrics);
  metrics.add(calls.metrics);
  return {
    metrics,
    onTurn: turns.note,
    failures: turns,
    watchServices: calls.watch,
    addStores: (engine, documents) => {
      const countStored = () => countIn(engine, documents);
      const dataDir = config.dataDir === IN_MEMORY ? undefined : config.dataDir;
      metrics.add(processMetrics({ version: readVersion(), dataDir, clock, countStored }).metrics);
    },
    addMenus: (menus) => metrics.add(() => editLines(menus)),
  };
}

const ANY = { prefix: '' };

async function countIn(engine: Engine, documents: DocumentStore): Promise<StoredCounts> {
  const [keys, proposals, due, letters, runs] = await Promise.all([
    sessionKeys(engine, { prefix: KEY_PREFIX, limit: SESSIONS_COUNTED }),
    documents.count(PROPOSAL, { index: 'open', where: { openFor: ANY } }),
    documents.count(DELIVERY, { index: 'due', where: { dueAt: { gte: 0 } } }),
    documents.count(DELIVERY, { index: 'webhook', where: { webhook: ANY } }),
    documents.count(RUN, { index: 'open', where: { openFor: ANY } }),
  ]);
  // Letters are due when they expire.
  return { sessions: keys.length, proposals, deliveries: Math.max(0, due - letters), deadLetters: letters, runs };
}

function editLines({ edits, refused }: MenuWatch): string[] {
  const counts = Object.entries(edits).map(([outcome, count]) => [`outcome="${outcome}"`, count] as const);
  return [
    ...counter('twinline_menu_edits_total', 'Menu edits by result.', new Map(counts)),
    ...gauge('twinline_menu_problems', 'Problems that keep edited menus from being served.', refused().length),
  ];
}

/** Serves them on a port of their own; undefined where they have none. */
export async function openMetrics(
  { host, metricsPort: port }: Config,
  render: () => Promise<string>,
): Promise<Listening | undefined> {
  return port === undefined ? undefined : listen(plainMetrics(render), { host, port });
}

function plainMetrics(render: () => Promise<string>): RequestListener {
  return async (req, res) => {
    const isMetrics = req.url === '/metrics' && (req.method === 'GET' || req.method === 'HEAD');
    const text = isMetrics ? await render().catch(() => undefined) : 'Not found';
    const status = text === undefined ? 500 : isMetrics ? 200 : 404;
    res.writeHead(status, { 'Content-Type': status === 200 ? METRICS_TYPE : 'text/plain' });
    res.end(text ?? 'Internal error');
  };
}
