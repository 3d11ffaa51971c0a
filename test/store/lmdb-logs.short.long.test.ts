// Frame logs in LMDB keep the contract of all logs, between processes too, and leave nothing in the file behind them.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { lmdbLogs } from '../../lib/store/lmdb/index.ts';
import { openLogTables } from '../../lib/store/lmdb/log-writer.ts';
import { behind, claim, MINUTE, type OpenLogs, refuses } from '../../lib/testing/logs/bench.ts';
import { fillDisk, ownersAreReplaced, writersAreKilled } from '../contract/log-processes.ts';
import { logMemoryContract, logStoreContract } from '../contract/stores.ts';
import { isShort } from '../support/size.ts';
import { suite } from '../support/suites.ts';

export const runs = 'fresh';

const open: OpenLogs = ({ folder, clock }) => lmdbLogs({ path: join(folder, 'logs'), clock });
logStoreContract('lmdb', open, 3);
if (!isShort) logMemoryContract('lmdb', open);

const test = suite('LMDB logs');
let folder = '';

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinline-logs-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

test('whatever a killed writer had acknowledged is there once, in order, and was followed', () =>
  within(writersAreKilled));

test('a writer in another process stops when its log is taken over', () => within(ownersAreReplaced));

test('a full disk refuses appends, and takes neither the process nor what was acknowledged with it', async () => {
  const told = (await fillDisk(folder)) as { code: string; acknowledged: number; kept: number };
  assert.is(told.code, 'ERR_STORE');
  assert.ok(told.acknowledged > 50, `${told.acknowledged} acknowledged`);
  assert.is(told.kept, told.acknowledged);
});

test('no table keeps anything of logs that are gone, or of frames that were trimmed', async () => {
  const clock = new SimulatedClock();
  const store = lmdbLogs({ path: folder, clock });
  for (const log of ['a', 'b', 'c', 'd']) {
    await store.open(log, claim(clock));
    await store.append(log, Array(700).fill('x'), behind(0, clock));
    await store.expireAt(log, clock.now() + (log === 'd' ? 9 * MINUTE : MINUTE));
  }
  assert.equal(await counts(), { logs: 4, frames: 2_800, expiry: 4, trash: 0 });
  await store.remove('a');
  await store.trim('b', 600);
  assert.equal(await counts(), { logs: 3, frames: 1_500, expiry: 3, trash: 0 });
  await clock.advance(MINUTE);
  await store.open('c', claim(clock));
  assert.equal(await counts(), { logs: 3, frames: 1_500, expiry: 3, trash: 1 });
  assert.is(await store.sweep(clock.now(), 100), 1);
  assert.equal(await counts(), { logs: 2, frames: 700, expiry: 2, trash: 0 });
  await clock.advance(9 * MINUTE);
  assert.is(await store.sweep(clock.now(), 100), 2);
  assert.equal(await counts(), { logs: 0, frames: 0, expiry: 0, trash: 0 });
  await store.close();
});

test('a folder that cannot be used is refused with its path', async () => {
  const error = await refuses('ERR_STORE', () => lmdbLogs({ path: '/dev/null/logs' }).ping());
  assert.match(error.message, '/dev/null/logs');
});

test.run();

async function within(
  keep: (at: { store: ReturnType<typeof lmdbLogs>; place: string }) => Promise<void>,
): Promise<void> {
  const store = lmdbLogs({ path: folder });
  try {
    await keep({ store, place: folder });
  } finally {
    await store.close();
  }
}

async function counts(): Promise<Record<string, number>> {
  const { root, logs, frames, expiry, trash } = openLogTables(folder);
  const count = (table: typeof logs) => table.getKeysCount({ start: '' });
  const all = { logs: count(logs), frames: count(frames), expiry: count(expiry), trash: count(trash) };
  await root.close();
  return all;
}
