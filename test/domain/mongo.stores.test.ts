// Registry, votes and the machines in documents keep their promises on MongoDB: one server for all.

import { suite } from 'uvu';
import { connectMongo, mongoDocuments } from '../../lib/store/mongo/index.ts';
import type { OpenDocuments } from '../../lib/testing/documents/bench.ts';
import { lifecyclePromises } from '../engine/lifecycle-promises.ts';
import { openMongoBench } from '../store/mongo-bench.ts';
import { closedVotePromises } from './closed-vote-promises.ts';
import { registryPromises } from './registry-promises.ts';
import { verificationPromises } from './verification-promises.ts';

const bench = await openMongoBench();
// Patient, for the machine may be busy with other tests.
const connection = connectMongo({ url: bench.url, answerMs: 20_000 });
const open: OpenDocuments = async ({ folder, clock }) =>
  mongoDocuments({ connection, prefix: await bench.prefixOf(folder), clock });

lifecyclePromises('mongo', open);
verificationPromises('mongo', open);
closedVotePromises('mongo', open);
registryPromises('mongo', open);

const last = suite('domains on MongoDB, at last');
last('their database is dropped', async () => {
  await connection.close();
  await bench.stop();
});
last.run();
