// A process of its own on a session store, for contract/snapshot-processes.ts and lmdb-processes; `process.argv` says where and the job.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { open } from 'lmdb';
import type { TwinlineError } from '../../lib/errors.ts';
import { openThroughGate } from '../../lib/store/lmdb/gate.ts';
import { lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import { redisSnapshots } from '../../lib/store/redis/index.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { session } from '../../lib/testing/sessions/bench.ts';

const [place = '', job = ''] = process.argv.slice(2);
const clock = { now: Date.now };
const opening = job === 'open' ? openSlowly() : undefined;
const store = place.startsWith('redis') ? redisSnapshots({ url: place }) : lmdbSnapshots({ path: place });

const jobs: { readonly [job: string]: () => Promise<void> } = {
  /** Counts up 10 shared counters, 50 at a time, as turns would: load, work, commit, again on conflict. Ends when it is told to. */
  async increment() {
    let [isOver, count, conflicts] = [false, 0, 0];
    process.once('message', () => (isOver = true));
    while (!isOver) {
      const turns = Array.from({ length: 50 }, (_, at) => increment(store, `counter ${at % 10}`));
      conflicts += (await Promise.all(turns)).reduce((sum, tries) => sum + tries, 0);
      count += turns.length;
      tell({ count, conflicts });
    }
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
  /** Says whether anything was written while it opened the environment. */
  async open() {
    tell(opening);
  },
  /** Says what it loads, whenever it is asked, and keeps a view of the data open in between. */
  async answer() {
    process.on('message', async (key: string) => tell((await store.load(key))?.revision ?? 0));
    tell('ready');
    for (; process.connected; await nextTick()) await store.load('other');
  },
};

await jobs[job]!();
await store.close();
process.disconnect?.();

/** Opens LMDB for so long that others would write meanwhile; whether its file stayed as it was. */
function openSlowly(): { isUntouched: boolean } {
  const digest = () =>
    createHash('sha256')
      .update(readFileSync(join(place, 'data.mdb')))
      .digest('hex');
  return openThroughGate(place, () => {
    const before = digest();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    const isUntouched = digest() === before;
    open(place, { noSubdir: false, overlappingSync: false });
    return { isUntouched };
  }).environment;
}

async function increment(on: SnapshotStore, key: string): Promise<number> {
  for (let conflicts = 0; ; conflicts++) {
    const found = await on.load(key);
    const record = String(Number(found?.record ?? 0) + 1);
    const result = await on.commit(key, found?.revision ?? 0, session(clock, { record }));
    if (result.kind === 'committed') return conflicts;
  }
}

function tell(what: unknown): void {
  process.send?.(what);
}
