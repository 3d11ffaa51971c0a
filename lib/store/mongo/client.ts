// A MongoDB client that is replaced when its driver has stopped to look at a server: nothing would be sent there again.
//
// The driver waits for ever when it writes to a socket that is being closed. A call can be given up then; a look at a
// server that hangs so is the last one, and to the driver that server stays as it was seen before: away.

import type { CollectionOptions, Db, Document, MongoClient } from 'mongodb';

export interface MongoClientOptions {
  readonly open: () => MongoClient;
  /** The database; without it, the one of the URL. */
  readonly database: string | undefined;
  /** Milliseconds after which a look at a server that has not ended never will. */
  readonly stuckMs: number;
}

export interface LastingClient {
  readonly client: MongoClient;
  /** Stays good when the client is replaced, and so do the collections that it gives. */
  readonly db: Db;
  close(): Promise<void>;
}

/** Opens the client and watches over it. What runs on one that is replaced ends as it would have. */
export function lastingClient({ open, database, stuckMs }: MongoClientOptions): LastingClient {
  const dbOf = (client: MongoClient) => client.db(database);
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

  const collection: Db['collection'] = <T extends Document>(name: string, options?: CollectionOptions) =>
    lateBound(() => dbOf(client).collection<T>(name, options));
  return {
    get client() {
      return client;
    },
    db: lateBound(() => dbOf(client), { collection }),
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

/** Stands for whatever `now` gives at the moment of each use. */
function lateBound<T extends object>(now: () => T, own: Partial<T> = {}): T {
  return new Proxy(own as T, {
    get: (_, name) => {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const target = now();
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
