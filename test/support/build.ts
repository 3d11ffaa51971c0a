// What processes of tests run: the package as it is published, and modules for what it does not have. Each is built once for each state
// of the source, into a folder of its own: not into dist, which others may remove and build meanwhile.

import { execFile } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
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
import { promisify } from 'node:util';
import { isBuilt, keyOfDist, listOutputs, sourceKey } from '../../server/packaging/dist.ts';
import { writeTables } from '../../server/packaging/tables.ts';
import { writeAssets } from '../../server/web/kit/assets.ts';
import { manifest, ROOT, sourceOf } from '../package/manifest.ts';
import { isShort } from './size.ts';

const BUILDS = join(ROOT, 'build');
const PROJECT = 'test/tsconfig.build.json';
const SOURCES = ['lib', 'machines', 'server', 'test'];
/** What decides how modules are built, besides the sources. */
export const SETTINGS = ['package.json', 'tsconfig.json', 'menus/flow.schema.json', 'menus/test.schema.json', PROJECT];
/** What is published as it is. */
const BESIDE = ['menus', 'server/templates', 'server/docs/guides', 'server/deploy', 'CHANGELOG.md'];
/** What leads into the package: subpaths, commands, the server. */
const ENTRIES = new Set(
  [...Object.values(manifest.exports), ...Object.values(manifest.bin ?? {}), 'dist/server/main.js'].map(sourceOf),
);
/** Of a build that nobody asks for: longer than any run of tests. */
const KEPT_MS = 3_600_000;
/** Coverage is told in lines of the source. */
const isCovered = process.env.NODE_V8_COVERAGE !== undefined;
const OPTIONS = isCovered ? ['--sourceMap', 'true'] : [];

const run = promisify(execFile);

export const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/** The folder of the package, which may not be written to: what it publishes, as `npm run build` makes it. */
export const builtPackage = once('package', () => keyOfDist(ROOT), makePackage);

/** The same with each module in a file, without declarations, and with `dist/test`, where the programs of tests are. */
export const builtModules = once('modules', () => keyOfModules(), makeModules);

/**
 * The built file of a source: of the package (in `npm test` of the modules, which are built in a quarter of the time), `server/main.ts`, or of a program of tests such as `test/store/lmdb-child.ts`. */
export async function builtFile(source: string): Promise<string> {
  const folder = await (ENTRIES.has(source) && !isCovered && !isShort ? builtPackage : builtModules)();
  return join(folder, 'dist', source.replace(/\.ts$/, '.js'));
}

/** Names a state of the source: another one whenever the modules that would be built, or how, are others. */
export function keyOfModules(root: string = ROOT): string {
  const isSource = (path: string) => /\.(ts|css)$/.test(path) && !path.endsWith('.test.ts');
  return sourceKey(root, { folders: SOURCES, settings: SETTINGS, isSource, options: OPTIONS });
}

function once(name: string, keyNow: () => string, make: (folder: string, key: string) => Promise<void>) {
  let known: Promise<string> | undefined;
  const find = async (): Promise<string> => {
    const key = keyNow();
    const folder = join(BUILDS, `${name}-${key}`);
    if (existsSync(folder)) {
      const now = new Date();
      utimesSync(folder, now, now);
      return folder;
    }
    mkdirSync(BUILDS, { recursive: true });
    console.log(`Building the ${name} that tests run, once for this state of the source …`);
    removeOld();
    const made = mkdtempSync(join(BUILDS, 'new-'));
    await make(made, key);
    // Somebody has edited a file meanwhile, or another process was faster.
    if (keyNow() !== key || !isRenamed(made, folder)) {
      rmSync(made, { recursive: true });
      return find();
    }
    return folder;
  };
  return (): Promise<string> => {
    known ??= find();
    return known;
  };
}

function isRenamed(made: string, folder: string): boolean {
  try {
    renameSync(made, folder);
    return true;
  } catch (error) {
    if (existsSync(folder)) return false;
    throw error;
  }
}

async function makePackage(folder: string, key: string): Promise<void> {
  const built = join(folder, 'dist');
  if (!copyDist(built, key)) {
    // With what bundles, which no test needs besides.
    const { finishDist } = await import('../../server/packaging/make.ts');
    await run(process.execPath, [TSC, '--outDir', built], { cwd: ROOT });
    await finishDist(built, ROOT);
  }
  putBeside(folder);
}

// `npm run build` may have made it already, and may make another one while it is copied.
function copyDist(built: string, key: string): boolean {
  if (!isBuilt(ROOT, key)) return false;
  for (const path of listOutputs(join(ROOT, 'dist'))) cpSync(join(ROOT, 'dist', path), join(built, path));
  if (isBuilt(ROOT, key)) return true;
  rmSync(built, { recursive: true });
  return false;
}

async function makeModules(folder: string): Promise<void> {
  const built = join(folder, 'dist');
  // Mistakes are for others to tell: the code is written all the same, and fails where it is wrong.
  await run(process.execPath, [TSC, '-p', PROJECT, '--outDir', built, ...OPTIONS], { cwd: ROOT }).catch(() => {});
  await writeTables(built);
  await writeAssets(join(built, 'server/web'));
  chmodSync(join(built, 'server/cli/main.js'), 0o755);
  putBeside(folder);
}

function putBeside(folder: string): void {
  copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  for (const path of BESIDE) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, path));
  }
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
