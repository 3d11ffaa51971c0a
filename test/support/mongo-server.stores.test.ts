// The MongoDB server that tests get: what stores rely on works through the official driver, and nothing outlives a run.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Long, MongoClient, MongoServerError, UUID } from 'mongodb';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type MongoServer, startMongo } from './mongo-server.ts';
import { withFolder } from './process.ts';

interface Row {
  _id: string;
  v?: number;
  n?: number;
  by?: number;
}

import { until } from './until.ts';

const DUPLICATE_KEY = 11_000;
const WRITERS = 32;
const LEFT = fileURLToPath(new URL('mongo/left.ts', import.meta.url));

const test = suite('a MongoDB server for tests');
let server: MongoServer;
let client: MongoClient;
const name = `twinline-test-${randomUUID()}`;
const collection = (of: string) => client.db(name).collection<Row>(of);

test.before(async () => {
  server = await startMongo();
  client = await new MongoClient(server.url, { serverSelectionTimeoutMS: 5_000 }).connect();
});

test.after(async () => {
  await client?.db(name).dropDatabase();
  await client?.close();
  await server?.stop();
});

test('documents are written and read through the official driver, with acknowledged durability asked for', async () => {
  const rows = collection('crud');
  await rows.insertOne({ _id: 'a', v: 1 }, { writeConcern: { w: 'majority', journal: true } });
  assert.equal(await rows.findOne({ _id: 'a' }), { _id: 'a', v: 1 });
  assert.is((await rows.updateOne({ _id: 'a' }, { $set: { v: 2 } })).modifiedCount, 1);
  assert.is((await rows.updateOne({ _id: 'b' }, { $inc: { n: 1 } }, { upsert: true })).upsertedCount, 1);
  assert.is(await rows.countDocuments({}), 2);
  assert.is((await rows.deleteOne({ _id: 'a' })).deletedCount, 1);
  assert.is(await rows.findOne({ _id: 'a' }), null);
});

test('a second document with the same id or the same unique value is refused with 11000', async () => {
  const rows = collection('unique');
  await rows.createIndex({ v: 1 }, { unique: true, partialFilterExpression: { v: { $exists: true } } });
  await rows.insertMany([{ _id: 'a', v: 1 }, { _id: 'b' }, { _id: 'c' }]);
  assert.is(await codeOf(rows.insertOne({ _id: 'a' })), DUPLICATE_KEY);
  assert.is(await codeOf(rows.insertOne({ _id: 'd', v: 1 })), DUPLICATE_KEY);
  assert.is(await codeOf(rows.updateOne({ _id: 'b' }, { $set: { v: 1 } })), DUPLICATE_KEY);
  assert.is(await rows.countDocuments({}), 3);
});

test(`of ${WRITERS} writers that saw the same revision exactly one wins`, async () => {
  const rows = collection('revision');
  await rows.insertOne({ _id: 'a', v: 1 });
  const writers = Array.from({ length: WRITERS }, (_, by) =>
    rows.findOneAndUpdate({ _id: 'a', v: 1 }, { $set: { v: 2, by } }, { returnDocument: 'after' }),
  );
  const winners = (await Promise.all(writers)).filter((row) => row !== null);
  assert.is(winners.length, 1);
  assert.equal(await rows.findOne({ _id: 'a' }), winners[0]);
});

test('a cursor pages through 1,000 documents, in any order, and one that is left early holds nothing up', async () => {
  const rows = collection('pages');
  await rows.insertMany(Array.from({ length: 1_000 }, (_, n) => ({ _id: `${n}`, n })));
  const ids = async (sort: 1 | -1) => {
    const found = await rows.find({}, { batchSize: 70 }).sort({ n: sort }).toArray();
    return found.map(({ n }) => n);
  };
  const numbers = Array.from({ length: 1_000 }, (_, n) => n);
  assert.equal(await ids(1), numbers);
  assert.equal(await ids(-1), [...numbers].reverse());
  assert.is(new Set((await rows.find({}, { batchSize: 70 }).toArray()).map(({ _id }) => _id)).size, 1_000);
  for (let left = 0; left < 150; left += 1) {
    const cursor = rows.find({}, { batchSize: 2 }).sort({ n: 1 });
    await cursor.next();
    await cursor.close();
  }
  assert.is(await rows.countDocuments({ n: { $gte: 990 } }), 10);
});

test('a bulk write counts each kind, and an unordered one goes on after a duplicate', async () => {
  const rows = collection('bulk');
  const done = await rows.bulkWrite([
    { insertOne: { document: { _id: 'a' } } },
    { insertOne: { document: { _id: 'b' } } },
    { updateMany: { filter: {}, update: { $set: { v: 1 } } } },
    { replaceOne: { filter: { _id: 'c' }, replacement: { n: 1 }, upsert: true } },
    { deleteOne: { filter: { _id: 'b' } } },
  ]);
  const { insertedCount, modifiedCount, upsertedCount, deletedCount } = done;
  assert.equal([insertedCount, modifiedCount, upsertedCount, deletedCount], [2, 2, 1, 1]);
  assert.is(await codeOf(rows.insertMany([{ _id: 'a' }, { _id: 'z' }], { ordered: false })), DUPLICATE_KEY);
  assert.is(await codeOf(rows.insertMany([{ _id: 'a' }, { _id: 'y' }])), DUPLICATE_KEY);
  const ids = (await rows.find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
  assert.equal(ids, ['a', 'c', 'z']);
});

test('batches that meet in opposite order all get through', async () => {
  const rows = collection('crossing');
  const ids = Array.from({ length: 50 }, (_, n) => `${n}`);
  await rows.insertMany(ids.map((_id) => ({ _id, n: 0 })));
  const batches = Array.from({ length: 8 }, (_, which) =>
    rows.bulkWrite(
      (which % 2 ? ids : [...ids].reverse()).map((_id) => ({
        updateOne: { filter: { _id }, update: { $inc: { n: 1 } } },
      })),
    ),
  );
  await Promise.all(batches);
  assert.equal(await rows.distinct('n'), [8]);
});

test('indexes are made at once, also for expiry, also by several processes at a time, and are listed', async () => {
  const rows = collection('indexes');
  await Promise.all(
    Array.from({ length: 8 }, () => rows.createIndex({ at: 1 }, { name: 'ttl', expireAfterSeconds: 60 })),
  );
  await rows.createIndex({ v: 1, n: -1 }, { name: 'both' });
  const listed = (await rows.indexes()).map(({ name, key, expireAfterSeconds }) => ({ name, key, expireAfterSeconds }));
  assert.equal(listed, [
    { name: '_id_', key: { _id: 1 }, expireAfterSeconds: undefined },
    { name: 'ttl', key: { at: 1 }, expireAfterSeconds: 60 },
    { name: 'both', key: { v: 1, n: -1 }, expireAfterSeconds: undefined },
  ]);
});

test('a transaction is seen as a whole or not at all, and of two that conflict one runs again', async () => {
  const rows = collection('transactions');
  await rows.insertMany([
    { _id: 'a', n: 0 },
    { _id: 'b', n: 0 },
  ]);
  const refused = client.withSession((session) =>
    session.withTransaction(async () => {
      await rows.updateOne({ _id: 'a' }, { $inc: { n: 100 } }, { session });
      await rows.insertOne({ _id: 'b' }, { session });
    }),
  );
  assert.is(await codeOf(refused), DUPLICATE_KEY);
  const transfers = Array.from({ length: 8 }, () =>
    client.withSession((session) =>
      session.withTransaction(async () => {
        const row = await rows.findOne({ _id: 'a' }, { session });
        await rows.updateOne({ _id: 'a' }, { $set: { n: row!.n! + 1 } }, { session });
        await rows.updateOne({ _id: 'b' }, { $inc: { n: 1 } }, { session });
      }),
    ),
  );
  await Promise.all(transfers);
  assert.equal(await rows.find().sort({ _id: 1 }).toArray(), [
    { _id: 'a', n: 8 },
    { _id: 'b', n: 8 },
  ]);
});

test('a single write that is sent again with the same number is not done twice', async () => {
  const rows = collection('retries');
  await rows.insertOne({ _id: 'a', n: 0 });
  const again = { lsid: { id: new UUID() }, txnNumber: Long.fromNumber(1) };
  const update = { update: 'retries', updates: [{ q: { _id: 'a' }, u: { $inc: { n: 1 } } }], ...again };
  for (const time of [1, 2]) assert.is((await client.db(name).command({ ...update })).nModified, 1, `time ${time}`);
  assert.equal(await rows.findOne({ _id: 'a' }), { _id: 'a', n: 1 });
});

test('a server that is killed with -9 and started again has what was written before', async () => {
  if (!server.restart) return;
  const rows = collection('restarted');
  await rows.insertOne({ _id: 'a', v: 1 }, { writeConcern: { w: 'majority', journal: true } });
  await server.restart();
  assert.equal(await rows.findOne({ _id: 'a' }), { _id: 'a', v: 1 });
  await rows.insertOne({ _id: 'b' });
  assert.is(await rows.countDocuments({}), 2);
});

test('the server of a process that is killed with -9 ends, and its folder goes', async () => {
  if (server.kind === 'given') return;
  await withFolder(async (folder) => {
    const child = spawn(process.execPath, ['--import', 'tsx', LEFT], { env: { ...process.env, TMPDIR: folder } });
    const closed = new Promise((resolve) => child.on('close', resolve));
    const listening = new Promise<boolean>((resolve) => {
      child.stdout.on('data', (chunk) => /mongodb:/.test(`${chunk}`) && resolve(true));
      void closed.then(() => resolve(false));
    });
    assert.ok(await listening);
    const own = () => readdirSync(folder).filter((name) => name.startsWith('twinline-mongo-')).length;
    assert.is(own(), 1);
    child.kill('SIGKILL');
    await closed;
    // The guard removes the folder after the server's last process is gone, and tells nobody: it has no parent any more.
    await until('the folder to be removed', () => own() === 0);
  });
});

test.run();

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    if (error instanceof MongoServerError) return error.code;
    throw error;
  }
  return undefined;
}
