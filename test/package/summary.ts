// What is packed of the present `dist`, in one line for CI: the size of the tarball, its files, subpaths, exports and those without a
// docstring. Fails when the tarball is larger than it may be, or an export says nothing.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { readApi } from '../../server/docs/generate/api.ts';
import { ROOT } from './manifest.ts';

/** Bytes; raise it with a reason. Swagger UI and the studio are a third; modules are packed with their comments. */
const TARBALL_BYTES_MAX = 2_700_000;

const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
  cwd: ROOT,
  encoding: 'utf8',
});
const [{ size, unpackedSize, entryCount }] = JSON.parse(stdout) as [
  { size: number; unpackedSize: number; entryCount: number },
];
const api = readApi(join(ROOT, 'dist'));
const names = [...api.values()].flat();
const silent = names.filter(({ says }) => says === '').length;
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`;
const facts = [
  `tarball ${megabytes(size)} of ${megabytes(TARBALL_BYTES_MAX)} (${megabytes(unpackedSize)} unpacked)`,
  `${entryCount} files`,
  `${api.size} subpaths`,
  `${names.length} exports`,
  `${silent} undocumented`,
];
const isFine = size <= TARBALL_BYTES_MAX && silent === 0;
console.log(`${isFine ? '✓' : '✘'} package: ${facts.join(', ')}`);
process.exitCode = isFine ? 0 : 1;
