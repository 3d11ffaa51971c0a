// The checks of the schemas of flows and tests as code, for a build.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import standalone from 'ajv/dist/standalone/index.js';
import { checkFile, compileSchema, SCHEMA_NAMES } from '../../lib/flow/format/validators.ts';

/** Writes them beside the built module that loads them; `built` is the folder `dist` that is being made. */
export function writeChecks(built: string): void {
  const folder = join(built, 'lib/flow/format');
  mkdirSync(folder, { recursive: true });
  for (const name of SCHEMA_NAMES) {
    const { ajv, validate } = compileSchema(name);
    writeFileSync(join(folder, checkFile(name)), standalone.default(ajv, validate));
  }
}
