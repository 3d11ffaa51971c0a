// The MongoDB stores keep the contracts of all stores.

import { suite } from 'uvu';
import { mongoDocuments, mongoSnapshots } from '../../lib/store/mongo.ts';
import { documentStoreContract } from '../contract/document-store.ts';
import { snapshotStoreContract } from '../contract/snapshot-store.ts';
import { openMongoBench } from './mongo-bench.ts';

const bench = await openMongoBench();
const { url } = bench;

snapshotStoreContract('mongo', async ({ folder, clock }) =>
  mongoSnapshots({ url, prefix: await bench.prefixOf(folder), clock }),
);
documentStoreContract('mongo', async ({ folder, clock }) =>
  mongoDocuments({ url, prefix: await bench.prefixOf(folder), clock }),
);

const test = suite('MongoDB');

test.after(bench.stop);

test('placeholder', () => {});

test.run();
