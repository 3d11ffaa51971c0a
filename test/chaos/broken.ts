// A server whose session store breaks one promise, which the session's id names: chaos that cannot find it proves nothing.

import type { SnapshotStore } from '../../lib/store/store.ts';
import { startServer } from '../../server/boot/start.ts';
import { readConfig } from '../../server/config/config.ts';

type Change = (inner: SnapshotStore) => Partial<SnapshotStore>;

/** By what the store lacks. */
export type Lack = 'kept-answer' | 'intent';

// What a copy of a turn is answered with is that of whichever session was written last.
const mixing: Change = (inner) => {
  let last = '';
  return {
    load: async (key) => {
      const found = await inner.load(key);
      return found && last ? { ...found, reply: last } : found;
    },
    commit: async (key, expected, next) => {
      last = next.reply;
      return inner.commit(key, expected, next);
    },
  };
};

// The intent is the only write with calls that keeps the turn key of the turn before.
const withoutIntent: Change = (inner) => ({
  commit: async (key, expected, next) => {
    const before = await inner.load(key);
    const revision = before?.revision ?? 0;
    const isIntent = next.turnKey === before?.turnKey && next.record.includes('"k":[');
    if (!isIntent) return inner.commit(key, expected, next);
    return { kind: revision === expected ? 'committed' : 'conflict', revision };
  },
});

const CHANGES: { readonly [lack in Lack]: Change } = { 'kept-answer': mixing, intent: withoutIntent };

// `chaos-intent-…` is a session without intents.
const lackOf = (key: string) => (Object.keys(CHANGES) as Lack[]).find((lack) => key.includes(`chaos-${lack}-`));

function broken(inner: SnapshotStore): SnapshotStore {
  const changed = new Map(Object.entries(CHANGES).map(([lack, change]) => [lack, { ...inner, ...change(inner) }]));
  const storeOf = (key: string) => changed.get(lackOf(key) ?? '') ?? inner;
  return {
    ...inner,
    load: (key) => storeOf(key).load(key),
    commit: (key, expected, next) => storeOf(key).commit(key, expected, next),
  };
}

const { config, problems } = readConfig(process.env, { makeKeys: true });
if (!config) throw new Error(problems.join('\n'));
const server = await startServer(config, {
  stores: (stores) => ({ ...stores, snapshots: broken(stores.snapshots) }),
});
console.log(server.url);
