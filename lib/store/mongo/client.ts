// A MongoDB client that is replaced when its driver has stopped to look at a server: nothing would be sent there again.
//
// The driver waits for ever when it writes to a socket that is being closed. A call can be given up then; a look at a
// server that hangs so is the last one, and to the driver that server stays as it was seen before: away.

import type { Db, MongoClient } from 'mongodb';

export interface MongoClientOptions {
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

/** Opens the client and watches over it. What runs on one that is replaced ends as it would have. */
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
