// Data in DATA_DIR that settings pass over: whoever has begun on one machine and sets REDIS_URL or MONGODB_URL begins anew there, unless
// it is moved.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import { findPages } from '../../lib/store/pages.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import type { DocumentStore, Kind, SnapshotStore } from '../../lib/store/store.ts';
import { AUDIT_HEAD_KIND, AUDIT_KIND, type AuditAction } from '../audit/audit.ts';
import { IN_MEMORY } from '../config/data-dir.ts';
import { diskPlace, documentsIn, type StoreConfig, sessionsIn } from './backends.ts';
import { SERVER } from './key-mark.ts';
import { type MoveMark, readMoved, sessionMarks } from './move-mark.ts';

const PAGE = 500;

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
export async function findPassedOver(config: StoreConfig, stores: UsedStores): Promise<PassedOver | undefined> {
  const { dataDir, redisUrl, mongodbUrl } = config;
  if (dataDir === IN_MEMORY) return undefined;
  const isOurs = (mark: MoveMark | undefined) => mark?.from === diskPlace(config);
  const places: string[] = [];
  const settings: string[] = [];
  if (
    mongodbUrl !== undefined &&
    existsSync(documentsIn(dataDir)) &&
    !isOurs(stores.documents && (await readMoved(stores.documents)))
  ) {
    const counts = await countOnDisk(documentsIn(dataDir));
    places.push(...counts);
    if (counts.length) settings.push('MONGODB_URL');
  }
  if (redisUrl !== undefined && existsSync(join(sessionsIn(dataDir), 'data.mdb'))) {
    const isMoved = isOurs(stores.snapshots && (await sessionMarks(stores.snapshots).done()));
    if (!isMoved && (await hasSessions(sessionsIn(dataDir)))) {
      places.push('living sessions');
      settings.push('REDIS_URL');
    }
  }
  if (!places.length) return undefined;
  return {
    words: `DATA_DIR=${dataDir} holds data that nobody reads while ${settings.join(' and ')} is set: ${places.join(', ')}`,
    fix: `Stop the servers and move it: npx twinline move --from ${dataDir}. If nobody needs it, remove ${documentsIn(dataDir)} and ${sessionsIn(dataDir)}.`,
  };
}

async function countOnDisk(path: string): Promise<string[]> {
  const store = sqliteDocuments({ path });
  try {
    await store.ping();
    const { sqliteTransfer } = await import('../../lib/store/sqlite/transfer.ts');
    const transfer = sqliteTransfer({ path });
    try {
      return await listHeld(store, await transfer.kinds());
    } finally {
      await transfer.close();
    }
  } finally {
    await store.close();
  }
}

/** What a start writes into the audit log of empty stores. */
const OF_STARTS: ReadonlySet<unknown> = new Set<AuditAction>(['governance.changed', 'keys.changed']);

/** `3 of account` for each kind that holds more than a server leaves there that is only started. */
export async function listHeld(
  store: Pick<DocumentStore, 'count' | 'find'>,
  kinds: readonly Kind[],
): Promise<string[]> {
  const names: string[] = [];
  for (const kind of kinds) {
    if (kind.name === SERVER.name || kind.name === AUDIT_HEAD_KIND.name) continue;
    const count = (await store.count(kind)) - (kind.name === AUDIT_KIND.name ? await countOfStarts(store) : 0);
    if (count) names.push(`${count} of ${kind.name}`);
  }
  return names;
}

async function countOfStarts(store: Pick<DocumentStore, 'find'>): Promise<number> {
  let count = 0;
  for await (const page of findPages<{ action: string }>(store, AUDIT_KIND, { limit: PAGE }))
    count += page.filter(({ body }) => OF_STARTS.has(body.action)).length;
  return count;
}

async function hasSessions(path: string): Promise<boolean> {
  const store = lmdbSnapshots({ path });
  try {
    return (await store.list({ limit: 1 })).keys.length > 0;
  } finally {
    await store.close();
  }
}
