// A MongoDB client whose driver hangs: it is replaced, and its collections are those of the new one.

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient, MongoServerError } from 'mongodb';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type LastingClient, lastingClient } from '../../lib/store/mongo/connection.ts';
import { retryConflicts } from '../../lib/store/mongo/refusals.ts';
import { type MongoServer, startMongo } from '../support/mongo-server.ts';

// Longer than a true look takes on a busy machine.
const STUCK_MS = 2_000;

const test = suite('a lasting MongoDB client');
const database = `twinline-test-${randomUUID()}`;
let server: MongoServer;
let lasting: LastingClient;

test.before(async () => {
  server = await startMongo();
});
test.before.each(() => {
  lasting = lastingClient({ open: () => new MongoClient(server.url), database, stuckMs: STUCK_MS });
});
test.after.each(() => lasting.close());
test.after(async () => {
  if (!server) return;
  const client = new MongoClient(server.url);
  await client.db(database).dropDatabase();
  await client.close();
  await server.stop();
});

/** Waits until the client is another one. */
async function replaced(before: MongoClient): Promise<void> {
  while (lasting.client === before) await pause(20);
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
  await lasting.db.command({ ping: 1 });
  const before = lasting.client;
  for (const end of ['serverHeartbeatSucceeded', 'serverHeartbeatFailed'] as const) {
    begins(before);
    before.emit(end, { connectionId: 'hangs:1' } as never);
  }
  await pause(STUCK_MS * 1.5);
  assert.is(lasting.client, before);
});

test('a client that is closed is not replaced', async () => {
  begins(lasting.client);
  const before = lasting.client;
  await lasting.close();
  await pause(STUCK_MS * 1.5);
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
