// A server whose session store breaks one promise, chosen by CHAOS_BREAKS: chaos that cannot find it proves nothing.

import { setTimeout as pause } from 'node:timers/promises';
import type { SessionCommit, SnapshotStore } from '../../lib/store/store.ts';
import { readConfig } from '../../server/config.ts';
import { startServer } from '../../server/start.ts';

type Change = (inner: SnapshotStore) => Partial<SnapshotStore>;

/** By what the store lacks. */
type Lack = 'nothing' | 'compare-and-set' | 'kept-answer' | 'intent';

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

const change = CHANGES[process.env.CHAOS_BREAKS as Lack] as Change | undefined;
const { config, problems } = readConfig(process.env, { makeKeys: true });
if (!config || !change) throw new Error([...problems, `CHAOS_BREAKS=${process.env.CHAOS_BREAKS}`].join('\n'));
const server = await startServer(config, {
  stores: (stores) => ({ ...stores, snapshots: { ...stores.snapshots, ...change(stores.snapshots) } }),
});
console.log(server.url);
process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));
