// How we talk to Redis: neither waiting without end nor sending a command twice; and what its refusals become.

import { Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { TwinlineError } from '../../errors.ts';
import { redactor } from '../../redact.ts';
import { retryDelay } from '../../retry.ts';
import { STORE_LIMITS } from '../limits.ts';
import type { RedisAddress } from './url.ts';

export interface RedisTimes {
  /** Milliseconds that one command may take. */
  readonly commandMs: number;
  /** Milliseconds that one attempt to connect may take. */
  readonly connectMs: number;
}

// Maps come as lists and doubles as text, with either protocol of the server.
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

const REASON_CHARS = 200;

/** First match wins: how the refusal begins → what to do. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^WRONGTYPE/, 'Something else is stored under our keys: use another database or prefix.'],
  [/^OOM/, 'Redis is full: raise maxmemory or add nodes; maxmemory-policy must be noeviction.'],
  [/^READONLY/, 'This server is a replica: the address must lead to the master. We connect again.'],
  [/^(MOVED|ASK|CROSSSLOT)/, 'This is a cluster: write its address as redis+cluster://host:port,host:port.'],
  [/^(CLUSTERDOWN|TRYAGAIN|Too many Cluster)/, 'The cluster is not whole: see redis-cli cluster info.'],
  [/^MASTERDOWN/, 'The replica has lost its master: see redis-cli info replication.'],
  [/^(NOAUTH|WRONGPASS|ERR AUTH|ERR invalid password)/, 'Check the user and the password in the URL.'],
  [/^NOPERM/, 'The user of the URL may not do this: extend its rights with ACL SETUSER.'],
  [/^(LOADING|BUSY)/, 'Redis is busy: it loads its data or runs a long script. Try again.'],
  [/^(MISCONF|NOREPLICAS)/, 'Redis takes no writes: see its log, and min-replicas-to-write.'],
  [/^ERR max number of clients/, 'Raise maxclients, or run fewer instances.'],
  [/timed out/, 'It may have been done nevertheless. See whether Redis is overloaded or unreachable.'],
  [/^(Connection|Reached the max|Command aborted|Socket)/, 'The connection broke; it may have been done nevertheless.'],
  [/^All sentinels/, 'No Sentinel answers: check their addresses and that they run.'],
  [/^unknown command|^ERR unknown command/, 'Redis 6.2 or newer is needed.'],
];
const NOT_CONNECTED = /^Stream isn't writeable|^Cluster isn't ready|^Connection is closed|^None of startup nodes/;

export interface RefusalOptions {
  /** The address, without the password. */
  readonly name: string;
  /** Never to be shown. */
  readonly password?: string | undefined;
  /** What the client said last about its connection. */
  lastTrouble?: string;
}

/** The error for an `action` that Redis or the client refused. Holds nothing of what was sent. */
export function redisRefusal(action: string, error: unknown, options: RefusalOptions): TwinlineError {
  if (error instanceof TwinlineError) return error;
  const said = describeReason(error, options.password);
  const away = NOT_CONNECTED.test(said);
  const reason = away ? `not connected${options.lastTrouble ? ` (${options.lastTrouble})` : ''}` : said;
  const remedy = away
    ? (remedyFor(options.lastTrouble) ?? 'See whether it runs there; we keep trying.')
    : remedyFor(said);
  return new TwinlineError(
    'ERR_STORE',
    `Redis ${options.name}: cannot ${action}: ${reason}. ${remedy ?? 'Try again.'}`,
  );
}

/**
 * What an error of the client says, in short. Not the error itself: it carries the command with all its arguments, and
 * Redis quotes arguments of commands that it does not know.
 */
export function describeReason(error: unknown, password: string | undefined): string {
  const { message = String(error), lastNodeError } = error as Error & { lastNodeError?: Error };
  const whole = lastNodeError ? `${message} Last: ${lastNodeError.message}` : message;
  // Before it is cut: half a password is one, too.
  return redactor([password])
    .text(whole)
    .split(/,? with args/)[0]!
    .split('\n')[0]!
    .slice(0, REASON_CHARS)
    .replace(/\.$/, '');
}

function remedyFor(said = ''): string | undefined {
  return REMEDIES.find(([form]) => form.test(said))?.[1];
}
