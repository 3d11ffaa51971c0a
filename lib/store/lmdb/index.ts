// What `import … from 'twinline/store/lmdb'` gives: sessions and logs in LMDB, shared by every process of one host that opens the
// same folder. LMDB and what works with it are loaded when a store is opened.

import { requireGiven } from '../../given.ts';
import type { LogStore } from '../log-store.ts';
import { loadNative, openLater } from '../opening.ts';
import type { SnapshotStore } from '../store.ts';
import type { LmdbOptions } from './options.ts';

export type { LmdbOptions } from './options.ts';

/**
 * Sessions in LMDB. The folder is opened at once: calls wait for it, and reject with ERR_STORE where it cannot be used, or with
 * ERR_CONFIG where LMDB is not installed; `ping` tells. Every write is one conditional transaction that LMDB's writer decides, so two
 * processes never both win; writes of one moment share one disk flush, and no reader sees a write before that flush.
 * @example
 * const store = lmdbSnapshots({ path: './data/sessions' });
 * const engine = createEngine({ store, conversations: [compileFlow(await loadFlow('hello.flow.json'))] });
 * await takeTurn(engine, { key: 'ann', decide: () => ({ kind: 'begin', conversation: 'hello' }) });
 * (await store.list()).keys; // → ['ann']
 * await store.close();
 */
export function lmdbSnapshots(options: LmdbOptions): SnapshotStore {
  const opening = open(options, async () => (await import('./snapshots.ts')).openSnapshots(options));
  return openLater(opening, {
    name: 'lmdb',
    durability: 'power-loss',
    load: async (key) => (await opening).load(key),
    commit: async (key, expected, next) => (await opening).commit(key, expected, next),
    remove: async (key) => (await opening).remove(key),
    list: async (range) => (await opening).list(range),
    due: async (now, limit) => (await opening).due(now, limit),
    sweep: async (now, limit) => (await opening).sweep(now, limit),
    ping: async () => (await opening).ping(),
  });
}

/**
 * Logs in LMDB, in a folder of their own. It is opened as that of {@link lmdbSnapshots} is. Every write is one conditional transaction
 * that LMDB's writer decides; writes of one moment share one disk flush.
 * @example
 * const logs = lmdbLogs({ path: './data/logs' });
 * logs.durability; // → 'power-loss'
 * await logs.close();
 */
export function lmdbLogs(options: LmdbOptions): LogStore {
  const opening = open(options, async () => (await import('./logs.ts')).openLogs(options));
  return openLater(opening, {
    name: 'lmdb',
    durability: 'power-loss',
    open: async (log, claim) => (await opening).open(log, claim),
    append: async (log, frames, how) => (await opening).append(log, frames, how),
    state: async (log) => (await opening).state(log),
    read: async (log, range) => (await opening).read(log, range),
    async *follow(log, range) {
      yield* (await opening).follow(log, range);
    },
    trim: async (log, through) => (await opening).trim(log, through),
    expireAt: async (log, at) => (await opening).expireAt(log, at),
    remove: async (log) => (await opening).remove(log),
    sweep: async (now, limit) => (await opening).sweep(now, limit),
    ping: async () => (await opening).ping(),
  });
}

function open<S>(options: LmdbOptions, openStore: () => Promise<S>): Promise<S> {
  requireGiven('open LMDB', options, { path: 'text' });
  return loadParts().then(openStore);
}

async function loadParts(): Promise<void> {
  await loadNative('LMDB', () => import('lmdb'));
  // gate.ts needs its locks.
  await loadNative('LMDB needs SQLite beside it: SQLite', () => import('libsql'));
}
