// Modules of the library that read a file or compile a schema where the source runs. A build holds the outcome in their place, so that
// the package reads no files and can be bundled.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import standalone from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';
import { DRAWING_STYLE } from '../../lib/diagram/style.ts';
import { schemaCompiler } from '../../lib/flow/format/checks.ts';
import { SCHEMAS } from '../../lib/flow/format/schemas.ts';

/** Writes them into the folder `dist` that is being built. */
export async function writeTables(dist: string): Promise<void> {
  const modules = {
    'lib/diagram/style.js': exportConst('DRAWING_STYLE', DRAWING_STYLE),
    'lib/flow/format/schemas.js': exportConst('SCHEMAS', SCHEMAS),
    'lib/flow/format/checks.js': await compileChecks(),
  };
  for (const [path, code] of Object.entries(modules)) {
    mkdirSync(dirname(join(dist, path)), { recursive: true });
    writeFileSync(join(dist, path), code);
  }
}

const exportConst = (name: string, value: unknown) => `export const ${name} = ${JSON.stringify(value)};\n`;

// The code of checks requires functions of Ajv, which only a bundler turns into what a module may use.
async function compileChecks(): Promise<string> {
  const ajv = schemaCompiler({ source: true, esm: true });
  const contents = standalone.default(ajv, { checkFlow: 'flow', checkFlowTests: 'test' });
  const stdin = { contents, resolveDir: import.meta.dirname };
  const { outputFiles } = await build({
    stdin,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    minify: true,
    write: false,
  });
  return outputFiles[0]!.text;
}
