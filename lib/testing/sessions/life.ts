// What every SnapshotStore promises about being opened, shared and closed.

import * as assert from '../assert.ts';
import { commitAll, committed, refuses, type SnapshotPromises, session } from './bench.ts';

/** Sentence → what shows that it is kept. */
export const SNAPSHOT_LIFE: SnapshotPromises = {
  'another store on the same data sees every commit at once': async ({ store, clock, again }) => {
    if (store.durability === 'memory') return;
    const other = await again();
    for (let revision = 0; revision < 40; revision += 2) {
      assert.is((await other.load('k'))?.revision ?? 0, revision);
      assert.equal(await store.commit('k', revision, session(clock)), committed(revision + 1));
      assert.is((await other.load('k'))?.revision, revision + 1);
      assert.equal(await other.commit('k', revision + 1, session(clock)), committed(revision + 2));
      assert.is((await store.load('k'))?.revision, revision + 2);
    }
    for (let revision = 40; revision < 80; revision += 2) {
      await other.load('something else');
      assert.equal(await store.commit('k', revision, session(clock)), committed(revision + 1));
      assert.equal(await other.commit('k', revision + 1, session(clock)), committed(revision + 2));
    }
    const both = [store, other, store, other].map((one) => one.commit('k', 80, session(clock)));
    assert.is((await Promise.all(both)).filter(({ kind }) => kind === 'committed').length, 1);
  },

  'what was committed is there after the store is opened again': async ({ store, clock, again }) => {
    if (store.durability === 'memory') return;
    const next = session(clock, { dueAt: clock.now() });
    await commitAll(store, 'k', [session(clock), next]);
    await store.commit('gone', 0, session(clock, { expiresAt: clock.now() + 5 }));
    await store.close();
    await clock.advance(5);
    const reopened = await again();
    assert.equal(await reopened.load('k'), { ...next, revision: 2 });
    assert.equal(await reopened.list(), { keys: ['k'] });
    assert.equal(await reopened.due(clock.now(), 10), ['k']);
    assert.is(await reopened.sweep(clock.now(), 10), 1);
    assert.equal(await reopened.commit('k', 2, session(clock)), committed(3));
  },

  'close lets what was called before finish, and refuses what comes after': async ({ store, clock }) => {
    const under = ['a', 'b', 'c'].map((key) => store.commit(key, 0, session(clock)));
    await store.close();
    assert.equal(await Promise.all(under), [committed(1), committed(1), committed(1)]);
    await store.close();
    await refuses('ERR_STORE', () => store.load('a'));
    await refuses('ERR_STORE', () => store.commit('a', 1, session(clock)));
    await refuses('ERR_STORE', () => store.remove('a'));
    await refuses('ERR_STORE', () => store.list());
    await refuses('ERR_STORE', () => store.due(0, 1));
    await refuses('ERR_STORE', () => store.sweep(0, 1));
    await refuses('ERR_STORE', () => store.ping());
  },
};
