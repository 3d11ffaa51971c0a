// What our LogStores promise besides: memory is measured, which only this process can do that runs nothing else.

import * as assert from 'uvu/assert';
import { STORE_LIMITS } from '../../lib/store/limits.ts';
import type { LogStore } from '../../lib/store/log-store.ts';
import { behind, claim, type LogPromises } from '../../lib/testing/logs/bench.ts';
import { heldBytes } from '../support/memory.ts';

/** Sentence → what shows that it is kept. */
export const LOG_MEMORY: LogPromises = {
  'a slow follower holds one read, however much is written': async ({ store, clock }) => {
    await store.open('l', claim(clock));
    const slow = Array.from({ length: 10 }, () => store.follow('l')[Symbol.asyncIterator]());
    const megabyte = Array(4).fill('x'.repeat(STORE_LIMITS.frameBytes));
    await store.append('l', ['first'], behind(0, clock));
    for (const one of slow) await one.next();
    // Frames that have been written and trimmed: whoever piles them up still holds them.
    await write(store, { last: 1, clock, megabyte });
    const before = await heldBytes();
    for (let round = 1; round < 5; round++) await write(store, { last: 1 + round * 40, clock, megabyte });
    const grown = ((await heldBytes()) - before) / 1_048_576;
    assert.ok(grown < 15, `${grown} MiB more after 40 MiB for 10 slow followers`);
    for (const one of slow) {
      assert.ok(((await one.next()).value as readonly { n: number }[])[0]!.n > 1);
      await one.return?.();
    }
  },
};

// Ten appends of a MiB, trimmed but for the last frame.
async function write(
  store: LogStore,
  how: { last: number; clock: { now(): number }; megabyte: string[] },
): Promise<void> {
  for (let last = how.last; last < how.last + 40; last += 4)
    assert.is((await store.append('l', how.megabyte, behind(last, how.clock))).kind, 'appended');
  await store.trim('l', how.last + 39);
}
