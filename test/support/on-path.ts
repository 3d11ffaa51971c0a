// Whether this machine has a program, and where.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

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
