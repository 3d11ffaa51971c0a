// A process of its own on the Redis store, for redis.test.ts; `process.argv` says the address.

import { redisSnapshots } from '../../lib/store/redis/index.ts';
import { session } from '../../lib/testing/sessions/bench.ts';

const store = redisSnapshots({ url: process.argv[2]! });
const clock = { now: Date.now };

// Counts up 10 shared counters, 500 times together, as a turn would: load, work, commit, again on conflict.
const turns = await Promise.all(Array.from({ length: 500 }, (_, at) => increment(`counter ${at % 10}`)));
process.send?.({ conflicts: turns.reduce((sum, tries) => sum + tries, 0) });
await store.close();
process.disconnect?.();

async function increment(key: string): Promise<number> {
  for (let conflicts = 0; ; conflicts++) {
    const found = await store.load(key);
    const record = String(Number(found?.record ?? 0) + 1);
    const result = await store.commit(key, found?.revision ?? 0, session(clock, { record }));
    if (result.kind === 'committed') return conflicts;
  }
}
