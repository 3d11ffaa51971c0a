// Several processes on one LMDB store: no update is lost, none is seen late, and a killed one takes nothing with it.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { session } from '../../lib/testing/sessions/bench.ts';
import { builtFile } from '../support/build.ts';
import { killed } from '../support/process.ts';

const CHILD = 'test/store/lmdb-child.ts';
const KILL_ROUNDS = 5;

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

test('two processes that count up the same keys lose no count', async () => {
  const both = await Promise.all([start('increment'), start('increment')]);
  const told = (await Promise.all(both.map(message))) as { conflicts: number }[];
  const { keys } = await store.list();
  const sum = keys.reduce((total, key) => total + Number(read(key)?.record), 0);
  assert.is(sum, 1000);
  assert.equal(
    keys.map((key) => Number(read(key)?.record)),
    keys.map((key) => read(key)?.revision),
  );
  assert.ok(
    told.some(({ conflicts }) => conflicts > 0),
    'they met',
  );
});

test('a process sees what another has committed in the same millisecond', async () => {
  const child = await start('answer');
  await message(child);
  for (let revision = 0; revision < 200; revision++) {
    await store.commit('k', revision, session(clock));
    child.send('k');
    assert.is(await message(child), revision + 1);
  }
});

test('while a process opens the folder no other one commits, and the commits before and after are kept', async () => {
  // An answer may reach its caller a moment after the lock is free: when a commit began counts too.
  const commits: { begun: number; acknowledged: number }[] = [];
  let isOver = false;
  const now = () => performance.timeOrigin + performance.now();
  const write = async (key: string) => {
    for (let revision = 0; !isOver; revision++) {
      const begun = now();
      const result = await store.commit(key, revision, session(clock));
      assert.equal(result, { kind: 'committed', revision: revision + 1 });
      commits.push({ begun, acknowledged: now() });
    }
  };
  const writing = Promise.all(Array.from({ length: 8 }, (_, at) => write(`w${at}`)));
  const opening = (await message(await start('open'))) as { from: number; to: number };
  await pause(50);
  isOver = true;
  await writing;
  const meanwhile = commits.filter(({ begun, acknowledged }) => begun > opening.from && acknowledged < opening.to);
  assert.is(meanwhile.length, 0);
  assert.ok(commits.some(({ acknowledged }) => acknowledged < opening.from));
  assert.ok(commits.some(({ begun }) => begun > opening.to));
});

test('whatever a killed process had acknowledged is there, and others write on', async () => {
  let acknowledged = 0;
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const writers = await Promise.all([start('write', `${round}a`), start('write', `${round}b`)]);
    const told = new Map<string, number>();
    for (const writer of writers) writer.on('message', (ack) => told.set(...(ack as [string, number])));
    await Promise.all(writers.map(message));
    const own = writeFor(150, `${round}`);
    await pause(20 + Math.random() * 80);
    await Promise.all(writers.map(killed));
    assert.ok((await own) > 0);
    for (const [key, revision] of told) {
      const found = read(key);
      assert.ok(found && found.revision >= revision, `${key}: ${found?.revision} stored, ${revision} acknowledged`);
      assert.is(found.record, `${key} ${found.revision}`);
      const due = found.dueAt !== null;
      assert.is((await store.due(Date.now() + 1000, 1000)).includes(key), due, key);
      acknowledged += revision;
    }
  }
  assert.ok(acknowledged > KILL_ROUNDS, `${acknowledged} acknowledged`);
  const { keys } = await store.list({ limit: 1000 });
  assert.is(await store.sweep(Date.now() + 120_000, 1000), keys.length);
});

test('a full disk refuses commits, and takes neither the process nor what was acknowledged with it', async () => {
  // No file of the child may grow beyond 1 MB.
  const limited = ['-c', 'ulimit -f 2000; exec "$@"', 'sh', process.execPath, await builtFile(CHILD), folder, 'fill'];
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

async function start(job: string, name = ''): Promise<ChildProcess> {
  const child = fork(await builtFile(CHILD), [folder, job, name], { execArgv: [] });
  children.push(child);
  return child;
}

async function message(child: ChildProcess): Promise<unknown> {
  const [what] = await once(child, 'message');
  return what;
}

function read(key: string) {
  return store.load(key) as Exclude<ReturnType<SnapshotStore['load']>, Promise<unknown>>;
}

// How many commits this process made while others were being killed.
async function writeFor(ms: number, key: string): Promise<number> {
  let revision = 0;
  for (const until = Date.now() + ms; Date.now() < until; revision++)
    assert.is((await store.commit(key, revision, session(clock))).kind, 'committed');
  return revision;
}
