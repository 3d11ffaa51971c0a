// Imports the modules given as arguments one by one, in a process of its own, and prints what each import did besides.

import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** Side effects of one import: each list is empty for a module that has none. */
export interface SideEffects {
  readonly module: string;
  readonly printed: readonly string[];
  readonly handles: readonly string[];
  readonly globals: readonly string[];
  readonly listeners: readonly string[];
}

const found: SideEffects[] = [];
for (const module of process.argv.slice(2)) {
  const before = { globals: globals(), listeners: listeners(), handles: process.getActiveResourcesInfo() };
  const printed = await capture(() => import(pathToFileURL(module).href));
  await new Promise(setImmediate);
  found.push({
    module,
    printed,
    handles: added(process.getActiveResourcesInfo(), before.handles),
    globals: added(globals(), before.globals),
    listeners: added(listeners(), before.listeners),
  });
}
writeSync(1, JSON.stringify(found));

async function capture(work: () => Promise<unknown>): Promise<string[]> {
  const printed: string[] = [];
  const streams = [process.stdout, process.stderr];
  const writes = streams.map((stream) => stream.write);
  for (const stream of streams)
    stream.write = ((chunk: string | Uint8Array) => printed.push(String(chunk)) > 0) as typeof stream.write;
  await work();
  for (const [at, stream] of streams.entries()) stream.write = writes[at]!;
  return printed;
}

function globals(): string[] {
  return Object.getOwnPropertyNames(globalThis);
}

function listeners(): string[] {
  return process.eventNames().map((name) => `${String(name)} × ${process.listenerCount(name)}`);
}

function added(after: readonly string[], before: readonly string[]): string[] {
  const left = [...before];
  return after.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
