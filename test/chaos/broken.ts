// A server whose session store breaks one promise, which the session's id names: chaos that cannot find it proves nothing.

import { setTimeout as pause } from 'node:timers/promises';
import type { SessionCommit, SnapshotStore } from '../../lib/store/store.ts';
import { startServer } from '../../server/boot/start.ts';
import { readConfig } from '../../server/config/config.ts';

type Change = (inner: SnapshotStore) => Partial<SnapshotStore>;

/** By what the store lacks. */
export type Lack = 'nothing' | 'compare-and-set' | 'kept-answer' | 'intent';

/** One commit in so many stands still for so long, as in a process that is stopped, and is carried out after that. */
const STALLS = { one: 12, ms: 900 };

async function stall(): Promise<void> {
  if (Math.random() < 1 / STALLS.one) await pause(STALLS.ms);
}

const stalling: Change = (inner) => ({
  commit: async (key, expected, next) => {
    await stall();
    return inner.commit(key, expected, next);
  },
});

// The last write wins, whatever its writer has read.
const overwriting: Change = (inner) => ({
  commit: async (key, _expected, next) => {
    await stall();
    return overwrite(inner, key, next);
  },
});

async function overwrite(inner: SnapshotStore, key: string, next: SessionCommit) {
  for (;;) {
    const before = await inner.load(key);
    const result = await inner.commit(key, before?.revision ?? 0, next);
    if (result.kind === 'committed') return result;
  }
}

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

const CHANGES: { readonly [lack in Lack]: Change } = {
  nothing: stalling,
  'compare-and-set': overwriting,
  'kept-answer': mixing,
  intent: withoutIntent,
};

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
