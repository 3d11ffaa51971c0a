// The MongoDB stores keep the contracts of all stores, and promises of their own.

import { suite } from 'uvu';
import { connectMongo, mongoDocuments, mongoSnapshots } from '../../lib/store/mongo/index.ts';
import { mongoTransfer } from '../../lib/store/mongo/transfer.ts';
import { processesAreKilled } from '../contract/document-processes.ts';
import { documentStoreContract, snapshotStoreContract } from '../contract/stores.ts';
import { documentTransferContract } from '../contract/transfers.ts';
import { openMongoBench } from './mongo-bench.ts';
import { mongoFaults } from './mongo-faults.ts';
import { mongoRules } from './mongo-rules.ts';

const bench = await openMongoBench();
// Patient, for the machine may be busy with other tests.
const connection = connectMongo({ url: bench.url, answerMs: 600_000 });

snapshotStoreContract('mongo', async ({ folder, clock }) =>
  mongoSnapshots({ connection, prefix: await bench.prefixOf(folder), clock }),
);
documentStoreContract('mongo', async ({ folder, clock }) =>
  mongoDocuments({ connection, prefix: await bench.prefixOf(folder), clock }),
);
documentTransferContract('mongo', async ({ folder, clock }) => {
  const at = { connection, prefix: await bench.prefixOf(folder) };
  return { store: mongoDocuments({ ...at, clock }), transfer: mongoTransfer(at) };
});
mongoRules(bench);
mongoFaults(bench);

const last = suite('MongoDB, at last');
last('two processes that begin at once lose no count, share the unique values, and may be killed', async () => {
  const store = mongoDocuments({ url: bench.url, prefix: 'processes' });
  await processesAreKilled({ store, place: bench.url, prefix: 'processes' }, 60);
  await store.close();
});
last('its database is dropped', async () => {
  await connection.close();
  await bench.stop();
});
last.run();
