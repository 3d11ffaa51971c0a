// Data in DATA_DIR that settings pass over: whoever has begun on one machine and sets REDIS_URL or MONGODB_URL begins anew there, unless
// it is moved.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { sqliteTransfer } from '../../lib/store/sqlite/transfer.ts';
import type { DocumentStore, SnapshotStore } from '../../lib/store/store.ts';
import { IN_MEMORY } from '../config/data-dir.ts';
import { diskPlace, documentsIn, type StoreConfig, sessionsIn } from './backends.ts';
import { SERVER } from './key-mark.ts';
import { type MoveMark, readMoved, sessionMarks } from './move-mark.ts';

export interface PassedOver {
  readonly words: string;
  readonly fix: string;
}

/** The stores that the settings name; one that is missing is taken for one into which nothing was moved. */
export interface UsedStores {
  readonly snapshots?: Pick<SnapshotStore, 'load' | 'commit'> | undefined;
  readonly documents?: Pick<DocumentStore, 'get'> | undefined;
}

/** What is passed over, and what to do; undefined when nothing is, or when it was moved. Throws ERR_STORE when it cannot be read. */
export async function findPassedOver(config: StoreConfig, used: UsedStores): Promise<PassedOver | undefined> {
  const { dataDir, redisUrl, mongodbUrl } = config;
  if (dataDir === IN_MEMORY) return undefined;
  const isOurs = (mark: MoveMark | undefined) => mark?.from === diskPlace(config);
  const held: string[] = [];
  const settings: string[] = [];
  if (
    mongodbUrl !== undefined &&
    existsSync(documentsIn(dataDir)) &&
    !isOurs(used.documents && (await readMoved(used.documents)))
  ) {
    const counts = await countDocuments(documentsIn(dataDir));
    held.push(...counts);
    if (counts.length) settings.push('MONGODB_URL');
  }
  if (redisUrl !== undefined && existsSync(join(sessionsIn(dataDir), 'data.mdb'))) {
    const isMoved = isOurs(used.snapshots && (await sessionMarks(used.snapshots).done()));
    if (!isMoved && (await hasSessions(sessionsIn(dataDir)))) {
      held.push('living sessions');
      settings.push('REDIS_URL');
    }
  }
  if (!held.length) return undefined;
  return {
    words: `DATA_DIR=${dataDir} holds data that nobody reads while ${settings.join(' and ')} is set: ${held.join(', ')}`,
    fix: `Stop the servers and move it: npx twinline move --from ${dataDir}. If nobody needs it, remove ${documentsIn(dataDir)} and ${sessionsIn(dataDir)}.`,
  };
}

async function countDocuments(path: string): Promise<string[]> {
  const store = sqliteDocuments({ path });
  const transfer = sqliteTransfer({ path });
  try {
    const counts: string[] = [];
    for (const kind of await transfer.kinds()) {
      const count = kind.name === SERVER.name ? 0 : await store.count(kind);
      if (count) counts.push(`${count} of ${kind.name}`);
    }
    return counts;
  } finally {
    await transfer.close();
    await store.close();
  }
}

async function hasSessions(path: string): Promise<boolean> {
  const store = lmdbSnapshots({ path });
  try {
    return (await store.list({ limit: 1 })).keys.length > 0;
  } finally {
    await store.close();
  }
}
