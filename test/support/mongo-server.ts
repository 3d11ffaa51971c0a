// A real server that speaks MongoDB's protocol, for tests: the one that MONGODB_URL names, a mongod of this machine, or
// the DocumentDB engine that Debian packages.

import { MongoClient } from 'mongodb';
import { chrootLacks, prepareChroot } from './mongo/chroot.ts';
import { startEngine } from './mongo/engine.ts';
import { startMongod } from './mongo/mongod.ts';
import { onPath } from './on-path.ts';
import { skipped } from './skip.ts';

export interface MongoServer {
  /** Without a database. With MONGODB_URL it is not ours alone: use a database name of your own and drop it. */
  readonly url: string;
  /** The server's own words: `DocumentDB 1.0-0 on PostgreSQL 18.6`. */
  readonly version: string;
  readonly kind: 'given' | 'mongod' | 'documentdb';
  /** kill -9, and started again on the same files and the same port; missing where it is not ours. */
  restart?(): Promise<void>;
  stop(): Promise<void>;
}

let told = false;

/**
 * Finds or starts a server, empty unless it is given; without one, skips what called it. The engine keeps its data only
 * as long as it runs and does not flush them: nothing about durability can be tested on it.
 */
export async function startMongo(): Promise<MongoServer> {
  const server = await (process.env.MONGODB_URL ? given(process.env.MONGODB_URL) : started());
  if (!told) console.log(`MongoDB-wire: ${server.version}`);
  told = true;
  return server;
}

async function given(url: string): Promise<MongoServer> {
  const client = new MongoClient(url);
  try {
    // Our own bridge says more than the version of the protocol that it stands for.
    const { version, engine = `MongoDB ${version}` } = await client.db('admin').command({ buildInfo: 1 });
    return { url, version: engine, kind: 'given', stop: async () => {} };
  } finally {
    await client.close();
  }
}

async function started(): Promise<MongoServer> {
  const mongod = onPath('mongod');
  if (mongod) return { kind: 'mongod', ...(await startMongod(mongod)) };
  const lacks = chrootLacks();
  if (lacks)
    skipped(
      `no MongoDB here: set MONGODB_URL, install mongod, or run as root on Debian with debootstrap installed (${lacks})`,
    );
  return { kind: 'documentdb', ...(await startEngine(await prepareChroot(() => {}))) };
}
