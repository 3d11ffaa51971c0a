// Creates a folder and its missing parents (mkdir -p), accessible to the owner only.

import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes the folder, for its owner only, unless it is there. Throws what the file system does. Node's own recursion never
 * ends where a folder cannot be made although its parent is there, as in /proc.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
