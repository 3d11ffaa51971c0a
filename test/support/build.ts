// The package as npm would put it somewhere, built once for each state of the source: processes of tests run from it.

import { execFile } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { writeFilesBeside } from '../../server/packaging/beside.ts';
import { sourceKey } from '../../server/packaging/dist.ts';
import { writeAssets } from '../../server/web/kit/assets.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Not dist, which others may remove and build meanwhile. */
const BUILDS = join(ROOT, 'build');
const PROJECT = 'test/tsconfig.build.json';
const SOURCES = ['lib', 'machines', 'server', 'test'];
/** What decides how it is built, besides the sources. */
export const SETTINGS = ['package.json', 'tsconfig.json', 'menus/flow.schema.json', 'menus/test.schema.json', PROJECT];
/** What is published as it is. */
const BESIDE = ['menus', 'server/templates', 'server/docs/guides', 'server/deploy'];
/** Of a build that nobody asks for: longer than any run of tests. */
const KEPT_MS = 3_600_000;
/** Coverage is told in lines of the source. */
const OPTIONS = process.env.NODE_V8_COVERAGE ? ['--sourceMap', 'true'] : [];

let known: Promise<string> | undefined;

/** The folder of the package, which may not be written to: what it publishes, and `dist/test`, without the test files. */
export function builtPackage(): Promise<string> {
  known ??= found();
  return known;
}

/** The built file of a source: of `server/main.ts`, or of a program of tests such as `test/store/lmdb-child.ts`. */
export async function builtFile(source: string): Promise<string> {
  return join(await builtPackage(), 'dist', source.replace(/\.ts$/, '.js'));
}

async function found(): Promise<string> {
  const key = keyOfSource();
  const folder = join(BUILDS, key);
  if (existsSync(folder)) {
    const now = new Date();
    utimesSync(folder, now, now);
    return folder;
  }
  const made = await make();
  // Somebody has edited a file meanwhile.
  if (keyOfSource() !== key) {
    rmSync(made, { recursive: true });
    return found();
  }
  try {
    renameSync(made, folder);
  } catch (error) {
    // Unless another process was faster.
    if (!existsSync(folder)) throw error;
    rmSync(made, { recursive: true });
  }
  return folder;
}

/** Names a state of the source: another one whenever what would be built, or how, is another. */
export function keyOfSource(root: string = ROOT): string {
  const isSource = (path: string) => /\.(ts|css)$/.test(path) && !path.endsWith('.test.ts');
  return sourceKey(root, { folders: SOURCES, settings: SETTINGS, isSource, options: OPTIONS });
}

async function make(): Promise<string> {
  mkdirSync(BUILDS, { recursive: true });
  removeOld();
  const folder = mkdtempSync(join(BUILDS, 'new-'));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', PROJECT, '--outDir', join(folder, 'dist'), ...OPTIONS];
  // Mistakes are for others to tell: the code is written all the same, and fails where it is wrong.
  await promisify(execFile)(process.execPath, args, { cwd: ROOT }).catch(() => {});
  writeFilesBeside(ROOT, join(folder, 'dist'));
  await writeAssets(join(folder, 'dist/server/web'));
  chmodSync(join(folder, 'dist/server/cli/main.js'), 0o755);
  copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  for (const path of BESIDE) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, path));
  }
  return folder;
}

function removeOld(): void {
  for (const name of readdirSync(BUILDS)) {
    // That of `npm run build`, which others may hold.
    if (name.endsWith('.lock')) continue;
    const path = join(BUILDS, name);
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
    if (mtimeMs < Date.now() - KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}
