// What every SnapshotStore promises about many sessions and about time: listing, expiry, timers, sweeps.

import * as assert from '../assert.ts';
import { commitAll, committed, MINUTE, type SnapshotPromises, session } from './bench.ts';

/** Sentence → what shows that it is kept. */
export const SNAPSHOT_TIMES: SnapshotPromises = {
  'of 20 that begin anew in the place of an expired session exactly one does': async ({ store, clock }) => {
    await commitAll(store, 'k', [session(clock), session(clock)]);
    await clock.advance(MINUTE);
    const results = await Promise.all(Array.from({ length: 20 }, () => store.commit('k', 0, session(clock))));
    assert.is(results.filter(({ kind }) => kind === 'committed').length, 1);
    assert.is((await store.load('k'))?.revision, 1);
  },

  'list pages through the living, whoever comes and goes': async ({ store, clock }) => {
    const keys = Array.from({ length: 50 }, (_, at) => `k${String(at).padStart(3, '0')}`);
    for (const [at, key] of keys.entries()) await store.commit(key, 0, session(clock, { ended: at % 5 === 4 }));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({ limit: 7, ...(cursor !== undefined && { cursor }) });
      assert.ok(page.keys.length <= 7);
      seen.push(...page.keys);
      cursor = page.next;
      // The last one seen goes, and one comes before the cursor.
      await store.remove(page.keys.at(-1)!);
      await store.commit(`a${seen.length}`, 0, session(clock));
    } while (cursor !== undefined);
    assert.equal(
      seen,
      keys.filter((_, at) => at % 5 !== 4),
    );
    const all = (await store.list()).keys;
    assert.equal(await store.list({ limit: all.length }), { keys: all });
  },

  'list finds the one living session behind 700 ended ones': async ({ store, clock }) => {
    const ended = Array.from({ length: 700 }, (_, at) => store.commit(`e${at}`, 0, session(clock, { ended: true })));
    await Promise.all([...ended, store.commit('z', 0, session(clock))]);
    assert.equal(await store.list({ limit: 1 }), { keys: ['z'] });
  },

  'sweep deletes the expired and nobody else, up to its limit': async ({ store, clock }) => {
    const keys = Array.from({ length: 30 }, (_, at) => `k${at}`);
    for (const [at, key] of keys.entries())
      await store.commit(key, 0, session(clock, { expiresAt: clock.now() + (at < 20 ? 10 : 1000) }));
    assert.is(await store.sweep(clock.now(), 100), 0);
    await clock.advance(10);
    assert.is(await store.sweep(clock.now(), 7), 7);
    assert.is(await store.sweep(clock.now(), 100), 13);
    assert.is(await store.sweep(clock.now(), 100), 0);
    for (const [at, key] of keys.entries()) assert.is((await store.load(key)) !== undefined, at >= 20, key);
    assert.equal(await store.commit('k0', 0, session(clock)), committed(1));
  },

  'sweep goes by the expiry of the last commit, later or earlier than the first': async ({ store, clock }) => {
    const start = clock.now();
    const at = (ms: number) => session(clock, { expiresAt: start + ms });
    await commitAll(store, 'later', [at(10), at(100), at(200)]);
    await commitAll(store, 'quiet', [at(10), at(200)]);
    await commitAll(store, 'earlier', [at(300), at(50)]);
    await clock.advance(50);
    assert.is(await store.sweep(clock.now(), 10), 1);
    assert.is(await store.sweep(clock.now(), 10), 0);
    assert.is((await store.load('later'))?.revision, 3);
    // Between two sweeps the session goes on as if there had been none.
    assert.equal(await store.commit('later', 3, at(120)), committed(4));
    await clock.advance(70);
    assert.is(await store.sweep(clock.now(), 10), 1);
    await clock.advance(80);
    assert.is(await store.sweep(clock.now(), 10), 1);
    assert.is(await store.sweep(clock.now() + MINUTE, 10), 0);
  },
};
