// Packages that only some installations need: loaded when they are, and missed in words that say what to do.

import { TwinlineError } from '../errors.ts';

/** What `load` imports. Throws ERR_CONFIG when a package is not installed; `packages` are what is to be installed. */
export async function optionalPackage<T>(
  load: () => Promise<T>,
  { purpose, packages }: { readonly purpose: string; readonly packages: string },
): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    const words = `Cannot ${purpose}: an optional package is not installed. Install it with: npm install ${packages}`;
    throw new TwinlineError('ERR_CONFIG', words, { cause });
  }
}
