// A connection to Redis that everything on Redis shares: bounded waits, one kind of error, no password in any text.

import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { TwinlineError } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import { STORE_LIMITS } from '../limits.ts';
import { describeReason, openClient, type RefusalOptions, redisRefusal } from './client.ts';
import { parseRedisUrl } from './url.ts';

/** Which Redis, and how long it may take to answer. */
export interface RedisConnectionOptions {
  /**
   * One of
   * - `redis://[user:password@]host[:port][/database]`
   * - `redis+cluster://[user:password@]host:port,host:port`: some nodes of a Redis Cluster
   * - `redis+sentinel://[user:password@]host:port,host:port/master-name[/database]`: Sentinels and their master's name;
   *   user and password are those of Redis, the Sentinels are asked without.
   *
   * `rediss` in the place of `redis` is TLS; certificates of an own authority: NODE_EXTRA_CA_CERTS.
   */
  readonly url: string;
  /** Milliseconds until an unanswered command is refused. @default STORE_LIMITS.redisCommandMs */
  readonly commandMs?: number;
  /** Milliseconds for one attempt to connect. @default STORE_LIMITS.redisConnectMs */
  readonly connectMs?: number;
  /** Milliseconds after opening that commands wait for the first connection. @default STORE_LIMITS.redisFirstConnectMs */
  readonly firstConnectMs?: number;
}

/** A script with its keys and arguments; sent as its hash, and whole when the server does not know it. */
export type RedisScript = (...keysAndArgs: readonly (string | number | Buffer)[]) => Promise<unknown>;

/** A connection that several stores share. */
export interface RedisConnection {
  /** The address for logs, its password masked. */
  readonly name: string;
  readonly kind: 'single' | 'cluster' | 'sentinel';
  /** The ioredis client. Use it inside {@link run}, which waits for the first connection and makes ERR_STORE of errors. */
  readonly client: Redis | Cluster;
  /**
   * Does `work` with the client. Until the first connection stands it waits, up to `firstConnectMs` after opening;
   * later, a client that is not connected refuses at once. Rejects with ERR_STORE: "cannot `action`: …". What
   * timed out or lost its connection may have been done nevertheless; nothing is ever sent twice.
   */
  run<T>(action: string, work: (client: Redis | Cluster) => Promise<T>): Promise<T>;
  /** Defines a Lua script of `keys` keys; its calls belong inside {@link run}. All its keys must share one hash tag. */
  script(lua: string, keys: number): RedisScript;
  /**
   * A further connection with the same settings, to subscribe or to block: while a connection does either, it does
   * nothing else. `blockMs`: how long its commands may block. Close it yourself.
   */
  duplicate(options?: { readonly blockMs?: number }): RedisConnection;
  /** The same connection for one more user. It closes when the last one has closed it. */
  share(): RedisConnection;
  /** Resolves when Redis answers (in a cluster: every master), rejects with ERR_STORE when it does not. */
  ping(): Promise<void>;
  /** Lets what runs end, then hangs up; at the latest after the time of a command. Never rejects. Again: harmless. */
  close(): Promise<void>;
}

/** Where Redis is: an address, see {@link connectRedis}, or a connection that others use too and that stays open. */
export type RedisAt = { readonly url: string } | { readonly connection: RedisConnection };

/** A connection for one user, who closes it. */
export function shareConnection(at: RedisAt): RedisConnection {
  return 'connection' in at ? at.connection.share() : connectRedis(at);
}

/**
 * Opens a connection; returns at once and connects in the background, again and again. Throws ERR_CONFIG for a bad URL.
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

  // Without listeners ioredis prints errors, or throws them.
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
  // Callers that still wait for the first connection are refused when it is closed.
  let hurry = () => {};
  const hurried = new Promise<void>((resolve) => {
    hurry = resolve;
  });

  const gather = gatherWrites(client);

  // This is on the way of every turn: no more promises than it takes.
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

// All commands of one turn of the event loop go out in one write. Of the CPU that a command takes, more than half is the
// system call; ioredis's own pipelines are slower when little is going on, and this is not.
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

// Not ioredis's own `defineCommand`: it costs a tenth of a turn more.
function scriptOn(client: Redis | Cluster, { lua, keys }: { lua: string; keys: number }): RedisScript {
  const hash = createHash('sha1').update(lua).digest('hex');
  return (...keysAndArgs) =>
    client.evalsha(hash, keys, ...keysAndArgs).catch((error: Error) => {
      // A server that was restarted or flushed: nothing of the script was done.
      if (error.message.startsWith('NOSCRIPT')) return client.eval(lua, keys, ...keysAndArgs);
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
  /** Resolves when the client has connected once, or was given up. */
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
  // A refused password will not be right in a moment.
  const onError = (error: Error) => {
    if (/^(NOAUTH|WRONGPASS|NOPERM)/.test(error.message)) giveUp();
  };
  const timer = setTimeout(giveUp, withinMs).unref();
  client.once('ready', ready);
  client.on('error', onError);
  return { done, isOver: () => isOver, giveUp };
}

// Otherwise the first command to a node opens its connection, and those that follow within the millisecond are refused.
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

// Bounded, for a client in the middle of connecting ends only when that does.
function waitForEnd(client: Redis | Cluster): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, STORE_LIMITS.redisDisconnectMs * 2);
    client.once('end', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
