// A folder with everything that an agent keeps, and the flow that two processes answer from it, one after the other.

import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { flowResponder } from '../../lib/agent/responders/flow.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { lmdbLogs, lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import { memoryChannel } from '../../lib/store/memory/index.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';

const FLOW: Flow = {
  flow: 'shop',
  version: 1,
  start: 'home',
  vars: { left: { type: 'number', default: 9 } },
  screens: {
    home: { type: 'menu', text: 'Shop', options: [{ id: 'buy', text: 'Buy', to: 'buy' }] },
    buy: { type: 'call', service: 'buy', save: 'left', timeout: '3s', done: 'done', fail: 'home' },
    done: { type: 'menu', text: 'Bought, {{left}} left', options: [{ id: 'home', text: 'Home', to: 'home' }] },
  },
};

/** Stores on one folder; the channel is this process's own. */
export function folderStores(folder: string, clock?: Clock) {
  const timed = clock ? { clock } : {};
  return {
    documents: sqliteDocuments({ path: join(folder, 'documents.db'), ...timed }),
    logs: lmdbLogs({ path: join(folder, 'logs'), ...timed }),
    snapshots: lmdbSnapshots({ path: join(folder, 'snapshots'), ...timed }),
    channel: memoryChannel(),
    ...timed,
  };
}

export function shopResponder(
  { snapshots: store, clock }: { snapshots: SnapshotStore; clock?: Clock },
  buy: (key: string) => Promise<number>,
) {
  return flowResponder({
    store,
    flow: 'shop',
    conversations: [compileFlow(FLOW)],
    services: { buy: (_input, { idempotencyKey }) => buy(idempotencyKey) },
    ...(clock && { clock }),
  });
}

/** The keys of all effects, in a file that both processes see. */
export function effectsIn(folder: string) {
  const file = join(folder, 'effects.txt');
  return {
    note: (key: string) => appendFile(file, `${key}\n`),
    all: async () => (await readFile(file, 'utf8')).trim().split('\n'),
  };
}
