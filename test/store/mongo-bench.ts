// Collections for tests of the MongoDB stores: as good as new for each test, without building their indexes each time.

import { type Db, MongoClient } from 'mongodb';
import type { Kind } from '../../lib/store/store.ts';
import { PERSON, PLAIN } from '../../lib/testing/documents/bench.ts';
import { startMongo } from '../support/mongo-server.ts';

export interface MongoBench {
  /** With a database of its own. */
  readonly url: string;
  readonly db: Db;
  /** The prefix of a folder: another folder has other, empty collections. One folder at a time. */
  prefixOf(folder: string): Promise<string>;
  /** Drops the database and stops the server, unless it is not ours. */
  stop(): Promise<void>;
}

export async function openMongoBench(): Promise<MongoBench> {
  const server = await startMongo();
  const url = new URL(server.url);
  url.pathname = `twinline-test-${process.pid}-${Date.now()}`;
  const client = await MongoClient.connect(url.href);
  const db = client.db();
  let current: { folder: string; prefix: string } | undefined;
  let made = 0;

  return {
    url: url.href,
    db,
    async prefixOf(folder) {
      if (current?.folder === folder) return current.prefix;
      const prefix = current && (await emptied(db, current.prefix)) ? current.prefix : `t${made++}`;
      current = { folder, prefix };
      return prefix;
    },
    async stop() {
      await db.dropDatabase();
      await client.close();
      await server.stop();
    },
  };
}

const KINDS: readonly Kind[] = [PERSON, PLAIN];

// Collections whose indexes a test has changed are left alone.
async function emptied(db: Db, prefix: string): Promise<boolean> {
  const declared = await db.collection<{ _id: string; indexes: object }>(`${prefix}.kinds`).find().toArray();
  const isOurs = ({ _id, indexes }: (typeof declared)[number]) => {
    const kind = KINDS.find(({ name }) => name === _id);
    return kind !== undefined && Object.keys(kind.indexes).join() === Object.keys(indexes).join();
  };
  if (!declared.every(isOurs)) return false;
  const names = await db.listCollections({}, { nameOnly: true }).toArray();
  const own = names.filter(({ name }) => name.startsWith(`${prefix}.`) && name !== `${prefix}.kinds`);
  await Promise.all(own.map(({ name }) => db.collection(name).deleteMany({})));
  return true;
}
