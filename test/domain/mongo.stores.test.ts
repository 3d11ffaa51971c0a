// What of registry, votes and the machines in documents rests on writes that meet or fail half-way, on MongoDB: one server for all.
// All else they ask of a store is in the contract that MongoDB keeps (store/mongo).

import { suite } from 'uvu';
import { connectMongo, mongoDocuments } from '../../lib/store/mongo/index.ts';
import type { OpenDocuments } from '../../lib/testing/documents/bench.ts';
import { lifecyclePromises } from '../engine/lifecycle-promises.ts';
import { openMongoBench } from '../store/mongo-bench.ts';
import { registryPromises } from './registry-promises.ts';
import { verificationPromises } from './verification-promises.ts';

const REGISTRY = [
  'an organisation has a membership group from the first moment on, and never loses the last one',
  'whenever the process dies, whoever sees an organisation sees its group, and nothing half made stays',
  'a part whose end came too late is a part still',
  'at whichever write its end fails, a part leaves its organisation altogether or not at all',
  'the same reserved DID makes one twin, however often the request is worked on',
  'of a hundred patches at one revision, one is applied',
  'lists are filtered, ordered and paged, and stay whole while twins come and go',
];
const VOTES = [
  'a repeated request changes nothing: its ballot counts once, also when the vote is over',
  'a second proposal of a kind is refused as long as the first is undecided, and no longer',
  'a hundred ballots of one voter at once count once, a hundred voters at once all count',
  'a vote takes effect once, whichever of several processes read it at the same time',
  'a vote is over also for those who read while the process that closed it is dead',
];

const bench = await openMongoBench();
// Patient, for the machine may be busy with other tests.
const connection = connectMongo({ url: bench.url, answerMs: 600_000 });
const open: OpenDocuments = async ({ folder, clock }) =>
  mongoDocuments({ connection, prefix: await bench.prefixOf(folder), clock });

lifecyclePromises('mongo', open);
verificationPromises('mongo', open, VOTES);
registryPromises('mongo', open, REGISTRY);

const last = suite('domains on MongoDB, at last');
last('their database is dropped', async () => {
  await connection.close();
  await bench.stop();
});
last.run();
