// The package as npm packs it: built into a folder of its own, as its files, or as a tarball; and what npm puts beside it.

import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as assert from 'uvu/assert';
import { builtPackage } from '../support/build.ts';
import { locked, type Manifest, ROOT } from './manifest.ts';

/** Puts into `source` what is packed, with its types. */
export async function buildPackage(source: string): Promise<void> {
  cpSync(await builtPackage(), source, { recursive: true, dereference: true });
}

/** Copies what `npm pack` takes of a built package to `target`. */
export function copyPacked(source: string, target: string): void {
  const packed = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: source,
    encoding: 'utf8',
  });
  const [{ files }] = JSON.parse(packed.stdout) as [{ files: { path: string }[] }];
  for (const { path } of files) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    copyFileSync(join(source, path), join(target, path));
  }
}

/**
 * The tarball of a built package, in `target`. It names no dependencies: npm would ask a registry for them.
 * {@link linkDependencies} puts them in their place.
 */
export function packTarball(source: string, target: string): string {
  const file = join(source, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  const { dependencies: _, optionalDependencies: __, peerDependencies: ___, ...rest } = manifest;
  writeFileSync(file, JSON.stringify(rest));
  const { stdout, stderr } = spawnSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', target], {
    cwd: source,
    encoding: 'utf8',
  });
  assert.ok(stdout, stderr);
  return join(target, (JSON.parse(stdout) as [{ filename: string }])[0].filename);
}

/** What npm installs beside the package into `modules`: neither development dependencies nor what only they need. */
export function linkDependencies(modules: string): void {
  const kept = Object.entries(locked).filter(([path, { dev }]) => path !== '' && !dev && existsSync(join(ROOT, path)));
  for (const [path] of kept) {
    const name = path.replace('node_modules/', '');
    if (name.includes('/node_modules/') || existsSync(join(modules, name))) continue;
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, path), join(modules, name));
  }
}
