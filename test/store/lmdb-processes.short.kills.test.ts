// Several processes on one LMDB store: no update is lost, and none is seen late. Those that are killed: test/restart.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { session } from '../../lib/testing/sessions/bench.ts';
import { noCountIsLost, snapshotChild } from '../contract/snapshot-processes.ts';
import { builtFile } from '../support/build.ts';
import { killed } from '../support/process.ts';
import { chooseSize, isShort } from '../support/size.ts';
import { until } from '../support/until.ts';

const test = suite('LMDB between processes');
const clock = { now: Date.now };
let folder = '';
let children: ChildProcess[] = [];
let store: SnapshotStore;

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinline-store-'));
  children = [];
  store = lmdbSnapshots({ path: folder });
});

test.after.each(async () => {
  for (const child of children) await killed(child);
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

test('two processes that count up the same keys lose no count', () => noCountIsLost(folder, store));

test('a process sees what another has committed in the same millisecond', async () => {
  const child = await start('answer');
  await message(child);
  for (let revision = 0; revision < chooseSize({ short: 50, day: 200, whole: 2_000 }); revision++) {
    await store.commit('k', revision, session(clock));
    child.send('k');
    assert.is(await message(child), revision + 1);
  }
});

test('while a process opens the folder no other one commits, and the commits before and after are kept', async () => {
  let isOver = false;
  let committed = 0;
  const write = async (key: string) => {
    for (let revision = 0; !isOver; revision++, committed++) {
      const result = await store.commit(key, revision, session(clock));
      assert.equal(result, { kind: 'committed', revision: revision + 1 });
    }
  };
  const writing = Promise.all(Array.from({ length: 8 }, (_, at) => write(`w${at}`)));
  await until('commits before', () => committed > 0);
  assert.equal(await message(await start('open')), { isUntouched: true });
  const before = committed;
  await until('commits afterwards', () => committed > before + 8);
  isOver = true;
  await writing;
});

if (!isShort)
  test('a full disk refuses commits, and takes neither the process nor what was acknowledged with it', async () => {
    // No file of the child may grow beyond 1 MB.
    const program = await builtFile('test/store/snapshot-child.ts');
    const limited = ['-c', 'ulimit -f 2000; exec "$@"', 'sh', process.execPath, program, folder, 'fill'];
    const child = spawn('sh', limited, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    children.push(child);
    const told = (await message(child)) as { code: string; message: string; acknowledged: number; kept: number };
    assert.is(told.code, 'ERR_STORE');
    assert.match(told.message, folder);
    assert.match(told.message, 'File too large');
    assert.ok(told.acknowledged > 50, `${told.acknowledged} acknowledged`);
    assert.is(told.kept, told.acknowledged);
    assert.is((await store.list({ limit: 10_000 })).keys.length, told.kept - 1);
  });

test.run();

async function start(job: string): Promise<ChildProcess> {
  const child = await snapshotChild(folder, job);
  children.push(child);
  return child;
}

async function message(child: ChildProcess): Promise<unknown> {
  const [what] = await once(child, 'message');
  return what;
}
