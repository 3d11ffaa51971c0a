// From where npm has installed this package: what another project names in its package.json to install the same one.

import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

/** What npm writes beside the packages that it installs for a project; for global ones it writes none. */
const RECORD = '.package-lock.json';
/** Tarballs of registries; other URLs name a place that no version leads to. */
const OF_REGISTRY = /^https?:.*\/-\/[^/]+\.tgz$/;

export interface InstalledPackage {
  /** Its folder, with no links in the path. */
  readonly folder: string;
  readonly version: string;
}

/**
 * For the `dependencies` of a project in `project`: the version of what came from a registry, or whose origin nobody
 * has written down; else the path to the tarball or to the linked checkout, or the URL.
 */
export function dependencyOn({ folder, version }: InstalledPackage, project: string): string {
  const modules = dirname(folder);
  if (basename(modules) !== 'node_modules') return filePath(project, folder);
  const from = readOrigin(modules, basename(folder));
  if (from === undefined || OF_REGISTRY.test(from)) return version;
  if (!from.startsWith('file:')) return from;
  const place = resolve(dirname(modules), from.slice('file:'.length));
  return existsSync(place) ? filePath(project, place) : version;
}

// npm reads slashes on every system, and paths from where links lead to.
const filePath = (from: string, to: string) => `file:${relative(withoutLinks(from), to).split(sep).join('/')}`;

/** Also of a folder that is not there yet. */
function withoutLinks(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : join(withoutLinks(dirname(folder)), basename(folder));
}

interface Installed {
  readonly packages?: { readonly [path: string]: { readonly resolved?: string } | undefined };
}

function readOrigin(modules: string, name: string): string | undefined {
  const file = join(modules, RECORD);
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as Installed).packages?.[`node_modules/${name}`]?.resolved;
}
