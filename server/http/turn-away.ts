// Requests and connections that are refused before a door reads them: the limits, and how refusals are counted and logged.

import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import type { Config } from '../config/config.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import type { Log } from '../health/log.ts';
import type { Metrics } from '../health/metrics.ts';
import type { ConnectionOptions, CutReason } from './connections.ts';
import { type ReadClient, UNCOUNTED } from './middleware/client.ts';
import { type ClientLimiter, type Limiter, type LimiterOptions, rateLimiter } from './middleware/rate-limit.ts';
import { sharedRateLimiter } from './middleware/shared-rate-limit.ts';
import type { Overload } from './overload/watch.ts';

export interface TurnAwayDeps {
  readonly config: Pick<Config, 'rateLimit'>;
  readonly overload: Pick<Overload, 'isOver' | 'inFlight'>;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Where instances count requests together; without it each counts for itself. */
  readonly redis?: RedisConnection | undefined;
}

/** The limit for all doors: one count per client. */
export function openLimiter(deps: TurnAwayDeps): ClientLimiter {
  const { rateLimit } = deps.config;
  const limit = plainLimiter(deps, rateLimit);
  const limitNetwork = plainLimiter(deps, { ...rateLimit, max: rateLimit.max * SERVER_LIMITS.networkShare });
  return async (bucket, network) => {
    if (bucket === UNCOUNTED) return 0;
    const seconds = (await limit(bucket)) || (network === undefined ? 0 : await limitNetwork(network));
    if (seconds > 0) deps.metrics.refused(isCaller(bucket) ? 'phone' : 'address');
    return seconds;
  };
}

// A notice that a session has ended may name no phone.
const isCaller = (bucket: string) => bucket.startsWith('phone ') || bucket.startsWith('session ');

/** The same for dials; an address that is refused is told to the log, for it may be that of a telecom gateway. */
export function dialLimiter(limiter: ClientLimiter, log: Log): ClientLimiter {
  const fix = 'If this is your telecom gateway, list it in RATE_LIMIT_EXEMPT: its callers are then limited one by one.';
  const tell = callRarely((address: string, times) =>
    log.warn({ address, times }, `dials are refused: too many requests from one address. ${fix}`),
  );
  return async (bucket, network) => {
    const seconds = await limiter(bucket, network);
    if (seconds > 0 && !isCaller(bucket)) tell(bucket);
    return seconds;
  };
}

/** The overload check; it also counts the requests that it refuses, and tells the log now and then: a line for each is work too. */
export function countedOverload({ overload, metrics, log }: TurnAwayDeps): Pick<Overload, 'isOver'> {
  const tell = callRarely((inFlight: number, times) =>
    log.warn({ inFlight, times }, 'requests are turned away: there is more to do than this server can'),
  );
  return {
    isOver: (req) => {
      if (!overload.isOver(req)) return false;
      metrics.refused('overload');
      tell(overload.inFlight);
      return true;
    },
  };
}

/** The rules for connections: known proxies and gateways may have any number. */
export function connectionOptions({ metrics, log }: TurnAwayDeps, readClient: ReadClient): ConnectionOptions {
  const logCrowd = callRarely((address: string, times) =>
    log.warn(
      { address, times },
      'connections are refused: this address has too many. A proxy belongs into TRUST_PROXY_CIDRS',
    ),
  );
  const logCut = callRarely((reason: CutReason, times) =>
    log.warn(
      { reason, times },
      'connections are cut: their clients do not read the answers, or do not send what they began',
    ),
  );
  return {
    countedAs: (socket: Socket) => {
      const { bucket, exempt, proxy } = readClient({ socket, headers: {} });
      return exempt || proxy || bucket === UNCOUNTED ? undefined : bucket;
    },
    onRefused: (address) => {
      metrics.refused('connections');
      logCrowd(address);
    },
    onCut: (reason) => {
      metrics.cut(reason);
      logCut(reason);
    },
  };
}

function plainLimiter({ redis, metrics, log }: TurnAwayDeps, limits: LimiterOptions): Limiter {
  const local = rateLimiter(limits);
  if (!redis) return local;
  const onAway = (error: unknown) => {
    metrics.problem('rate-limit');
    log.warn({ err: error }, 'requests are counted by this instance alone while Redis is away');
  };
  const onBack = () => log.info('requests are counted in Redis again');
  return sharedRateLimiter({ ...limits, redis, local, onAway, onBack });
}

const PAUSE_MS = 60_000;

/** Calls `tell` with the first of what happens, and then at most once a minute; `times`: how often it happened since. */
export function callRarely<T>(
  tell: (what: T, times: number) => void,
  clock: Pick<Clock, 'monotonic'> = systemClock,
): (what: T) => void {
  let toldAt: number | undefined;
  let times = 0;
  return (what) => {
    times++;
    const now = clock.monotonic();
    if (toldAt !== undefined && now - toldAt < PAUSE_MS) return;
    tell(what, times);
    toldAt = now;
    times = 0;
  };
}
