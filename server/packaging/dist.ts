// The folder `dist`: the state of the source that it is built from, and how a new build takes its place.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const FOLDERS = ['lib', 'machines', 'server'];
/** Its schemas become code. */
const MENUS = 'menus';
const STAMP = '.built';
const NEITHER = /^server\/(templates|deploy|docs\/guides)\//;

/** The state of the source in `root`. */
export function keyOfDist(root: string): string {
  return sourceKey(root, {
    folders: [...FOLDERS, MENUS],
    settings: ['package.json', 'package-lock.json', 'tsconfig.json'],
    isSource: (path) =>
      path.startsWith(`${MENUS}/`)
        ? path.endsWith('.schema.json')
        : /\.(ts|css|json)$/.test(path) && !NEITHER.test(path),
  });
}

/** The key of a build that has only what `npm start` needs. */
export const runnableKey = (key: string): string => `start-${key}`;

/** Whether `dist` was built from this state of the source, and all of it is still there. */
export function isBuilt(root: string, key: string): boolean {
  const dist = join(root, 'dist');
  const stamp = join(dist, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === stampPath(dist, key);
}

/**
 * Puts a finished build in the place of `dist`. Each file is there at any moment, whole, as it was or as it is now; files
 * that have not changed are not touched, and those that are built no more go last. What others put beside them stays.
 */
export function publish(built: string, { root, key }: { readonly root: string; readonly key: string }): void {
  const dist = join(root, 'dist');
  if (!existsSync(dist)) {
    writeFileSync(join(built, STAMP), stampPath(built, key));
    renameSync(built, dist);
    return;
  }
  // A process that is ended in the middle leaves a dist that is built again.
  rmSync(join(dist, STAMP), { force: true });
  const files = listOutputs(built);
  for (const path of files) {
    const [from, to] = [join(built, path), join(dist, path)];
    if (existsSync(to) && readFileSync(from).equals(readFileSync(to))) continue;
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  }
  const kept = new Set(files);
  for (const path of listOutputs(dist)) if (!kept.has(path)) rmSync(join(dist, path));
  writeFileSync(join(built, STAMP), stampPath(dist, key));
  renameSync(join(built, STAMP), join(dist, STAMP));
  rmSync(built, { recursive: true });
}

/** Paths of all files that are built, in a folder such as `dist`. */
export function listOutputs(folder: string): string[] {
  return FOLDERS.flatMap((name) => filesIn(folder, name)).sort();
}

// Names and sizes: a file that was lost or cut off is noticed without reading all of them at each start.
function stampPath(folder: string, key: string): string {
  const hash = createHash('sha256');
  for (const path of listOutputs(folder)) hash.update(`${path} ${statSync(join(folder, path)).size}\n`);
  return `${key} ${hash.digest('hex')}\n`;
}

export interface SourceOptions {
  /** Folders of the source; a folder that is not there counts as empty. */
  readonly folders: readonly string[];
  /** Files beside them that decide what is built, such as package-lock.json. */
  readonly settings: readonly string[];
  /** Which files of the folders are read by the compiler; paths from the root. */
  readonly isSource: (path: string) => boolean;
  /** What else decides, such as options of the compiler. */
  readonly options?: readonly string[];
}

/** 16 hexadecimal digits, others whenever a file was edited, added, renamed or removed. */
export function sourceKey(root: string, { folders, settings, isSource, options = [] }: SourceOptions): string {
  const hash = createHash('sha256').update(options.join());
  const files = folders.flatMap((folder) => filesIn(root, folder)).filter(isSource);
  for (const path of [...settings, ...files.sort()]) {
    const text = readFileSync(join(root, path));
    hash.update(`\n${path} ${text.length}\n`).update(text);
  }
  return hash.digest('hex').slice(0, 16);
}

/** Paths of all files below a folder, from the root. */
export function filesIn(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, '/').length));
}
