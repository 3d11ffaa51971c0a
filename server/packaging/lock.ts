// One build at a time. The operating system holds the lock, so it ends with its process, however that ends.

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'libsql';

const LOOK_MS = 100;

/** Does the work while no other process works under the same file. Waits for those who came first; `onWait` is told once. */
export async function withLock<T>(file: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  const lock = new Database(file);
  try {
    for (let tries = 0; !taken(lock); tries++) {
      if (tries === 0) onWait();
      await pause(LOOK_MS);
    }
    return await work();
  } finally {
    lock.close();
  }
}

function taken(lock: Database.Database): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code?.startsWith('SQLITE_BUSY')) return false;
    throw error;
  }
}
