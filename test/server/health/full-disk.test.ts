// A disk that is full: callers hear it, every sign of health says so, and all comes back by itself when there is room.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtFile } from '../../support/build.ts';
import { onPath } from '../../support/on-path.ts';
import { type RunningServer, startProcess, withFolder } from '../../support/process.ts';
import { skipped } from '../../support/skip.ts';
import { ask, DIAL, json } from '../support/serve.ts';

const test = suite('full disk', { timeoutMs: 120_000 });

const UNAVAILABLE = 'END Service temporarily unavailable. Please try again later.';
const CHUNK = Buffer.alloc(65_536);

/** A place for data that takes no more when it is full. */
interface Disk {
  readonly folder: string;
  fill(server: RunningServer): void;
  empty(server: RunningServer): void;
}

/** A small file system in memory, filled with files. */
function tinyDisk(folder: string): Disk {
  const filler = join(folder, 'filler');
  return {
    folder: join(folder, 'data'),
    fill: () => {
      for (const size of [CHUNK.length, 4_096, 1])
        try {
          for (;;) writeFileSync(filler, CHUNK.subarray(0, size), { flag: 'a' });
        } catch (error) {
          assert.is((error as NodeJS.ErrnoException).code, 'ENOSPC');
        }
    },
    empty: () => rmSync(filler),
  };
}

/** Any folder, for a process that may make no file longer: what users without rights can do to a server of theirs. */
function limitedFiles(folder: string): Disk {
  const limit = (server: RunningServer, bytes: string) =>
    execFileSync('prlimit', ['--pid', String(server.pid), `--fsize=${bytes}:unlimited`]);
  return {
    folder,
    fill: (server) => void limit(server, '4096'),
    empty: (server) => void limit(server, 'unlimited'),
  };
}

async function withTinyDisk(work: (disk: Disk) => Promise<void>, folder: string): Promise<void> {
  try {
    await work(tinyDisk(folder));
  } finally {
    execFileSync('umount', [folder]);
    rmSync(folder, { recursive: true });
  }
}

/** A folder with a file system of 8 MiB; undefined where this user may not mount one. */
function mountTiny(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
}

async function until<T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  for (let tries = 1; ; tries++) {
    const seen = await look();
    if (holds(seen) || tries === 100) return seen;
    await pause(100);
  }
}

async function fillsAndEmpties({ folder, fill, empty }: Disk): Promise<void> {
  const server = await startProcess({ DATA_DIR: folder, LOG_LEVEL: 'info' });
  try {
    const get = (path: string) => ask(server.url + path);
    const dial = async (sessionId: string) => (await ask(`${server.url}/api/ussd`, json({ ...DIAL, sessionId }))).text;
    const up = async () =>
      (await get('/metrics')).text.match(/(?<=^twinline_store_up\{store="\w+",kind="\w+"\} )\d/gm)?.join('');
    const key = /API key\s+(\S+)/.exec(server.printed())![1]!;
    const protocol = { type: 'Protocol', name: 'full', properties: {} };
    const write = () => ask(`${server.url}/v1/protocols`, json(protocol, { authorization: `Bearer ${key}` }));

    assert.match(await dial('s1'), /^CON /);
    assert.equal([(await get('/readyz')).status, await up()], [200, '11']);
    fill(server);
    for (const id of ['s2', 's3', 's4']) assert.is(await dial(id), UNAVAILABLE);
    assert.is((await write()).status, 503);
    const ready = await until(
      () => get('/readyz'),
      ({ text }) => text.includes('documents'),
    );
    const stores = [
      { keeps: 'sessions', kind: 'lmdb', away: 'refuses-writes' },
      { keeps: 'documents', kind: 'sqlite', away: 'refuses-writes' },
    ];
    assert.equal([ready.status, ready.json()], [503, { status: 'store-away', stores }]);
    const { status, database } = (await get('/health')).json() as { status: string; database: string };
    assert.equal([status, database, await up()], ['degraded', 'disconnected', '00']);
    // Asking does not make it well.
    await pause(1_500);
    assert.equal([(await get('/readyz')).status, await up()], [503, '00']);

    empty(server);
    const again = await until(
      () => get('/readyz'),
      ({ status }) => status === 200,
    );
    assert.equal([again.status, await up()], [200, '11'], 'well again without a caller');
    assert.match(await dial('s5'), /^CON /);
    assert.is((await write()).status, 201);

    const printed = server.printed();
    assert.match(printed, /"keeps":"sessions".*"msg":"a store is away"/);
    assert.match(printed, /"keeps":"sessions".*"msg":"a store is back"/);
    assert.not.match(printed, /^\s+at .*lmdb/m, 'traces of lmdb');
    assert.ok((printed.match(/Write error: /g) ?? []).length <= 2, 'what lmdb itself writes');
  } finally {
    await server.kill();
  }
}

test('the doctor tries to write: a folder that takes nothing is broken, whatever its rights and its free space', async () => {
  if (onPath('prlimit') === undefined) skipped('no prlimit here: install util-linux');
  await withFolder(async (folder) => {
    const doctor = [process.execPath, await builtFile('server/cli/main.ts'), 'doctor'];
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: folder, PORT: '0', NO_COLOR: '1' };
    const said = (limit: string) =>
      spawnSync('prlimit', [`--fsize=${limit}`, ...doctor], { env, encoding: 'utf8', cwd: folder }).stdout;
    assert.match(said('unlimited'), /can be written/);
    assert.match(said('1024'), /takes no writes \(EFBIG\)/);
    assert.equal(readdirSync(folder), [], 'nothing is left behind');
  });
});

test('a process whose files may not grow: refused, told everywhere, and well again without a restart', async () => {
  if (onPath('prlimit') === undefined) skipped('no prlimit here: install util-linux');
  await withFolder((folder) => fillsAndEmpties(limitedFiles(folder)));
});

// Where no file system may be mounted, the test above holds the same promise.
const tiny = mountTiny();
if (tiny !== undefined)
  test('a full file system: refused, told everywhere, and well again without a restart', () =>
    withTinyDisk(fillsAndEmpties, tiny));

test.run();
