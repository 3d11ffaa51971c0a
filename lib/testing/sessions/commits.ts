// What every SnapshotStore promises about one session: commits, revisions, keys, texts.

import * as assert from '../assert.ts';
import { byBytes, committed, conflict, MINUTE, refuses, type SnapshotPromises, session } from './bench.ts';

const ODD_KEYS = [
  'a',
  'A',
  ' ',
  '  ',
  '\0',
  'a\0',
  'a\0b',
  '\0\0',
  '\u00e9',
  'e\u0301',
  '\ufeff',
  '\uffff',
  '😀',
  '😀😀',
];
const MORE_ODD_KEYS = ['ussd:+254700000001:ATUid_1', '*:{}[]?^\\', '%', "'; --", '$gt', '__proto__', 'a'.repeat(256)];

/** Sentence → what shows that it is kept. */
export const SNAPSHOT_COMMITS: SnapshotPromises = {
  'a session comes back as it was committed': async ({ store, clock }) => {
    const sessions = [
      session(clock, { record: '', turnKey: '', reply: '' }),
      session(clock, { record: '{"a":"é😀\\u0000"}', turnKey: 'k'.repeat(300), reply: 'CON ሰላም\n1. \0\u2028' }),
      session(clock, { record: 'x'.repeat(300_000), reply: '\uffff\u07ff\u0800', ended: true }),
      session(clock, { dueAt: 0 }),
      session(clock, { expiresAt: 8.64e15, dueAt: 8.64e15 }),
    ];
    await store.ping();
    for (const [at, next] of sessions.entries()) {
      assert.equal(await store.commit(`s${at}`, 0, next), committed(1));
      assert.equal(await store.load(`s${at}`), { ...next, revision: 1 });
    }
  },

  'of 20 commits at one revision exactly one is written, and of 10 removals one is made': async ({ store, clock }) => {
    for (const [round, expected] of [0, 1, 2].entries()) {
      const nexts = Array.from({ length: 20 }, (_, at) =>
        session(clock, { record: `${round}/${at}`, dueAt: at % 2 ? clock.now() + at : null }),
      );
      const results = await Promise.all(nexts.map((next) => store.commit('k', expected, next)));
      const winner = results.findIndex(({ kind }) => kind === 'committed');
      const outcomes = nexts.map((_, at) => (at === winner ? committed(expected + 1) : conflict(expected + 1)));
      assert.equal(results, outcomes);
      assert.equal(await store.load('k'), { ...nexts[winner], revision: expected + 1 });
    }
    assert.is((await store.due(clock.now() + MINUTE - 1, 10)).length, (await store.load('k'))?.dueAt === null ? 0 : 1);
    const removals = await Promise.all(Array.from({ length: 10 }, () => store.remove('k')));
    assert.is(removals.filter(Boolean).length, 1);
  },

  'commits of different keys do not hinder each other': async ({ store, clock }) => {
    const keys = Array.from({ length: 200 }, (_, at) => `k${at}`);
    for (let expected = 0; expected < 3; expected++) {
      const results = await Promise.all(
        keys.map((key) => store.commit(key, expected, session(clock, { record: key + expected }))),
      );
      assert.equal(new Set(results.map(({ kind }) => kind)), new Set(['committed']));
    }
    for (const key of keys) assert.is((await store.load(key))?.record, `${key}2`);
  },

  'keys of any text are kept apart, in the order of their UTF-8 bytes': async ({ store, clock }) => {
    const keys = [...ODD_KEYS, ...MORE_ODD_KEYS];
    for (const key of keys)
      assert.equal(await store.commit(key, 0, session(clock, { record: key })), committed(1), key);
    for (const key of keys) assert.is((await store.load(key))?.record, key);
    assert.equal((await store.list({ limit: 1000 })).keys, byBytes(keys));
  },

  'a malformed key, limit or cursor is refused with ERR_INPUT': async ({ store, clock }) => {
    for (const key of ['', 'a'.repeat(257), 'a\ud800', '\udc00a']) {
      await refuses('ERR_INPUT', () => store.load(key));
      await refuses('ERR_INPUT', () => store.commit(key, 0, session(clock)));
      await refuses('ERR_INPUT', () => store.remove(key));
    }
    for (const limit of [0, -1, 1.5, Number.NaN]) {
      await refuses('ERR_INPUT', () => store.list({ limit }));
      await refuses('ERR_INPUT', () => store.due(clock.now(), limit));
      await refuses('ERR_INPUT', () => store.sweep(clock.now(), limit));
    }
    await refuses('ERR_INPUT', () => store.list({ cursor: 'c'.repeat(5000) }));
  },
};
