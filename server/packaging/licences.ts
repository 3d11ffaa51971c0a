// The licences of packages whose code is part of the scripts of pages: one file beside them, which the list of materials reads as well.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** From the folder `dist`. */
export const LICENCES = 'server/web/assets/third-party-licences.txt';
const FILES = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'LICENCE'];
const RULE = '='.repeat(80);

/** Writes the file into `dist`, for scripts that were made of `inputs`, paths of source files. */
export function writeLicences(dist: string, inputs: readonly string[]): void {
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []));
  writeFileSync(join(dist, LICENCES), [...folders].sort().map(readLicence).join('\n'));
}

/** The packages that the file names: `marked@18.2.1`. */
export function listBundled(text: string): string[] {
  return [...text.matchAll(new RegExp(`^${RULE}\\n(\\S+@\\S+)$`, 'gm'))].map(([, name]) => name!);
}

function readLicence(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly [field: string]: string;
  };
  const file = FILES.map((one) => join(folder, one)).find((path) => existsSync(path));
  if (!file) throw new Error(`${name} is part of a page and has no licence file. Leave it out, or ask its authors.`);
  return `${RULE}\n${name}@${version}\n${license}\n\n${readFileSync(file, 'utf8').trim()}\n`;
}
