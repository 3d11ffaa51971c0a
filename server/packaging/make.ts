// Makes `dist`: built beside it, one build at a time, and swapped when it is whole.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'libsql';
import { takeSwaggerFiles } from '../docs/swagger-files.ts';
import { writeAssets } from '../web/kit/assets.ts';
import { isBuilt, keyOfDist, publish, runnableKey } from './dist.ts';
import { writeLicences } from './licences.ts';
import { writeTables } from './tables.ts';

/** A build that was killed leaves its folder; by then it is not written any more. */
const ABANDONED_MS = 3_600_000;
/** Between two tries to get the lock. */
const RETRY_LOCK_MS = 100;

export interface BuildOptions {
  /** Only what a server of this clone runs: types are not checked, and there are no declarations and no guide of every name. */
  readonly isForStart?: boolean;
}

/** The exit code: that of the compiler where it finds a mistake. Then `dist` is as it was. */
export async function build(root: string, { isForStart = false }: BuildOptions = {}): Promise<number> {
  const builds = join(root, 'build');
  const onWait = () => console.error('Another build is under way; waiting for it.');
  return withLock(join(builds, 'dist.lock'), onWait, async () => {
    // The process that was first has built what was missing; and a file may be edited while it is being built.
    const isDone = (key: string) => isBuilt(root, key) || (isForStart && isBuilt(root, runnableKey(key)));
    for (let key = keyOfDist(root); !isDone(key); key = keyOfDist(root)) {
      const begun = performance.now();
      console.error(
        `Building what is run, once for this source: ${isForStart ? 'about 10 seconds' : 'about half a minute'} …`,
      );
      removeAbandoned(builds);
      const folder = mkdtempSync(join(builds, 'dist-'));
      const code = await (isForStart ? transpile : compile)(root, folder);
      if (code !== 0) {
        rmSync(folder, { recursive: true });
        return code;
      }
      if (keyOfDist(root) !== key) {
        rmSync(folder, { recursive: true });
        continue;
      }
      publish(folder, { root, key: isForStart ? runnableKey(key) : key });
      console.error(`Built dist in ${((performance.now() - begun) / 1_000).toFixed(1)} s.`);
    }
    return 0;
  });
}

async function compile(root: string, folder: string): Promise<number> {
  // What browsers run is only checked: esbuild bundles it.
  const code =
    runCompiler(root, ['-p', 'server/web/browser', '--noEmit']) ||
    runCompiler(root, ['--outDir', relative(root, folder)]);
  if (code === 0) await finishDist(folder, root);
  return code;
}

async function transpile(root: string, folder: string): Promise<number> {
  const code = runCompiler(root, ['--noCheck', '--declaration', 'false', '--outDir', relative(root, folder)]);
  if (code === 0) await finishRunnable(folder);
  return code;
}

function runCompiler(root: string, args: readonly string[]): number {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { status, error } = spawnSync(process.execPath, [compiler, ...args], { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  return status ?? 1;
}

/** What is done to files that the compiler has built, until they are `dist`. */
export async function finishDist(folder: string, root: string): Promise<void> {
  await finishRunnable(folder);
  // Routes and the compiler are loaded only where there are declarations.
  const { writeClientTypes } = await import('./client-types.ts');
  writeClientTypes(folder);
  const { readApi, writeApiGuide } = await import('../docs/generate/api.ts');
  writeFileSync(join(folder, 'server/docs/api.md'), writeApiGuide(readApi(folder, root)));
}

async function finishRunnable(folder: string): Promise<void> {
  await writeTables(folder);
  writeLicences(folder, await writeAssets(join(folder, 'server/web')));
  takeSwaggerFiles(join(folder, 'server/docs/swagger'));
  chmodSync(join(folder, 'server/cli/main.js'), 0o755);
}

function removeAbandoned(builds: string): void {
  for (const name of readdirSync(builds)) {
    const path = join(builds, name);
    const isOld = () => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (name.startsWith('dist-') && isOld() < Date.now() - ABANDONED_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** Does the work while no other process works under the same file. Waits for those who came first; `onWait` is called once. */
async function withLock<T>(file: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  const lock = new Database(file);
  try {
    for (let tries = 0; !takeLock(lock); tries++) {
      if (tries === 0) onWait();
      await pause(RETRY_LOCK_MS);
    }
    return await work();
  } finally {
    lock.close();
  }
}

function takeLock(lock: Database.Database): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code?.startsWith('SQLITE_BUSY')) return false;
    throw error;
  }
}
