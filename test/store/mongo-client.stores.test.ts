// A MongoDB client whose driver hangs: it is replaced, and its collections are those of the new one.

import { randomUUID } from 'node:crypto';
import { MongoClient, MongoServerError } from 'mongodb';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type LastingClient, lastingClient } from '../../lib/store/mongo/connection.ts';
import { retryConflicts } from '../../lib/store/mongo/refusals.ts';
import { type MongoServer, startMongo } from '../support/mongo-server.ts';
import { until } from '../support/until.ts';

const STUCK_MS = 1_000;

const test = suite('a lasting MongoDB client');
const database = `twinline-test-${randomUUID()}`;
let server: MongoServer;
let lasting: LastingClient;

test.before(async () => {
  server = await startMongo();
});
test.before.each(() => {
  lasting = openLasting();
});
test.after.each(() => lasting.close());
test.after(async () => {
  if (!server) return;
  const client = new MongoClient(server.url);
  await client.db(database).dropDatabase();
  await client.close();
  await server.stop();
});

const openLasting = () => lastingClient({ open: () => new MongoClient(server.url), database, stuckMs: STUCK_MS });

async function replaced(before: MongoClient, one = lasting): Promise<void> {
  await until('the client to be another one', () => one.client !== before);
}

/** Resolves when a look that began before this would have been given up: one that begins now is. */
async function stuckLooksAreOver(): Promise<void> {
  const other = openLasting();
  begins(other.client);
  await replaced(other.client, other);
  await other.close();
}

const begins = (client: MongoClient) => client.emit('serverHeartbeatStarted', { connectionId: 'hangs:1' } as never);

test('a look at a server that never ends replaces the client; its collections go on', async () => {
  const rows = () => lasting.db.collection<{ _id: string; n: number }>('rows');
  await rows().insertOne({ _id: 'a', n: 1 });
  const before = lasting.client;
  begins(before);
  await replaced(before);
  assert.is((await rows().findOne({ _id: 'a' }))?.n, 1);
  assert.equal(await lasting.db.command({ ping: 1 }), { ok: 1 });
  // And again.
  const second = lasting.client;
  begins(second);
  await replaced(second);
  assert.is((await rows().updateOne({ _id: 'a' }, { $inc: { n: 1 } })).modifiedCount, 1);
});

test('looks that end, well or not, replace nothing', async () => {
  // It never connects, so no look of its own is one that takes long.
  const before = lasting.client;
  for (const end of ['serverHeartbeatSucceeded', 'serverHeartbeatFailed'] as const) {
    begins(before);
    before.emit(end, { connectionId: 'hangs:1' } as never);
  }
  await stuckLooksAreOver();
  assert.is(lasting.client, before);
});

test('a client that is closed is not replaced', async () => {
  begins(lasting.client);
  const before = lasting.client;
  await lasting.close();
  await stuckLooksAreOver();
  assert.is(lasting.client, before);
});

test('a write that came at the same moment as another is tried again; what is refused for another reason is not', async () => {
  let calls = 0;
  const refuse = (code: number) => () => {
    calls++;
    if (calls < 3) throw new MongoServerError({ code });
    return Promise.resolve('written');
  };
  assert.is(await retryConflicts(async () => refuse(112)()), 'written');
  assert.is(calls, 3);
  calls = 0;
  const refused = await retryConflicts(async () => refuse(11_000)()).catch((error: MongoServerError) => error.code);
  assert.equal([refused, calls], [11_000, 1]);
});

test.run();
