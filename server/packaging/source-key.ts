// Which state of the source something was built from: a hash of what was read, so that clocks and checkouts do not matter.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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
