// A process of its own on the LMDB store, for lmdb-processes.test.ts; `process.argv` says the folder and the job.

import { setImmediate as nextTick } from 'node:timers/promises';
import { open } from 'lmdb';
import type { TwinlineError } from '../../lib/errors.ts';
import { openThroughGate } from '../../lib/store/lmdb/gate.ts';
import { lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { session } from '../../lib/testing/sessions/bench.ts';

const [folder = '', job = '', name = ''] = process.argv.slice(2);
const clock = { now: Date.now };
const opening = job === 'open' ? openSlowly() : undefined;
const store = lmdbSnapshots({ path: folder });

const jobs: { readonly [job: string]: () => Promise<void> } = {
  /** Counts up 10 shared counters, 500 times together, as a turn would: load, work, commit, again on conflict. */
  async increment() {
    const turns = Array.from({ length: 500 }, (_, at) => increment(store, `counter ${at % 10}`));
    tell({ conflicts: (await Promise.all(turns)).reduce((sum, tries) => sum + tries, 0) });
  },
  /** Writes until it is killed, and tells of every commit once it is acknowledged. */
  async write() {
    await Promise.all(Array.from({ length: 8 }, (_, at) => writeForever(`${name}/${at}`)));
  },
  /** Writes until the file may not grow any more, and tells how that ended. */
  async fill() {
    process.on('SIGXFSZ', () => {});
    let acknowledged = 0;
    let refusal: unknown;
    for (; refusal === undefined && acknowledged < 10_000; acknowledged += refusal === undefined ? 1 : 0)
      await store.commit(`f${acknowledged}`, 0, session(clock, { record: 'x'.repeat(5000) })).catch((error) => {
        refusal = error;
      });
    await nextTick();
    const { code, message } = refusal as TwinlineError;
    const kept = (await store.list({ limit: 10_000 })).keys.length;
    tell({ code, message, acknowledged, kept, removed: await store.remove('f0') });
  },
  /** Says when it was opening the environment. */
  async open() {
    tell(opening);
  },
  /** Says what it loads, whenever it is asked, and keeps a view of the data open in between. */
  async answer() {
    process.on('message', async (key: string) => tell((await store.load(key))?.revision ?? 0));
    tell('ready');
    for (let until = Date.now() + 20_000; process.connected && Date.now() < until; await nextTick())
      await store.load('other');
  },
};

await jobs[job]!();
await store.close();
process.disconnect?.();

/** Milliseconds since 1970 between which LMDB was being opened: for long enough that others would write meanwhile. */
function openSlowly(): { from: number; to: number } {
  return openThroughGate(folder, () => {
    const from = now();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    open(folder, { noSubdir: false, overlappingSync: false });
    return { from, to: now() };
  }).environment;
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

async function increment(on: SnapshotStore, key: string): Promise<number> {
  for (let conflicts = 0; ; conflicts++) {
    const found = await on.load(key);
    const record = String(Number(found?.record ?? 0) + 1);
    const result = await on.commit(key, found?.revision ?? 0, session(clock, { record }));
    if (result.kind === 'committed') return conflicts;
  }
}

async function writeForever(key: string): Promise<void> {
  for (let revision = 0; ; revision++) {
    // The timer changes too, so that all three tables are written.
    const next = session(clock, { record: `${key} ${revision + 1}`, dueAt: revision % 2 ? Date.now() : null });
    await store.commit(key, revision, next);
    tell([key, revision + 1]);
  }
}

function tell(what: unknown): void {
  process.send?.(what);
}
