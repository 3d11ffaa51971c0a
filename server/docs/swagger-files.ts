// The files of Swagger UI: taken over at build, so that nobody who runs the server installs their package.

import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What is served, with its media type. */
export const SWAGGER_TYPES: { readonly [name: string]: string } = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
};

const SERVED = Object.keys(SWAGGER_TYPES);
/** What goes with it. */
const LICENCES = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'];

/** Copies the files into the folder. Throws what the file system does, or that the package is not installed. */
export function takeSwaggerFiles(folder: string): void {
  const from = packageFolder();
  if (!from) throw new Error('swagger-ui-dist is not installed. Run npm ci, which also installs what builds need.');
  mkdirSync(folder, { recursive: true });
  for (const name of [...SERVED, ...LICENCES]) copyFileSync(join(from, name), join(folder, name));
}

/** Where the files are: beside what was built, or in the package when the source runs; undefined when nowhere. */
export function swaggerFolder(): string | undefined {
  const built = fileURLToPath(new URL('./swagger', import.meta.url));
  return [built, packageFolder()].find((folder) => folder !== undefined && existsSync(join(folder, SERVED[0]!)));
}

function packageFolder(): string | undefined {
  try {
    return dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
  } catch {
    return undefined;
  }
}
