// Stores that break one promise each: a simulation that cannot find them proves nothing.

import type { SnapshotStore, StoredSession } from '../../lib/store/store.ts';
import type { Setup } from './simulation.ts';
import { type Backend, plainStore } from './store.ts';

type Change = (inner: SnapshotStore) => Partial<SnapshotStore>;

// The store of the simulation answers a load at once.
const read = (store: SnapshotStore, key: string) => store.load(key) as StoredSession | undefined;
const changed =
  (change: Change): Backend =>
  (now) => {
    const inner = plainStore(now);
    return { ...inner, ...change(inner) };
  };

const onLoad = (alter: (found: StoredSession) => StoredSession) =>
  changed((inner) => ({
    load: (key) => {
      const found = read(inner, key);
      return found && alter(found);
    },
  }));

// Both places that know a request: the turn key beside the record, and the marks of the door in it.
const forgetful = onLoad((found) => {
  const record = JSON.parse(found.record);
  return { ...found, turnKey: '', record: JSON.stringify({ ...record, d: { ...record.d, marks: '' } }) };
});

/** The last write wins, whatever its writer has read. */
const overwriting = changed((inner) => ({
  commit: async (key, expected, next) => {
    await inner.commit(key, read(inner, key)?.revision ?? 0, next);
    return { kind: 'committed', revision: expected + 1 };
  },
}));

// The intent is the only write with calls that keeps the turn key of the turn before.
const withoutIntent = changed((inner) => ({
  commit: async (key, expected, next) => {
    const before = read(inner, key);
    const revision = before?.revision ?? 0;
    const isIntent = next.turnKey === before?.turnKey && next.record.includes('"k":[');
    if (!isIntent) return inner.commit(key, expected, next);
    return { kind: revision === expected ? 'committed' : 'conflict', revision };
  },
}));

/** Puts timers that have fired back into the record. */
const withOldTimers = changed((inner) => ({
  commit: async (key, expected, next) => {
    const before = read(inner, key);
    const old = before && !before.ended ? (JSON.parse(before.record).t ?? []) : [];
    const record = JSON.parse(next.record);
    const ids = new Set((record.t ?? []).map(({ id }: { id: string }) => id));
    const t = [...(record.t ?? []), ...old.filter(({ id }: { id: string }) => !ids.has(id))];
    return inner.commit(key, expected, { ...next, record: JSON.stringify(t.length ? { ...record, t } : record) });
  },
}));

const mixing = changed((inner) => {
  let last = '';
  return {
    load: (key) => {
      const found = read(inner, key);
      return found && last ? { ...found, reply: last } : found;
    },
    commit: (key, expected, next) => {
      last = next.reply;
      return inner.commit(key, expected, next);
    },
  };
});

const withoutIndex = changed((inner) => ({
  commit: (key, expected, next) => inner.commit(key, expected, { ...next, dueAt: null }),
}));

const silent = changed((inner) => ({
  commit: (key, expected, next) => (expected === 2 ? new Promise(() => {}) : inner.commit(key, expected, next)),
}));

/** Stores by what they lack, with the promise that is broken without it. */
export const BROKEN: { readonly [name: string]: { readonly setup: Setup; readonly breaks: string } } = {
  'dedupe-record': {
    setup: { backend: forgetful, isSealed: false, changes: { numbered: 1 } },
    breaks: 'every turn is taken exactly once, in order',
  },
  'compare-and-set': { setup: { backend: overwriting }, breaks: 'every turn is taken exactly once, in order' },
  revision: { setup: { backend: overwriting }, breaks: 'revisions only grow, and a stale writer loses' },
  reply: {
    setup: { backend: onLoad((found) => ({ ...found, reply: `${found.reply} ` })) },
    breaks: 'the same request gets the same bytes',
  },
  intent: { setup: { backend: withoutIntent }, breaks: 'every service acts once for a turn, and as the session says' },
  'timer-removal': {
    setup: { backend: withOldTimers, isSealed: false },
    breaks: 'every timer fires once and none is lost',
  },
  'due-index': { setup: { backend: withoutIndex }, breaks: 'every timer fires once and none is lost' },
  'own-reply': {
    setup: { backend: mixing, changes: { sessions: 2 } },
    breaks: 'nobody gets the answer of another session',
  },
  acknowledgement: { setup: { backend: silent }, breaks: 'once the faults stop, every caller is answered' },
};
