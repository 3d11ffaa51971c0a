// What flows keep of callers: against a model, sealed, bounded, for one flow and one caller alone.

import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseKeyring } from '../../lib/keyring.ts';
import { lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import { memoryDocuments, memorySnapshots } from '../../lib/store/memory/index.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { withFolder } from '../support/process.ts';
import { compareWithModel } from './memory-model.ts';

const test = suite('memory of callers');
const KEY = '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13';
const seed = Number(process.env.TEST_SEED ?? 1);

test('every screen and all that is kept is as in a model, whatever callers press, days that pass and engines that are replaced', async () => {
  for (let at = 0; at < 8; at++) {
    const ground = { snapshots: memorySnapshots(), documents: memoryDocuments(), keyring: parseKeyring(KEY) };
    const { recalled, lapsed } = await compareWithModel(ground, { seed: 100 * seed + at, steps: 250 });
    assert.ok(recalled > 5 && lapsed > 0, `seed ${at}: ${recalled} values were recalled, ${lapsed} had had their time`);
  }
});

test('the same on disk', () =>
  withFolder(async (folder) => {
    const snapshots = lmdbSnapshots({ path: join(folder, 'sessions') });
    const documents = sqliteDocuments({ path: join(folder, 'twinline.db') });
    await compareWithModel({ snapshots, documents, keyring: parseKeyring(KEY) }, { seed, steps: 150 });
    await Promise.all([snapshots.close(), documents.close()]);
  }));

test.run();
