// Documents in a real MongoDB: what the start says about it, and what the doctor finds.

import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readConfig } from '../../../server/config/config.ts';
import { examine } from '../../../server/doctor/examine.ts';
import { KEYS } from '../../package/keys.ts';
import { type MongoServer, startMongo } from '../../support/mongo-server.ts';
import { withServer } from '../support/serve.ts';

const test = suite('MongoDB stores');

const OTHER_KEY = '0b61d9f3e27c5b8490ad6f138f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe';

let mongo: MongoServer;
const database = `stores-${randomBytes(4).toString('hex')}`;

test.before(async () => {
  mongo = await startMongo();
});

test.after(async () => {
  if (!mongo) return;
  const client = new MongoClient(mongo.url);
  await client.db(database).dropDatabase();
  await client.close();
  await mongo.stop();
});

function envOf(): Record<string, string> {
  const url = new URL(mongo.url);
  url.pathname = `/${database}`;
  return { ...KEYS, USSD_GATEWAYS: '*', MONGODB_URL: url.href, PORT: '0', DATA_DIR: ':memory:' };
}

const doctor = async (env: NodeJS.ProcessEnv) => {
  const told = await examine(readConfig(env), env);
  return (check: string) => told.find((one) => one.check === check);
};

test('the doctor finds it answering, its clock, its topology, and whether the PIN key belongs to its data', async () => {
  // The first start notes the key.
  await withServer({ env: envOf() }, async ({ places }) => {
    const place = places.find(({ keeps }) => keeps === 'documents')!;
    assert.match(place.program, /^MongoDB \d/);
  });
  const find = await doctor(envOf());
  for (const check of ['MongoDB answers', 'MongoDB write concern', 'clock', 'PIN key and data'])
    assert.is(find(check)?.level, 'fine', JSON.stringify(find(check)));
  assert.match(find('MongoDB topology')!.words, /sharded|stands alone|replica set of \d/);
  assert.match(find('PIN key and data')!.words, /belong to the first key/);
  const other = await doctor({ ...envOf(), PIN_ENCRYPTION_KEY: OTHER_KEY });
  assert.is(other('PIN key and data')?.level, 'broken');
});

test.run();
