// The MongoDB stores keep the contracts of all stores, and promises of their own.

import { suite } from 'uvu';
import { mongoDocuments, mongoSnapshots } from '../../lib/store/mongo.ts';
import { documentStoreContract } from '../contract/document-store.ts';
import { snapshotStoreContract } from '../contract/snapshot-store.ts';
import { openMongoBench } from './mongo-bench.ts';
import { mongoFaults } from './mongo-faults.ts';
import { mongoProcesses } from './mongo-processes.ts';
import { mongoRules } from './mongo-rules.ts';

const bench = await openMongoBench();
const { url } = bench;

snapshotStoreContract('mongo', async ({ folder, clock }) =>
  mongoSnapshots({ url, prefix: await bench.prefixOf(folder), clock }),
);
documentStoreContract('mongo', async ({ folder, clock }) =>
  mongoDocuments({ url, prefix: await bench.prefixOf(folder), clock }),
);
mongoRules(bench);
mongoFaults(bench);
mongoProcesses(bench);

const last = suite('MongoDB, at last');
last('its database is dropped', bench.stop);
last.run();
