// Whether this machine has a program, and where; and the skip of what cannot run without it.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { skipped } from './skip.ts';

/** What scripts in guides and in the README call. A shell has most others built in. */
const CALLED = ['cat', 'curl', 'cut', 'grep', 'head', 'sed'];

/** Where a program is on PATH; undefined when it is not. */
export function onPath(program: string): string | undefined {
  const candidates = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program));
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Skips what calls it where one of the programs is not on PATH. */
export function skipWithout(programs: readonly string[]): void {
  const missing = programs.filter((program) => !onPath(program));
  if (missing.length) skipped(`not on PATH: ${missing.join(', ')}; install what has them`);
}

/** Which programs a shell script calls, besides those of this package. */
export function programsOf(script: string): string[] {
  return CALLED.filter((program) => new RegExp(`(^|[|;&(\\s])${program}\\s`, 'm').test(script));
}
