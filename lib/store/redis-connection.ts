// A connection to Redis that everything on Redis shares: bounded waits, one kind of error, no password in any text.

import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { TwinlineError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { reasonOf, redisRefusal } from './redis-errors.ts';
import { openClient } from './redis-options.ts';
import { parseRedisUrl } from './redis-url.ts';

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
  /** Milliseconds until an unanswered command is refused. @default LIMITS.redisCommandMs */
  readonly commandMs?: number;
  /** Milliseconds for one attempt to connect. @default LIMITS.redisConnectMs */
  readonly connectMs?: number;
}

/** A script with its keys and arguments; sent as its hash, and whole when the server does not know it. */
export type RedisScript = (...keysAndArgs: readonly (string | number | Buffer)[]) => Promise<unknown>;

export interface RedisConnection {
  /** The address for logs, its password masked. */
  readonly name: string;
  readonly kind: 'single' | 'cluster' | 'sentinel';
  /** The ioredis client. Use it inside {@link run}, which waits for the first connection and makes ERR_STORE of errors. */
  readonly client: Redis | Cluster;
  /**
   * Does `work` with the client. Until the first connection stands it waits, up to LIMITS.redisFirstConnectMs after
   * opening; later, a client that is not connected refuses at once. Rejects with ERR_STORE: "cannot `action`: …". What
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
  /** Resolves when Redis answers (in a cluster: every master), rejects with ERR_STORE when it does not. */
  ping(): Promise<void>;
  /** Lets what runs end, then hangs up; at the latest after the time of a command. Never rejects. Again: harmless. */
  close(): Promise<void>;
}

/** Opens a connection; returns at once and connects in the background, again and again. Throws ERR_CONFIG for a bad URL. */
export function connectRedis(options: RedisConnectionOptions): RedisConnection {
  const { url, commandMs = LIMITS.redisCommandMs, connectMs = LIMITS.redisConnectMs } = options;
  const address = parseRedisUrl(url);
  const { name, kind, password } = address;
  const client = openClient(address, { commandMs, connectMs });
  let lastTrouble: string | undefined;
  let running = 0;
  let idle: (() => void) | undefined;
  let closing: Promise<void> | undefined;

  // Without listeners ioredis prints errors, or throws them.
  const trouble = (error: unknown) => {
    lastTrouble = reasonOf(error, password);
  };
  client.on('error', trouble);
  client.on('node error', trouble);

  const first = firstConnection(client);
  let isFirst = true;
  void first.done.then(() => {
    isFirst = false;
  });

  async function run<T>(action: string, work: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    if (closing) throw new TwinlineError('ERR_STORE', `Redis ${name}: cannot ${action}: the connection is closed.`);
    running++;
    try {
      if (isFirst) await first.done;
      return await work(client);
    } catch (error) {
      throw redisRefusal(action, error, { name, password, lastTrouble });
    } finally {
      if (--running === 0) idle?.();
    }
  }

  async function close(): Promise<void> {
    first.giveUp();
    if (running) await new Promise<void>((resolve) => (idle = resolve));
    await disconnected(client);
  }

  return {
    name,
    kind,
    client,
    run,
    script(lua, keys) {
      const word = `script_${createHash('sha256').update(lua).digest('hex').slice(0, 16)}`;
      client.defineCommand(word, { lua, numberOfKeys: keys });
      const scripts = client as unknown as Record<string, RedisScript>;
      return (...keysAndArgs) => scripts[word]!(...keysAndArgs);
    },
    duplicate: ({ blockMs = 0 } = {}) => connectRedis({ url, commandMs: commandMs + blockMs, connectMs }),
    ping: () =>
      run('ping', async () => {
        if (kind !== 'cluster') return void (await client.ping());
        const masters = (client as Cluster).nodes('master');
        if (!masters.length) throw new Error("Cluster isn't ready");
        await Promise.all(masters.map((node) => node.ping()));
      }),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

// Resolves when the client has connected once, or was given up.
function firstConnection(client: Redis | Cluster): { readonly done: Promise<void>; giveUp(): void } {
  let giveUp = () => {};
  const done = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  const timer = setTimeout(giveUp, LIMITS.redisFirstConnectMs).unref();
  const ready = () => ('nodes' in client ? connectNodes(client) : Promise.resolve()).then(giveUp);
  client.once('ready', ready);
  // A refused password will not be right in a moment.
  const refused = (error: Error) => {
    if (/^(NOAUTH|WRONGPASS|NOPERM)/.test(error.message)) giveUp();
  };
  client.on('error', refused);
  void done.then(() => {
    clearTimeout(timer);
    client.off('ready', ready);
    client.off('error', refused);
  });
  return { done, giveUp };
}

// Otherwise the first command to a node opens its connection, and those that follow within the millisecond are refused.
async function connectNodes(cluster: Cluster): Promise<void> {
  const connect = (node: Redis) => (node.status === 'wait' ? node.connect().catch(() => {}) : undefined);
  const again = (node: Redis) => void (cluster.status === 'ready' && connect(node));
  cluster.on('+node', again);
  cluster.on('ready', () => cluster.nodes().forEach(again));
  await Promise.all(cluster.nodes().map(connect));
}

async function disconnected(client: Redis | Cluster): Promise<void> {
  const parts = 'nodes' in client ? [...client.nodes(), client] : [client];
  const ends = parts.filter(({ status }) => status !== 'end').map((part) => ended(part));
  client.disconnect();
  await Promise.all(ends);
}

// Bounded, for a client in the middle of connecting ends only when that does.
function ended(client: Redis | Cluster): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LIMITS.redisDisconnectMs * 2);
    client.once('end', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
