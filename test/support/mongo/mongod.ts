// A mongod of this machine as a replica set of one, for tests: only a replica set has transactions and retryable writes.

import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { freePort } from '../ports.ts';
import { startGuarded } from './guarded.ts';

const START_MS = 30_000;
const ELECTION_TRIES = 200;
const ELECTION_PAUSE_MS = 50;

/** Starts `program` on a free loopback port with an empty folder; resolves when it is primary. */
export async function startMongod(program: string) {
  const port = await freePort();
  const mongod = await startGuarded({
    command: (folder) => [
      program,
      '--port',
      `${port}`,
      '--bind_ip',
      '127.0.0.1',
      '--dbpath',
      folder,
      '--replSet',
      'test',
    ],
    ready: /[Ww]aiting for connections/,
    timeoutMs: START_MS,
  });
  const url = `mongodb://127.0.0.1:${port}`;
  try {
    return { url, version: `MongoDB ${await elect(port)}`, restart: mongod.restart, stop: mongod.stop };
  } catch (error) {
    await mongod.stop();
    throw error;
  }
}

async function elect(port: number): Promise<string> {
  const host = `127.0.0.1:${port}`;
  const client = new MongoClient(`mongodb://${host}/?directConnection=true`);
  try {
    const admin = client.db('admin');
    await admin.command({ replSetInitiate: { _id: 'test', members: [{ _id: 0, host }] } });
    for (let tries = 0; !(await admin.command({ hello: 1 })).isWritablePrimary; tries += 1) {
      if (tries === ELECTION_TRIES) throw new Error(`${host} did not become primary`);
      await pause(ELECTION_PAUSE_MS);
    }
    return (await admin.command({ buildInfo: 1 })).version;
  } finally {
    await client.close();
  }
}
