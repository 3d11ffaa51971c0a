// A MongoDB connection that several stores share: bounded waits, a single kind of error, no password in any message.

import { type Db, MongoClient } from 'mongodb';
import { TwinlineError } from '../../errors.ts';
import { closedError, requireGiven } from '../../given.ts';
import { STORE_LIMITS } from '../limits.ts';
import { inTime, mongoRefusal } from './refusals.ts';

/** Address and timeouts of a MongoDB connection. */
export interface MongoConnectionOptions {
  /**
   * `mongodb://[user:password@]host[:port][,host[:port]…][/database][?options]` or `mongodb+srv://…`. The default database is
   * `twinline`. Write concern, read concern, timeouts and pool size in the URL are overridden.
   */
  readonly url: string;
  /** Timeout for a reply, and for a free connection, in milliseconds. @default STORE_LIMITS.mongoAnswerMs */
  readonly answerMs?: number;
  /** Timeout for finding a primary, and for connecting to it, in milliseconds. @default STORE_LIMITS.mongoConnectMs */
  readonly connectMs?: number;
}

/** A connection that several stores share. */
export interface MongoConnection {
  /** The address for logs, without credentials. */
  readonly name: string;
  /** Read this property on each use: the underlying client may be replaced. */
  readonly db: Db;
  /** Timeout of a call, in milliseconds. */
  readonly callMs: number;
  /** Resolves when the primary answers, rejects with ERR_STORE when it does not. */
  ping(): Promise<void>;
  /** The server's version, such as `8.0.4`. Rejects with ERR_STORE. */
  version(): Promise<string>;
  /** Disconnects; close the stores first. Never rejects. Idempotent. */
  close(): Promise<void>;
}

/** A URL, for a connection of the store's own, or a shared connection. */
export type MongoSource = { readonly url: string } | { readonly connection: MongoConnection };

/**
 * Opens a connection; returns immediately, connects on the first call and reconnects after every loss. Throws ERR_CONFIG
 * for an invalid URL. Reads go to the primary with read concern majority; writes wait until a majority has journaled
 * them. A call that loses its connection is retried once, with the driver's transaction number, so that the server does
 * not apply it twice. (A primary cut off from its majority may return stale reads until it notices; it cannot write.)
 * @example
 * const connection = connectMongo({ url: process.env.MONGODB_URL! });
 * const documents = mongoDocuments({ connection });
 * await documents.ping();
 * (await connection.version()).includes('.'); // → true
 * await documents.close();
 * await connection.close();
 */
export function connectMongo(options: MongoConnectionOptions): MongoConnection {
  requireGiven('connect to MongoDB', options, { url: 'text' });
  const { url, answerMs = STORE_LIMITS.mongoAnswerMs, connectMs = STORE_LIMITS.mongoConnectMs } = options;
  // The driver tries a call at most twice.
  const callMs = 2 * (connectMs + answerMs);
  const lasting = lastingClient({
    open: () => openClient({ url, answerMs, connectMs }),
    database: /^[^:]+:\/\/[^/?]*\/[^?]/.test(url) ? undefined : 'twinline',
    stuckMs: 2 * (connectMs + STORE_LIMITS.mongoHeartbeatMs),
  });
  const { srvHost, hosts } = lasting.client.options;
  const name = `mongodb://${srvHost ?? hosts.join()}/${lasting.db.databaseName}`;

  async function ask(action: string, command: Record<string, 1>): Promise<Record<string, unknown>> {
    try {
      return await inTime(lasting.db.command(command), callMs);
    } catch (error) {
      throw mongoRefusal(action, error, name);
    }
  }

  return {
    name,
    get db() {
      return lasting.db;
    },
    callMs,
    ping: async () => void (await ask('ping', { ping: 1 })),
    version: async () => String((await ask('ask for the version', { buildInfo: 1 })).version),
    close: () => inTime(lasting.close(), callMs).catch(() => {}),
  };
}

function openClient({ url, answerMs, connectMs }: Required<MongoConnectionOptions>): MongoClient {
  try {
    return new MongoClient(url, {
      appName: 'twinline',
      readPreference: 'primary',
      readConcern: { level: 'majority' },
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: answerMs },
      retryReads: true,
      retryWrites: true,
      maxPoolSize: STORE_LIMITS.mongoPool,
      serverSelectionTimeoutMS: connectMs,
      connectTimeoutMS: connectMs,
      heartbeatFrequencyMS: STORE_LIMITS.mongoHeartbeatMs,
      waitQueueTimeoutMS: answerMs,
      socketTimeoutMS: answerMs,
    });
  } catch {
    // The driver's error may quote the URL, including a password.
    throw new TwinlineError(
      'ERR_CONFIG',
      'The MongoDB URL is invalid: it must have the form mongodb://[user:password@]host[:port][/database][?options], with special characters in user and password percent-encoded and only options that the driver knows.',
    );
  }
}

/** Opens a store's use of a connection. */
export function workOn(source: MongoSource) {
  const connection = 'url' in source ? connectMongo(source) : source.connection;
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  // Rejects with ERR_STORE when `work` fails or exceeds `ms`, or the store is closed.
  async function run<T>(action: string, work: () => Promise<T>, { ms = connection.callMs } = {}): Promise<T> {
    if (closing) throw closedError('MongoDB');
    const attempt = inTime(work(), ms);
    running.add(attempt);
    try {
      return await attempt;
    } catch (error) {
      throw mongoRefusal(action, error, connection.name);
    } finally {
      running.delete(attempt);
    }
  }

  async function close(last: () => Promise<void>): Promise<void> {
    await Promise.allSettled(running);
    await last();
    if ('url' in source) await connection.close();
  }

  return {
    db: () => connection.db,
    run,
    /** Rejects with ERR_STORE when `work` exceeds the timeout of a call. */
    bounded: <T>(work: Promise<T>) => inTime(work, connection.callMs),
    ping: () => run('ping', connection.ping),
    /** Refuses new calls, waits for running ones and for `last`, and disconnects if the store opened the connection. */
    close: (last = async () => {}): Promise<void> => {
      closing ??= close(last);
      return closing;
    },
  };
}

/** Throws ERR_CONFIG unless a collection prefix is 1 to 32 letters, digits, dashes and underscores. */
export function checkPrefix(prefix: string): void {
  if (/^[A-Za-z0-9_-]{1,32}$/.test(prefix)) return;
  throw new TwinlineError(
    'ERR_CONFIG',
    `The prefix ${JSON.stringify(prefix)} of MongoDB collections is invalid. Use 1 to 32 letters, digits, - and _.`,
  );
}

// The driver hangs forever when it writes to a socket that is being closed. Calls have a timeout, but a heartbeat that hangs
// is the last one: the driver then considers the server down for good. So such a client is replaced.

interface MongoClientOptions {
  readonly open: () => MongoClient;
  /** The database. @default the one in the URL */
  readonly database: string | undefined;
  /** A heartbeat that takes longer than this, in milliseconds, is stuck. */
  readonly stuckMs: number;
}

export interface LastingClient {
  /** The current client. */
  readonly client: MongoClient;
  readonly db: Db;
  close(): Promise<void>;
}

/** Opens a client and replaces it when it gets stuck. Calls waiting on a replaced client fail. */
export function lastingClient({ open, database, stuckMs }: MongoClientOptions): LastingClient {
  let client = open();
  let unwatch = watch();

  function watch(): () => void {
    return watchLooks(client, stuckMs, () => {
      unwatch();
      const old = client;
      client = open();
      unwatch = watch();
      old.close().catch(() => {});
    });
  }

  return {
    get client() {
      return client;
    },
    get db() {
      return client.db(database);
    },
    close: () => {
      unwatch();
      return client.close();
    },
  };
}

/** Calls `onStuck` once when a heartbeat takes longer than `stuckMs`. Returns a function that stops watching. */
function watchLooks(client: MongoClient, stuckMs: number, onStuck: () => void): () => void {
  const looks = new Map<string, NodeJS.Timeout>();
  const end = (server: string) => clearTimeout(looks.get(server));
  client.on('serverHeartbeatStarted', ({ connectionId }) => {
    end(connectionId);
    looks.set(connectionId, setTimeout(onStuck, stuckMs).unref());
  });
  client.on('serverHeartbeatSucceeded', ({ connectionId }) => end(connectionId));
  client.on('serverHeartbeatFailed', ({ connectionId }) => end(connectionId));
  client.on('serverClosed', ({ address }) => end(address));
  return () => {
    client.removeAllListeners();
    for (const server of looks.keys()) end(server);
  };
}
