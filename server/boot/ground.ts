// The foundation of a server: log, metrics, inspector, keys and telecom adapters.

import type { DestinationStream } from 'pino';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { type OracleKey, parseOracleKey } from '../../lib/delegation/oracle-key.ts';
import type { Disposables } from '../../lib/disposables.ts';
import type { SenderOptions } from '../../lib/http/client.ts';
import type { Adapter } from '../../lib/ussd/adapter.ts';
import type { Config } from '../config/config.ts';
import type { ConnectionRules } from '../http/connections.ts';
import { type Overload, type OverloadLimits, overloadWatch } from '../http/overload.ts';
import { checkGivenStores, type GivenStores } from '../stores/given.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import { loadAdapters } from '../ussd/adapters.ts';
import { createInspector } from '../web/inspector/open.ts';
import { serviceRecorder } from '../web/simulator/flow-test.ts';
import type { AppDeps } from './app.ts';
import type { HostOptions } from './host.ts';
import { observe } from './observe.ts';
import type { ServerParts } from './running-server.ts';

/** Where tests replace parts of the server. */
export interface Seams {
  readonly parts?: ServerParts;
  readonly stores?: HostOptions['stores'];
  readonly log?: DestinationStream;
  readonly routes?: AppDeps['routes'];
  readonly overload?: OverloadLimits;
  readonly webhookSender?: SenderOptions;
  readonly connections?: ConnectionRules;
  readonly unsent?: AppDeps['unsent'];
  /** The clock of the server and its stores. @default the system clock */
  readonly clock?: Clock;
}

export interface Ground {
  readonly log: Log;
  readonly clock: Clock;
  readonly parts: Omit<ServerParts, 'stores'> & { readonly stores: GivenStores };
  /** The first key signs. */
  readonly oracleKeys: readonly [OracleKey, ...OracleKey[]];
  readonly overload: Overload;
  readonly observed: ReturnType<typeof observe>;
  readonly inspector: ReturnType<typeof createInspector>;
  /** Receives inspection events; undefined when nobody can open the operator pages. */
  readonly hub: ReturnType<typeof createInspector>['hub'] | undefined;
  readonly recorder: ReturnType<typeof serviceRecorder>;
  readonly adapters: Readonly<Record<string, Adapter>>;
}

/** Throws ERR_CONFIG for an invalid key, part or adapter. */
export async function openGround(config: Config, seams: Seams, { defer }: Disposables): Promise<Ground> {
  const log = createLog(config, seams.log);
  const { parts = {}, clock = systemClock } = seams;
  const oracleKeys = [parseOracleKey(config.oracleKey), ...config.olderOracleKeys.map(parseOracleKey)] as const;
  const stores = checkGivenStores(parts.stores ?? {});
  const overload = overloadWatch(log, seams.overload);
  defer(overload.stop);
  const observed = observe(config, { log, overload, clock });
  const { metrics } = observed;
  const onUnseen = (error: unknown) => {
    metrics.problem('background');
    log.error({ err: error }, 'the inspector does not show everything');
  };
  const inspector = createInspector({ keyring: config.keyring, clock, onProblem: onUnseen });
  defer(inspector.close);
  const adapters = await loadAdapters(config.ussd, {
    folder: process.cwd(),
    given: parts.adapters,
    onProblem: (error, dialect) => {
      metrics.problem('ussd');
      log.error({ err: error, dialect }, 'an adapter failed: the caller is told that the input is invalid');
    },
  });
  // Record nothing for operator pages that nobody can open.
  const isOperated = !config.production || config.operatorTokens.length > 0;
  const hub = isOperated ? inspector.hub : undefined;
  const ground = { log, clock, oracleKeys, overload, observed, inspector, hub, recorder: serviceRecorder(), adapters };
  return { ...ground, parts: { ...parts, stores } };
}
