// What a test file leaves behind for the files after it: open handles, a changed environment, another working folder.

import { setTimeout as pause } from 'node:timers/promises';

export interface World {
  readonly handles: ReadonlyMap<string, number>;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly folder: string;
}

/** The world as it is now. */
export function world(): World {
  return { handles: openHandles(), env: { ...process.env }, folder: process.cwd() };
}

/**
 * One sentence for each thing that is not as it was; waits up to `graceMs` for handles that are closing. Environment and
 * folder are put back, so that only the file that changed them fails.
 */
export async function leftovers(before: World, graceMs: number): Promise<string[]> {
  const found: string[] = [];
  const open = await leftOpen(before, graceMs);
  if (open) found.push(`leaves open: ${open}. Close what it opens in an after hook`);
  const names = new Set([...Object.keys(before.env), ...Object.keys(process.env)]);
  const changed = [...names].filter((name) => before.env[name] !== process.env[name]);
  if (changed.length) found.push(`leaves the environment changed: ${changed.join(', ')}`);
  for (const name of changed) restore(name, before.env[name]);
  if (process.cwd() !== before.folder) found.push(`leaves the working folder at ${process.cwd()}`);
  process.chdir(before.folder);
  return found;
}

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

// A closing socket, child process or file needs a few turns of the loop: that is no leak.
async function leftOpen(before: World, graceMs: number): Promise<string> {
  const end = performance.now() + graceMs;
  for (;;) {
    const more = surplus(before);
    if (!more || performance.now() > end) return more;
    await pause(10);
  }
}

function surplus(before: World): string {
  const more: string[] = [];
  for (const [kind, count] of openHandles()) {
    const extra = count - (before.handles.get(kind) ?? 0);
    if (extra > 0) more.push(`${extra} × ${kind}`);
  }
  return more.join(', ');
}

/** Kinds and numbers of the resources that hold the event loop now; the terminal is not counted. */
function openHandles(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    if (kind !== 'TTYWrap') counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}
