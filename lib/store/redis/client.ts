// Redis client settings: no unbounded waits, and no command sent twice.

import { Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { retryDelay } from '../../retry.ts';
import { STORE_LIMITS } from '../limits.ts';
import { readRefusal } from './refusals.ts';
import type { RedisAddress } from './url.ts';

export interface RedisTimes {
  /** Timeout of a command, in milliseconds. */
  readonly commandMs: number;
  /** Timeout of a connection attempt, in milliseconds. */
  readonly connectMs: number;
}

// Receive maps as lists and doubles as text, whichever protocol the server speaks.
type Options = RedisOptions & { readonly replyMapping: 'legacy' };

/** Creates a client, which starts connecting immediately. */
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
    // A peer that vanished silently: commands get no reply, and nothing else reveals it.
    socketTimeout: times.commandMs * 3,
    keepAlive: STORE_LIMITS.redisKeepAliveMs,
    enableOfflineQueue: false,
    // A command that was sent but not answered may have been executed.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    maxLoadingRetryTime: STORE_LIMITS.redisBackoffMaxMs,
    retryStrategy: backoff,
    // The master became a replica: the address may lead to the new master by now.
    reconnectOnError: kind === 'cluster' ? null : (error) => readRefusal(error).decision === 'reconnect',
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
    // Otherwise a command whose connection broke would be sent again, even if it was executed.
    retryDelayOnFailover: 0,
    // Certificates are issued for host names, not for addresses.
    ...(tls && { dnsLookup: (host, callback) => callback(null, host) }),
  } satisfies ClusterOptions;
}

/** Delay before the next connection attempt: 50 ms, doubled each time up to a maximum, with up to half subtracted at random. */
export function backoff(times: number): number {
  return retryDelay(times, { firstMs: 50, maxMs: STORE_LIMITS.redisBackoffMaxMs, jitter: 0.5 });
}
