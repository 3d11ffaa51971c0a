// The memory of callers against its model, on Redis and MongoDB.

import { suite } from 'uvu';
import { parseKeyring } from '../../lib/keyring.ts';
import { mongoDocuments } from '../../lib/store/mongo/index.ts';
import { openRedisSnapshots } from '../../lib/store/redis/index.ts';
import { type MongoServer, startMongo } from '../support/mongo-server.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { compareWithModel } from './memory-model.ts';

const test = suite('memory of callers on Redis and MongoDB');
const seed = Number(process.env.TEST_SEED ?? 1);

let redis: RedisServer;
let mongo: MongoServer;
test.before(async () => {
  [redis, mongo] = await Promise.all([startRedis(), startMongo()]);
});
test.after(async () => {
  await Promise.all([redis?.stop(), mongo?.stop()]);
});

test('every screen and all that is kept is as in the model', async () => {
  const snapshots = await openRedisSnapshots({ url: redis.url });
  const documents = mongoDocuments({ url: mongo.url });
  const keyring = parseKeyring('8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13');
  await compareWithModel({ snapshots, documents, keyring }, { seed: 7 * seed, steps: 300 });
  await Promise.all([snapshots.close(), documents.close()]);
});

test.run();
