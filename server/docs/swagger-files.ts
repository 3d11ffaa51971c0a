// The files of Swagger UI: taken over and compressed at build, so that nobody who runs the server installs their package.

import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompressSync, brotliDecompress, constants } from 'node:zlib';

/** What is served, with its media type. */
export const SWAGGER_TYPES: { readonly [name: string]: string } = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
};

const SERVED = Object.keys(SWAGGER_TYPES);
/** What goes with it. */
const LICENCES = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'];

/** A tenth larger than the best, in a tenth of the time. */
const BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 };

/** Puts the files into the folder, those that are served as Brotli. Throws what the file system does, or that the package is not installed. */
export function takeSwaggerFiles(folder: string): void {
  const from = packageFolder();
  if (!from) throw new Error('swagger-ui-dist is not installed. Run npm ci, which also installs what builds need.');
  mkdirSync(folder, { recursive: true });
  for (const name of LICENCES) copyFileSync(join(from, name), join(folder, name));
  for (const name of SERVED)
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(readFileSync(join(from, name)), { params: BROTLI }));
}

/** Where the files are: beside what was built, or in the package when the source runs; undefined when nowhere. */
export function swaggerFolder(): string | undefined {
  const built = fileURLToPath(new URL('./swagger', import.meta.url));
  const first = SERVED[0]!;
  return [built, packageFolder()].find(
    (folder) => folder !== undefined && [`${first}.br`, first].some((name) => existsSync(join(folder, name))),
  );
}

/** A file of {@link swaggerFolder} as it is and, where it was built, as Brotli. */
export interface SwaggerFile {
  readonly content: Buffer;
  readonly brotli?: Buffer;
}

/** Reads one of {@link SWAGGER_TYPES}. Rejects with what the file system says. */
export async function readSwaggerFile(folder: string, name: string): Promise<SwaggerFile> {
  const packed = join(folder, `${name}.br`);
  if (!existsSync(packed)) return { content: await readFile(join(folder, name)) };
  const brotli = await readFile(packed);
  return { content: await promisify(brotliDecompress)(brotli), brotli };
}

function packageFolder(): string | undefined {
  try {
    return dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
  } catch {
    return undefined;
  }
}
