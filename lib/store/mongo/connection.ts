// A connection to MongoDB that several stores share: bounded waits, one kind of error, no password in any text.

import { type Db, MongoClient } from 'mongodb';
import { TwinlineError } from '../../errors.ts';
import { closedError, requireGiven } from '../../given.ts';
import { STORE_LIMITS } from '../limits.ts';
import { inTime, mongoRefusal } from './refusals.ts';

/** Which MongoDB, and how long it may take to answer. */
export interface MongoConnectionOptions {
  /**
   * `mongodb://[user:password@]host[:port][,host[:port]…][/database][?options]` or `mongodb+srv://…`. Without a database
   * it is `twinline`. What the URL says of write concern, read concern, timeouts and pool size is overruled.
   */
  readonly url: string;
  /** Milliseconds that an answer may take, and a free connection. @default STORE_LIMITS.mongoAnswerMs */
  readonly answerMs?: number;
  /** Milliseconds to find a primary, and to connect to it. @default STORE_LIMITS.mongoConnectMs */
  readonly connectMs?: number;
}

/** A connection that several stores share. */
export interface MongoConnection {
  /** The address for logs, without user and password. */
  readonly name: string;
  /** Ask for it at each use: the client behind it may be replaced. */
  readonly db: Db;
  /** Milliseconds after which a call is given up. */
  readonly callMs: number;
  /** Resolves when the primary answers, rejects with ERR_STORE when it does not. */
  ping(): Promise<void>;
  /** The server's version, such as `8.0.4`. Rejects with ERR_STORE. */
  version(): Promise<string>;
  /** Hangs up; close the stores first. Never rejects. Again: harmless. */
  close(): Promise<void>;
}

/** Where a store works: on a connection of its own, or on one that others use too. */
export type MongoSource = { readonly url: string } | { readonly connection: MongoConnection };

/**
 * Opens a connection; returns at once, connects with the first call and again after every loss. Throws ERR_CONFIG for a
 * bad URL. Reads go to the primary with read concern majority, writes wait for the journals of the majority, and what
 * lost its connection is tried once more, under a number by which the server knows what it has done already. (A primary
 * that is cut off from its majority may, until it notices, answer reads from before; it cannot write.)
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
  // A call is tried twice at most.
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
    // The driver's error may quote the URL, and the URL a password.
    throw new TwinlineError(
      'ERR_CONFIG',
      'The MongoDB URL is refused: it must have the form mongodb://[user:password@]host[:port][/database][?options], with special characters in user and password percent-encoded and only options that the driver knows.',
    );
  }
}

/** Begins the work of one store. */
export function workOn(source: MongoSource) {
  const connection = 'url' in source ? connectMongo(source) : source.connection;
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  // Rejects with ERR_STORE when `work` fails, takes longer than `ms`, or the store is closed.
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
    /** Rejects with ERR_STORE when `work` has not ended within the time of a call. */
    bounded: <T>(work: Promise<T>) => inTime(work, connection.callMs),
    ping: () => run('ping', connection.ping),
    /** Refuses what is called from now on, waits for what runs and for `last`, hangs up if the connection is the store's own. */
    close: (last = async () => {}): Promise<void> => {
      closing ??= close(last);
      return closing;
    },
  };
}

/** Refuses a prefix of collection names that is not 1 to 32 letters, digits, dashes and underscores, with ERR_CONFIG. */
export function checkPrefix(prefix: string): void {
  if (/^[A-Za-z0-9_-]{1,32}$/.test(prefix)) return;
  throw new TwinlineError(
    'ERR_CONFIG',
    `The prefix ${JSON.stringify(prefix)} of MongoDB collections is refused. Use 1 to 32 letters, digits, - and _.`,
  );
}

// The driver waits for ever when it writes to a socket that is being closed. A call can be given up then; a look at a
// server that hangs so is the last one, and to the driver that server stays as it was seen before: away. So such a client
// is replaced.

interface MongoClientOptions {
  readonly open: () => MongoClient;
  /** The database; without it, the one of the URL. */
  readonly database: string | undefined;
  /** Milliseconds after which a look at a server that has not ended never will. */
  readonly stuckMs: number;
}

export interface LastingClient {
  /** The one of the moment. */
  readonly client: MongoClient;
  readonly db: Db;
  close(): Promise<void>;
}

/** Opens the client and watches over it. What waits on one that is replaced fails. */
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

/** Calls `onStuck` once when a look at a server has not ended after `stuckMs`. Gives what ends the watch. */
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
