// Redis client settings: no unbounded waits, and no command sent twice. Also translates errors.

import { Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { TwinlineError } from '../../errors.ts';
import { redactor } from '../../redact.ts';
import { retryDelay } from '../../retry.ts';
import { STORE_LIMITS } from '../limits.ts';
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

const REASON_CHARS = 200;

/** The first match wins: start of the error message → advice. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^WRONGTYPE/, 'Other data is stored under our keys: use another database or prefix.'],
  [/^OOM/, 'Redis is full: raise maxmemory or add nodes; maxmemory-policy must be noeviction.'],
  [/^READONLY/, 'This server is a replica: the address must lead to the master. Reconnecting.'],
  [/^(MOVED|ASK|CROSSSLOT)/, 'This is a cluster: write its address as redis+cluster://host:port,host:port.'],
  [/^(CLUSTERDOWN|TRYAGAIN|Too many Cluster)/, 'The cluster is incomplete: see redis-cli cluster info.'],
  [/^MASTERDOWN/, 'The replica has lost its master: see redis-cli info replication.'],
  [/^(NOAUTH|WRONGPASS|ERR AUTH|ERR invalid password)/, 'Check the user and the password in the URL.'],
  [/^NOPERM/, 'The user in the URL lacks permission: extend its rights with ACL SETUSER.'],
  [/^(LOADING|BUSY)/, 'Redis is busy loading its data or running a long script. Try again.'],
  [/^(MISCONF|NOREPLICAS)/, 'Redis refuses writes: see its log, and min-replicas-to-write.'],
  [/^ERR max number of clients/, 'Raise maxclients, or run fewer instances.'],
  [/timed out/, 'It may still have been executed. Check whether Redis is overloaded or unreachable.'],
  [/^(Connection|Reached the max|Command aborted|Socket)/, 'The connection broke; it may still have been executed.'],
  [/^All sentinels/, 'No Sentinel answers: check that they are running, and their addresses.'],
  [/^unknown command|^ERR unknown command/, 'Redis 6.2 or newer is required.'],
];
const NOT_CONNECTED = /^Stream isn't writeable|^Cluster isn't ready|^Connection is closed|^None of startup nodes/;

export interface RefusalOptions {
  /** The address, without the password. */
  readonly name: string;
  /** Masked in every message. */
  readonly password?: string | undefined;
  /** The client's last connection error. */
  lastTrouble?: string;
}

/** The error for an `action` that Redis or the client refused. Contains no data that was sent. */
export function redisRefusal(action: string, error: unknown, options: RefusalOptions): TwinlineError {
  if (error instanceof TwinlineError) return error;
  const message = describeReason(error, options.password);
  const away = NOT_CONNECTED.test(message);
  const reason = away ? `not connected${options.lastTrouble ? ` (${options.lastTrouble})` : ''}` : message;
  const remedy = away
    ? (remedyFor(options.lastTrouble) ?? 'Check that it is running there; we keep retrying.')
    : remedyFor(message);
  return new TwinlineError(
    'ERR_STORE',
    `Redis ${options.name}: cannot ${action}: ${reason}. ${remedy ?? 'Try again.'}`,
  );
}

/**
 * A short description of a client error. The error itself is not passed on: it carries the command with all its arguments,
 * and Redis quotes the arguments of unknown commands.
 */
export function describeReason(error: unknown, password: string | undefined): string {
  const { message = String(error), lastNodeError } = error as Error & { lastNodeError?: Error };
  const whole = lastNodeError ? `${message} Last: ${lastNodeError.message}` : message;
  // Mask before cutting, because half a password is still a secret.
  return redactor([password])
    .text(whole)
    .split(/,? with args/)[0]!
    .split('\n')[0]!
    .slice(0, REASON_CHARS)
    .replace(/\.$/, '');
}

function remedyFor(message = ''): string | undefined {
  return REMEDIES.find(([form]) => form.test(message))?.[1];
}
