// The memory stores keep the contracts of all stores.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { memoryDocuments, memorySnapshots } from '../../lib/store/memory/index.ts';
import { documentStoreContract, snapshotStoreContract } from '../contract/stores.ts';

const test = suite('memory stores');

const KIND = { name: 'k', indexes: {} };

test('they say what they are, also when they are closed', async () => {
  const snapshots = memorySnapshots();
  const documents = memoryDocuments();
  const uses = [async () => snapshots.load('a'), () => documents.get(KIND, 'a')];
  for (const [at, store] of [snapshots, documents].entries()) {
    assert.equal([store.name, store.durability], ['memory', 'memory']);
    await store.close();
    const error = await uses[at]!().catch((thrown: Error) => thrown);
    assert.is((error as Error).message, 'The memory store is closed. Open it again before use.');
  }
});

test('what is wrong with an id is said of a document id', async () => {
  const documents = memoryDocuments();
  await documents.declare([KIND]);
  const error = await documents.get(KIND, '').catch((thrown: Error) => thrown);
  assert.match((error as Error).message, 'A document id must be');
});

test.run();

snapshotStoreContract('memory', ({ clock }) => memorySnapshots({ clock }));
documentStoreContract('memory', ({ clock }) => memoryDocuments({ clock }));
