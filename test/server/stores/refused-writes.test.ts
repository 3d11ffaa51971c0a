// Stores that answer questions and refuse writes: they count as away until a write succeeds, and are asked seldom.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { memoryDocuments, memorySnapshots } from '../../../lib/store/memory/index.ts';
import { watchWrites } from '../../../server/health/write-watch.ts';

const test = suite('refusing stores');

const KIND = { name: 'paper', indexes: {} };

const full = () => new TwinlineError('ERR_STORE', 'No space left.');

/** Stores in memory that can be told to refuse writes, and count how often they are asked to. */
async function fragile() {
  const state = { isFull: false, writes: 0 };
  const tried = <A extends unknown[], R>(write: (...given: A) => Promise<R>) => {
    return async (...given: A): Promise<R> => {
      state.writes++;
      if (state.isFull) throw full();
      return write(...given);
    };
  };
  const [snapshots, documents] = [memorySnapshots(), memoryDocuments()];
  await documents.declare([KIND, { name: 'server', indexes: {} }]);
  const refusing = {
    snapshots: {
      ...snapshots,
      commit: tried(snapshots.commit) as never,
      load: async (key: string) => {
        if (state.isFull) throw full();
        return snapshots.load(key);
      },
    },
    documents: { ...documents, insert: tried(documents.insert) as never, replace: tried(documents.replace) as never },
  };
  const clock = new SimulatedClock();
  return { state, clock, stores: watchWrites(refusing, clock) };
}

const takes = (asked: Promise<void>) =>
  asked.then(
    () => true,
    () => false,
  );

const SESSION = { record: '{}', turnKey: 't', reply: 'r', ended: false, expiresAt: 8e15, dueAt: null };

test('a store that was never refused anything is not written to, however often it is asked', async () => {
  const { state, stores } = await fragile();
  for (let at = 0; at < 100; at++) assert.is(await takes(stores.watches.documents.takesWrites()), true);
  assert.is(state.writes, 0);
});

test('documents: a refused insert or replace counts, a refusal of what was to be written does not', async () => {
  const { state, stores } = await fragile();
  const { documents, watches } = stores;
  await documents.insert(KIND, 'a', {});
  await documents.insert(KIND, 'a', {}).catch(() => {});
  assert.is((await documents.replace(KIND, 'a', 7, {})).kind, 'conflict');
  assert.is(await takes(watches.documents.takesWrites()), true);
  state.isFull = true;
  await documents.replace(KIND, 'a', 1, {}).catch(() => {});
  assert.equal(
    [await takes(watches.documents.takesWrites()), await takes(watches.sessions.takesWrites())],
    [false, true],
  );
});

test('what a store fails at is remembered, with its time: reads and writes, and not what it refuses of its users', async () => {
  const { state, stores, clock } = await fragile();
  const { documents, watches } = stores;
  await clock.advance(5_000);
  await documents.insert(KIND, 'a', {});
  await documents.get({ name: 'unknown', indexes: {} }, 'a').catch(() => {});
  assert.is(watches.documents.failedAt(), undefined);
  state.isFull = true;
  await documents.replace(KIND, 'a', 1, {}).catch(() => {});
  await clock.advance(1_000);
  assert.equal([watches.documents.failedAt(), watches.sessions.failedAt()], [5_000, undefined]);
  await takes(stores.snapshots.load('k') as Promise<never>);
  assert.is(watches.sessions.failedAt(), 6_000);
});

test('many who ask cost one trial write a second; a write of a caller ends it at once; trials leave nothing', async () => {
  const { state, stores, clock } = await fragile();
  const { snapshots, watches } = stores;
  state.isFull = true;
  await snapshots.commit('k', 0, SESSION).catch(() => {});
  const before = state.writes;
  for (let at = 0; at < 50; at++) assert.is(await takes(watches.sessions.takesWrites()), false);
  assert.is(state.writes - before, 1);
  state.isFull = false;
  await clock.advance(999);
  assert.is(await takes(watches.sessions.takesWrites()), false, 'the trial of this second is over');
  assert.is((await snapshots.commit('k', 0, SESSION)).kind, 'committed');
  assert.is(await takes(watches.sessions.takesWrites()), true);
  state.isFull = true;
  await snapshots.commit('k', 1, SESSION).catch(() => {});
  state.isFull = false;
  assert.is(await takes(watches.sessions.takesWrites()), false);
  await clock.advance(1_000);
  assert.is(await takes(watches.sessions.takesWrites()), true);
  assert.equal((await snapshots.list()).keys, ['k']);
});

test.run();
