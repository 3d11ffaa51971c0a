// Test code that is built before it runs: where thousands of turns or hundreds of processes are worth it.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Builds the folder of tests that has a tsconfig.json, `simulation`, and gives the path of one of its built files. */
export async function built(folder: string, file: string): Promise<string> {
  const tsc = `${ROOT}node_modules/typescript/bin/tsc`;
  // Mistakes in types are for others to tell; the code is written all the same.
  await promisify(execFile)(process.execPath, [tsc, '-p', `test/${folder}`], { cwd: ROOT }).catch(() => {});
  const path = `${ROOT}dist/${folder}/test/${folder}/${file}`;
  if (!existsSync(path)) throw new Error(`tsc -p test/${folder} does not write ${path}.`);
  return path;
}
