// How we talk to Redis: neither waiting without end nor sending a command twice.

import { Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { retryDelay } from '../../retry.ts';
import { STORE_LIMITS } from '../limits.ts';
import type { RedisAddress } from './url.ts';

export interface RedisTimes {
  /** Milliseconds that one command may take. */
  readonly commandMs: number;
  /** Milliseconds that one attempt to connect may take. */
  readonly connectMs: number;
}

// Maps come as lists and doubles as text, whatever protocol the server speaks.
type Options = RedisOptions & { readonly replyMapping: 'legacy' };

/** A client that begins to connect at once. */
export function openClient(address: RedisAddress, times: RedisTimes): Redis | Cluster {
  const { nodes, kind } = address;
  const options = redisOptions(address, times);
  if (kind === 'cluster') return new Cluster(nodes as ClusterNode[], clusterOptions(address, { options, times }));
  if (kind === 'sentinel') return new Redis({ ...options, ...sentinelOptions(address, times) });
  return new Redis({ ...options, ...nodes[0]! });
}

function redisOptions({ user, password, db, tls, kind }: RedisAddress, times: RedisTimes): Options {
  return {
    replyMapping: 'legacy',
    ...(user !== undefined && { username: user }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
    db,
    connectionName: 'twinline',
    disableClientInfo: true,
    commandTimeout: times.commandMs,
    connectTimeout: times.connectMs,
    disconnectTimeout: STORE_LIMITS.redisDisconnectMs,
    // A peer that went away without a word: what is asked gets no answer, and no other sign ever comes.
    socketTimeout: times.commandMs * 3,
    keepAlive: STORE_LIMITS.redisKeepAliveMs,
    enableOfflineQueue: false,
    // What was sent and not answered may have been done.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    maxLoadingRetryTime: STORE_LIMITS.redisBackoffMaxMs,
    retryStrategy: backoff,
    // A master that became a replica: its address may lead to the new master by now.
    reconnectOnError: kind === 'cluster' ? null : (error) => error.message.startsWith('READONLY'),
  };
}

function sentinelOptions({ nodes, master, tls }: RedisAddress, { commandMs }: RedisTimes) {
  return {
    sentinels: [...nodes],
    name: master!,
    sentinelCommandTimeout: commandMs,
    sentinelRetryStrategy: backoff,
    ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  } satisfies RedisOptions;
}

interface ClusterParts {
  readonly options: Options;
  readonly times: RedisTimes;
}

function clusterOptions({ tls }: RedisAddress, { options, times }: ClusterParts) {
  const { retryStrategy: _, enableOfflineQueue, ...redisOptions } = options;
  return {
    redisOptions,
    enableOfflineQueue: enableOfflineQueue!,
    clusterRetryStrategy: backoff,
    slotsRefreshTimeout: times.commandMs,
    slotsRefreshInterval: STORE_LIMITS.redisSlotsRefreshMs,
    // A command whose connection broke would be sent again, done or not.
    retryDelayOnFailover: 0,
    // Certificates are for names, not for the addresses behind them.
    ...(tls && { dnsLookup: (host, done) => done(null, host) }),
  } satisfies ClusterOptions;
}

/** Milliseconds before the next attempt to connect: 50, doubled each time up to a bound, less up to a half by chance. */
export function backoff(times: number): number {
  return retryDelay(times, { firstMs: 50, maxMs: STORE_LIMITS.redisBackoffMaxMs, jitter: 0.5 });
}
