// The server of accounts and other documents, and what is left in it when it is not ours.

import { MongoClient } from 'mongodb';
import type { MongoServer } from '../support/mongo-server.ts';

/** Stops it; from a server that goes on without us, the database is removed. */
export async function leave(mongo: MongoServer, database: string): Promise<void> {
  if (mongo.kind === 'given') {
    const client = new MongoClient(mongo.url);
    await client.db(database).dropDatabase();
    await client.close();
  }
  await mongo.stop();
}
