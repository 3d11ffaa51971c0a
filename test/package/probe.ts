// Imports the modules given as arguments one by one, in a process of its own, and prints what each import did besides.

import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** What is open while a file is read, or closed after that. */
const LOADING = /^(FSReq|CloseReq)/;
const found: string[] = [];
for (const module of process.argv.slice(2)) {
  const before = { globals: globals(), listeners: listeners(), handles: process.getActiveResourcesInfo() };
  const say = (what: string, list: readonly string[]): void => {
    for (const one of list) found.push(`${module} ${what} ${one.trim()}`);
  };
  const { printed, broken } = await capture(() => import(pathToFileURL(module).href));
  await filesAreRead(before.handles);
  say('cannot be imported:', broken);
  say('prints', printed);
  say('holds open', added(process.getActiveResourcesInfo(), before.handles));
  say('sets the global', added(globals(), before.globals));
  say('listens to', added(listeners(), before.listeners));
}
writeSync(1, JSON.stringify(found));

// The loader reads files for a while after an import, and closes them; that ends by itself.
async function filesAreRead(before: readonly string[]): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (!added(process.getActiveResourcesInfo(), before).some((one) => LOADING.test(one))) return;
  }
}

async function capture(work: () => Promise<unknown>): Promise<{ printed: string[]; broken: string[] }> {
  const printed: string[] = [];
  const broken: string[] = [];
  const streams = [process.stdout, process.stderr];
  const writes = streams.map((stream) => stream.write);
  for (const stream of streams)
    stream.write = ((chunk: string | Uint8Array) => printed.push(String(chunk)) > 0) as typeof stream.write;
  await work().catch((error: Error) => broken.push(error.message));
  for (const [at, stream] of streams.entries()) stream.write = writes[at]!;
  return { printed, broken };
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
