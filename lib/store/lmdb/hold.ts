// What LMDB does with a disk that takes no more writes: it says so on the console, for every transaction. So it is asked
// seldom until there is room again, and what it prints from JavaScript is left out: the writer gets the same error.
//
// From its C code it also writes `Write error: …` straight to the standard error of the process, which nothing here can
// catch: one such text for each time that it is asked.

import { unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TwinlineError } from '../../errors.ts';

export interface WriteHold {
  /**
   * Runs a write that adds something, for what removes makes room. `isWritten`: whether its result means that something
   * was written. While writes are held back, rejects with the last error without asking LMDB.
   */
  run<T>(write: () => Promise<T>, isWritten: (result: T) => boolean): Promise<T>;
}

/** Milliseconds after a refused write in which LMDB is not asked. */
const PAUSE_MS = 1_000;
/** After so many, it is asked although the disk seems to be full: it may have free pages inside its file. */
const ASK_ANYWAY_MS = 30_000;

/** For the environment in the folder `path`. */
export function writeHold(path: string): WriteHold {
  let failure: { readonly error: unknown; readonly at: number; until: number } | undefined;

  function isHeld(now: number): boolean {
    if (!failure) return false;
    if (now < failure.until) return true;
    if (now - failure.at >= ASK_ANYWAY_MS || takesWrites(path)) return false;
    failure.until = now + PAUSE_MS;
    return true;
  }

  return {
    async run(write, isWritten) {
      const now = performance.now();
      if (isHeld(now)) throw failure!.error;
      try {
        const result = await write();
        if (isWritten(result)) failure = undefined;
        return result;
      } catch (error) {
        // Ours say that the write was wrong, not that LMDB refused it.
        if (error instanceof TwinlineError) throw error;
        const at = performance.now();
        failure = { error, at, until: at + PAUSE_MS };
        throw error;
      }
    },
  };
}

function takesWrites(folder: string): boolean {
  try {
    tryToWrite(folder);
    return true;
  } catch {
    return false;
  }
}

let quiet: typeof console.error | undefined;

/** Keeps errors of LMDB's transactions off the console; all else is printed as before. */
export function quietLmdb(): void {
  const print = console.error;
  if (print === quiet) return;
  quiet = (...words: unknown[]) => {
    const [error] = words;
    const isOfLmdb = words.length === 1 && error instanceof Error && /[\\/]lmdb[\\/]write\.js/.test(error.stack ?? '');
    if (!isOfLmdb) print(...words);
  };
  console.error = quiet;
}

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
