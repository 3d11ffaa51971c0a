// A server with a query gateway in front of a scripted node, for the tests of one file.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'uvu';
import { type Served, type ServeOptions, withServer } from '../support/serve.ts';
import { type GroveNode, groveNode, type Script, SET } from './node.ts';

export interface Place {
  readonly server: Served;
  readonly node: GroveNode;
}

/** A deadline that no test waits for. */
export const LONG_MS = 600_000;

export type Settings = Readonly<Record<string, unknown>>;

/** A folder with a descriptor set and a GATEWAY_FILE, and the environment that names it; gone when `work` is done. */
export async function withFile<T>(
  settings: Settings,
  work: (env: NodeJS.ProcessEnv) => Promise<T>,
  set: Uint8Array = SET,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-gateway-'));
  try {
    writeFileSync(join(folder, 'set.binpb'), set);
    writeFileSync(
      join(folder, 'gateway.json'),
      JSON.stringify({ descriptors: 'set.binpb', deadlineMs: LONG_MS, ...settings }),
    );
    return await work({ GATEWAY_FILE: join(folder, 'gateway.json') });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A server and its node for one test. */
export async function withGateway<T>(
  settings: Settings,
  work: (place: Place) => Promise<T>,
  options: ServeOptions & { readonly set?: Uint8Array } = {},
): Promise<T> {
  const node = await groveNode(0, options.set);
  try {
    return await withFile(
      { upstream: node.upstream, ...settings },
      (env) => withServer({ ...options, env: { ...env, ...options.env } }, (server) => work({ server, node })),
      options.set,
    );
  } finally {
    node.stop();
  }
}

/** Opens something before the tests of a suite and closes it after them: `open` closes when the promise of its work resolves. */
export function sharedBy<T>(
  test: Pick<Test, 'before' | 'after'>,
  open: (work: (opened: T) => Promise<void>) => Promise<void>,
): () => T {
  let place: T | undefined;
  let done = () => {};
  let ended: Promise<void> | undefined;
  test.before(
    () =>
      new Promise<void>((ready, failed) => {
        ended = open((opened) => {
          place = opened;
          ready();
          return new Promise<void>((resolve) => (done = resolve));
        });
        ended.catch(failed);
      }),
  );
  test.after(() => {
    done();
    return ended;
  });
  return () => place!;
}

/** One server and node for all tests of a suite; the script is that of the test. */
export function sharedGateway(
  test: Pick<Test, 'before' | 'after'>,
  settings: Settings = {},
): { readonly at: () => Place; scripted(script: Script): Place } {
  const at = sharedBy<Place>(test, (work) => withGateway(settings, work));
  return {
    at,
    scripted: (script) => {
      at().node.script = script;
      return at();
    },
  };
}
