// Whether a folder takes writes now: rights, free space, quotas and limits of the process, all tried at once.

import { unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** About what the writes of one moment need. */
const TRIAL = Buffer.alloc(65_536);

/** Writes a small file into the folder and removes it. Throws what the system says. */
export function tryToWrite(folder: string): void {
  const file = join(folder, `.trial-${process.pid}`);
  try {
    writeFileSync(file, TRIAL);
  } finally {
    remove(file);
  }
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It could not even be made.
  }
}
