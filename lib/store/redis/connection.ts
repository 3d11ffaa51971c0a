// A Redis connection shared by everything on Redis: bounded waits, a single kind of error, no password in any message.

import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { TwinlineError } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import { STORE_LIMITS } from '../limits.ts';
import { openClient } from './client.ts';
import { describeReason, type RefusalOptions, readRefusal, redisRefusal } from './refusals.ts';
import { parseRedisUrl } from './url.ts';

/** Address and timeouts of a Redis connection. */
export interface RedisConnectionOptions {
  /**
   * One of
   * - `redis://[user:password@]host[:port][/database]`
   * - `redis+cluster://[user:password@]host:port,host:port`: some nodes of a Redis Cluster
   * - `redis+sentinel://[user:password@]host:port,host:port/master-name[/database]`: Sentinels and their master's name;
   *   user and password apply to Redis only, not to the Sentinels.
   *
   * Use `rediss` instead of `redis` for TLS; add certificates of a private CA with NODE_EXTRA_CA_CERTS.
   */
  readonly url: string;
  /** Timeout of a command, in milliseconds. @default STORE_LIMITS.redisCommandMs */
  readonly commandMs?: number;
  /** Timeout of a connection attempt, in milliseconds. @default STORE_LIMITS.redisConnectMs */
  readonly connectMs?: number;
  /** How long after opening commands wait for the first connection, in milliseconds. @default STORE_LIMITS.redisFirstConnectMs */
  readonly firstConnectMs?: number;
}

/** Runs a script with keys and arguments. Sends its hash, and the source when the server does not know it. */
export type RedisScript = (...keysAndArgs: readonly (string | number | Buffer)[]) => Promise<unknown>;

/** A connection that several stores share. */
export interface RedisConnection {
  /** The address for logs, with the password masked. */
  readonly name: string;
  readonly kind: 'single' | 'cluster' | 'sentinel';
  /** The ioredis client. Use it inside {@link run}, which waits for the first connection and converts errors to ERR_STORE. */
  readonly client: Redis | Cluster;
  /**
   * Runs `work` with the client. Until first connected, it waits up to `firstConnectMs` after opening; later, a disconnected
   * client fails immediately. Rejects with ERR_STORE: "cannot `action`: …". A command that timed out or lost its connection
   * may have been executed; nothing is ever sent twice.
   */
  run<T>(action: string, work: (client: Redis | Cluster) => Promise<T>): Promise<T>;
  /** Defines a Lua script with `keys` keys, which must share one hash tag; call it inside {@link run}. */
  script(lua: string, keys: number): RedisScript;
  /**
   * Another connection with the same settings, for subscribing or blocking, which monopolise a connection. `blockMs`: how
   * long its commands may block. Close it yourself.
   */
  duplicate(options?: { readonly blockMs?: number }): RedisConnection;
  /** The same connection for another user. It closes once all users have closed it. */
  share(): RedisConnection;
  /** Resolves when Redis (in a cluster: every master) answers, rejects with ERR_STORE when it does not. */
  ping(): Promise<void>;
  /** Lets running commands finish, then disconnects, at the latest after the command timeout. Never rejects. Idempotent. */
  close(): Promise<void>;
}

/** An address, see {@link connectRedis}, or a shared connection, which stays open. */
export type RedisAt = { readonly url: string } | { readonly connection: RedisConnection };

/** A connection for one user, who must close it. */
export function shareConnection(at: RedisAt): RedisConnection {
  return 'connection' in at ? at.connection.share() : connectRedis(at);
}

/**
 * Opens a connection; returns immediately, connects in the background and reconnects. Throws ERR_CONFIG for an invalid URL.
 * @example
 * const connection = connectRedis({ url: process.env.REDIS_URL! });
 * const [store, logs] = [redisSnapshots({ connection }), redisLogs({ connection })];
 * await store.ping();
 * connection.kind; // → 'single'
 * await Promise.all([store.close(), logs.close()]);
 * await connection.close();
 */
export function connectRedis(options: RedisConnectionOptions): RedisConnection {
  requireGiven('connect to Redis', options, { url: 'text' });
  const { url, commandMs = STORE_LIMITS.redisCommandMs, connectMs = STORE_LIMITS.redisConnectMs } = options;
  const { firstConnectMs = STORE_LIMITS.redisFirstConnectMs } = options;
  const address = parseRedisUrl(url);
  const { name, kind, password } = address;
  const client = openClient(address, { commandMs, connectMs });
  const refusal: RefusalOptions = { name, password };

  // Without listeners, ioredis prints or throws errors.
  const trouble = (error: unknown) => {
    refusal.lastTrouble = describeReason(error, password);
  };
  client.on('error', trouble);
  client.on('node error', trouble);

  const first = firstConnection(client, firstConnectMs);
  return connectionOn({
    client,
    kind,
    refusal,
    first,
    again: (blockMs) => connectRedis({ ...options, commandMs: commandMs + blockMs }),
    hangUp: async () => {
      first.giveUp();
      await disconnect(client);
    },
  });
}

interface Parts {
  readonly client: Redis | Cluster;
  readonly kind: RedisConnection['kind'];
  readonly refusal: RefusalOptions;
  readonly first: FirstConnection;
  again(blockMs: number): RedisConnection;
  hangUp(): Promise<void>;
}

function connectionOn(parts: Parts): RedisConnection {
  const { client, kind, refusal, first } = parts;
  let running = 0;
  let idle: (() => void) | undefined;
  let closing: Promise<void> | undefined;
  // Closing refuses callers that still wait for the first connection.
  let hurry = () => {};
  const hurried = new Promise<void>((resolve) => {
    hurry = resolve;
  });

  const gather = gatherWrites(client);

  // On the hot path of every turn: no more promises than necessary.
  function run<T>(action: string, work: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    if (closing) return Promise.reject(closedConnection(action, refusal.name));
    running++;
    gather();
    return (first.isOver() ? begin(work) : Promise.race([first.done, hurried]).then(() => begin(work))).then(
      leave,
      (error) => {
        leave(undefined);
        throw redisRefusal(action, error, refusal);
      },
    );
  }

  function begin<T>(work: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    try {
      return work(client);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  function leave<T>(result: T): T {
    if (--running === 0) idle?.();
    return result;
  }

  async function close(hangUp: () => Promise<void>): Promise<void> {
    hurry();
    if (running) await new Promise<void>((resolve) => (idle = resolve));
    await hangUp();
  }

  return {
    name: refusal.name,
    kind,
    client,
    run,
    script: (lua, keys) => scriptOn(client, { lua, keys }),
    duplicate: ({ blockMs = 0 } = {}) => parts.again(blockMs),
    share: () => connectionOn({ ...parts, hangUp: async () => {} }),
    ping: () => run('ping', pingAll),
    close: () => {
      closing ??= close(parts.hangUp);
      return closing;
    },
  };
}

// Batches all commands of one event-loop turn into one write. The system call is more than half of a command's CPU cost.
// ioredis's own pipelining is slower under light load; this is not.
function gatherWrites(client: Redis | Cluster): () => void {
  let gathering = false;
  return () => {
    if (gathering) return;
    gathering = true;
    const parts = 'nodes' in client ? client.nodes('master') : [client];
    const streams = parts.map(({ stream }) => stream).filter(Boolean);
    for (const stream of streams) stream.cork();
    process.nextTick(() => {
      gathering = false;
      for (const stream of streams) stream.uncork();
    });
  };
}

function closedConnection(action: string, name: string): TwinlineError {
  return new TwinlineError('ERR_STORE', `Redis ${name}: cannot ${action}: the connection is closed. Open it again.`, {
    reason: 'closed',
  });
}

// Avoids ioredis's `defineCommand`, which costs 10% of a turn.
function scriptOn(client: Redis | Cluster, { lua, keys }: { lua: string; keys: number }): RedisScript {
  const hash = createHash('sha1').update(lua).digest('hex');
  return (...keysAndArgs) =>
    client.evalsha(hash, keys, ...keysAndArgs).catch((error: Error) => {
      // The server was restarted or flushed; no part of the script has run.
      if (readRefusal(error).decision === 'send-source') return client.eval(lua, keys, ...keysAndArgs);
      throw error;
    });
}

async function pingAll(client: Redis | Cluster): Promise<void> {
  if (!('nodes' in client)) return void (await client.ping());
  const masters = client.nodes('master');
  if (!masters.length) throw new Error("Cluster isn't ready");
  await Promise.all(masters.map((node) => node.ping()));
}

interface FirstConnection {
  /** Resolves once the client has connected, or was given up. */
  readonly done: Promise<void>;
  isOver(): boolean;
  giveUp(): void;
}

function firstConnection(client: Redis | Cluster, withinMs: number): FirstConnection {
  let isOver = false;
  let resolveDone = () => {};
  const done = new Promise<void>((resolve) => {
    resolveDone = resolve;
  });
  const giveUp = () => {
    isOver = true;
    clearTimeout(timer);
    client.off('ready', ready);
    client.off('error', onError);
    resolveDone();
  };
  const ready = () => ('nodes' in client ? connectNodes(client).then(giveUp) : giveUp());
  const onError = (error: Error) => {
    // Rights, too, do not come by waiting.
    if (/^(check-login|do-without)$/.test(readRefusal(error).decision)) giveUp();
  };
  const timer = setTimeout(giveUp, withinMs).unref();
  client.once('ready', ready);
  client.on('error', onError);
  return { done, isOver: () => isOver, giveUp };
}

// Otherwise the first command to a node opens its connection, and commands within the next millisecond are refused.
async function connectNodes(cluster: Cluster): Promise<void> {
  const connect = (node: Redis) => (node.status === 'wait' ? node.connect().catch(() => {}) : undefined);
  const again = (node: Redis) => void (cluster.status === 'ready' && connect(node));
  cluster.on('+node', again);
  cluster.on('ready', () => cluster.nodes().forEach(again));
  await Promise.all(cluster.nodes().map(connect));
}

async function disconnect(client: Redis | Cluster): Promise<void> {
  const parts = 'nodes' in client ? [...client.nodes(), client] : [client];
  const ends = parts.filter(({ status }) => status !== 'end').map((part) => waitForEnd(part));
  client.disconnect();
  await Promise.all(ends);
}

// Bounded, because a client that is still connecting ends only when that attempt does.
function waitForEnd(client: Redis | Cluster): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, STORE_LIMITS.redisDisconnectMs * 2);
    client.once('end', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
