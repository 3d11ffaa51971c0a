// What built modules read from files beside them: style sheets of the library, and the checks of the schemas of flows and tests as
// code.

import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import standalone from 'ajv/dist/standalone/index.js';
import { checkFile, compileSchema, SCHEMA_NAMES } from '../../lib/flow/format/validators.ts';
import { filesIn } from './dist.ts';

/** Writes them; `built` is the folder `dist` that is being made of the source in `root`. */
export function writeFilesBeside(root: string, built: string): void {
  for (const path of filesIn(root, 'lib').filter((path) => path.endsWith('.css')))
    copyFileSync(join(root, path), join(built, path));
  const folder = join(built, 'lib/flow/format');
  mkdirSync(folder, { recursive: true });
  for (const name of SCHEMA_NAMES) {
    const { ajv, validate } = compileSchema(name);
    writeFileSync(join(folder, checkFile(name)), standalone.default(ajv, validate));
  }
}
