// package.json and package-lock.json, as far as the tests of the package look at them.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly scripts: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

export interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The repository's root, with a slash at its end. */
export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));

export const manifest = readJson<Manifest>('package.json');

/** Locked packages by folder, `node_modules/uvu`; the package itself is under ''. */
export const locked = readJson<{ packages: Readonly<Record<string, Locked>> }>('package-lock.json').packages;

/** The source that a published file is built from: `./dist/lib/index.js` → `lib/index.ts`. */
export function sourceOf(target: string): string {
  return target.replace(/^(\.\/)?dist\//, '').replace(/\.js$/, '.ts');
}

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(`${ROOT}${name}`, 'utf8')) as T;
}
