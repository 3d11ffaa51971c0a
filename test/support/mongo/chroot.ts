// Where the Debian system with the DocumentDB engine is kept, and what this machine lacks to build it.

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onPath } from '../on-path.ts';

const TOOLS = ['debootstrap', 'unshare', 'setpriv', 'chroot', 'flock', 'apt-get'];
const RECIPE = ['build-chroot.sh', 'fill-chroot.sh'];

/** The path of a file beside this one. */
export function beside(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/**
 * The folder of the system, whether it is built or not. A changed recipe makes another one. It is some 600 MB, shared by
 * all checkouts: `TWINLINE_TEST_CACHE` says where, else `XDG_CACHE_HOME`, else `~/.cache`.
 */
export function chrootFolder(): string {
  const cache =
    process.env.TWINLINE_TEST_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'twinline');
  const recipe = createHash('sha256');
  for (const name of RECIPE) recipe.update(readFileSync(beside(name)));
  return join(cache, `documentdb-${recipe.digest('hex').slice(0, 8)}`);
}

/** Why the system can be neither used nor built here; undefined when it can. */
export function chrootLacks(): string | undefined {
  const missing = TOOLS.filter((tool) => !onPath(tool));
  if (missing.length) return `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not on PATH`;
  if (process.getuid?.() !== 0) return 'it takes root';
  // Root of a container has often no right to mount.
  const { status } = spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']);
  return status === 0 ? undefined : 'it takes the right to make namespaces and to mount';
}

/**
 * Finds the system or builds it: about a minute and 150 MB of downloads from the mirror that apt uses. Several processes
 * may call it at a time. `progress` gets the builder's lines.
 */
export async function prepareChroot(progress: (line: string) => void): Promise<string> {
  const folder = chrootFolder();
  if (existsSync(folder)) return folder;
  const builder = spawn('sh', [beside('build-chroot.sh'), folder], { stdio: ['ignore', 'pipe', 'pipe'] });
  const last: string[] = [];
  const listen = (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n').filter(Boolean)) {
      progress(line);
      last.push(line);
      if (last.length > 20) last.shift();
    }
  };
  builder.stdout.on('data', listen);
  builder.stderr.on('data', listen);
  const code = await new Promise((resolve) => builder.on('close', resolve));
  if (code !== 0) throw new Error(`building ${folder} ended with ${code}:\n${last.join('\n')}`);
  return folder;
}
