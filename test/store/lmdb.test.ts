// The LMDB store keeps the contract of all session stores, and leaves nothing in its file behind them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import { openTables } from '../../lib/store/lmdb/tables.ts';
import { lmdbTransfer } from '../../lib/store/lmdb/transfer.ts';
import { refuses, session } from '../../lib/testing/sessions/bench.ts';
import { snapshotStoreContract } from '../contract/stores.ts';
import { sessionTransferContract } from '../contract/transfers.ts';

snapshotStoreContract('lmdb', ({ folder, clock }) => lmdbSnapshots({ path: join(folder, 'sessions'), clock }));
sessionTransferContract('lmdb', ({ folder: path, clock }) => {
  return { store: lmdbSnapshots({ path, clock }), transfer: lmdbTransfer({ path, clock }) };
});

const test = suite('LMDB');
let folder = '';

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinline-store-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

test('each session stands once in the order of time, and no table keeps anything of sessions that are gone', async () => {
  const clock = new SimulatedClock();
  const store = lmdbSnapshots({ path: folder, clock });
  for (let at = 0; at < 20; at++) {
    await store.commit(`k${at}`, 0, session(clock, { dueAt: clock.now(), expiresAt: clock.now() + 10 + at }));
    await store.commit(`k${at}`, 1, session(clock, { dueAt: clock.now() + 1, expiresAt: clock.now() + 20 - at }));
  }
  assert.equal(await counts(), { sessions: 20, places: 20, timers: 20 });
  await clock.advance(15);
  assert.equal(await counts(), { sessions: 20, places: 20, timers: 20 });
  await store.sweep(clock.now(), 1000);
  assert.equal(await counts(), { sessions: 5, places: 5, timers: 5 });
  await store.remove('k0');
  await store.commit('k1', 2, session(clock, { dueAt: null }));
  assert.equal(await counts(), { sessions: 4, places: 4, timers: 3 });
  await clock.advance(100_000);
  await store.commit('k1', 0, session(clock));
  assert.equal(await counts(), { sessions: 4, places: 4, timers: 3 });
  await store.sweep(clock.now() + 100_000, 1000);
  assert.equal(await counts(), { sessions: 0, places: 0, timers: 0 });
  await store.close();
});

test('a folder that cannot be used is refused with its path', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, 'not a folder');
  const error = await refuses('ERR_STORE', () => lmdbSnapshots({ path: file }).ping());
  assert.match(error.message, file);
  writeFileSync(join(folder, 'data.mdb'), 'x'.repeat(10_000));
  await refuses('ERR_STORE', () => lmdbSnapshots({ path: folder }).ping());
});

test.run();

async function counts(): Promise<Record<string, number>> {
  const { root, sessions, places, timers } = openTables(folder);
  const count = (table: typeof sessions) => table.getKeysCount({ start: '' });
  const all = { sessions: count(sessions), places: count(places), timers: count(timers) };
  await root.close();
  return all;
}
