// Where this server keeps things: LMDB and SQLite in DATA_DIR, or memory.

import { join } from 'node:path';
import { canary, checkCanary } from '../lib/account/canary.ts';
import { ACCOUNT_KINDS } from '../lib/account/records.ts';
import { TwinlineError } from '../lib/errors.ts';
import type { Keyring } from '../lib/keyring.ts';
import { lmdbSnapshots } from '../lib/store/lmdb.ts';
import { memoryDocuments, memorySnapshots } from '../lib/store/memory.ts';
import { sqliteDocuments } from '../lib/store/sqlite.ts';
import type { DocumentStore, Kind, SnapshotStore } from '../lib/store/store.ts';
import { IN_MEMORY } from './config/generated.ts';
import type { Config } from './config.ts';
import { makeFolder } from './folder.ts';

export interface Stores {
  /** Sessions. */
  readonly snapshots: SnapshotStore;
  /** Accounts and other documents. */
  readonly documents: DocumentStore;
}

const SERVER: Kind = { name: 'server', indexes: {} };
const PIN_CANARY = 'pin-key-canary';

/** Opens the stores of the configuration. Throws ERR_STORE when they cannot be used. */
export function openStores({ dataDir }: Pick<Config, 'dataDir'>): Stores {
  if (dataDir === IN_MEMORY) return { snapshots: memorySnapshots(), documents: memoryDocuments() };
  ensureFolder(dataDir);
  const snapshots = lmdbSnapshots({ path: join(dataDir, 'sessions') });
  try {
    return { snapshots, documents: sqliteDocuments({ path: join(dataDir, 'twinline.db') }) };
  } catch (error) {
    void snapshots.close();
    throw error;
  }
}

/**
 * Declares what the server keeps, and makes sure that the stored PINs were sealed with a key of this keyring. Throws
 * ERR_CONFIG when they were not: every PIN check would fail, and count as a wrong try of the caller.
 */
export async function prepareDocuments(documents: DocumentStore, keyring: Keyring): Promise<void> {
  await documents.declare([...ACCOUNT_KINDS, SERVER]);
  for (;;) {
    const kept = await documents.get<{ readonly text: string }>(SERVER, PIN_CANARY);
    if (!kept) {
      // Another process may have been first: then its word counts.
      if (await inserted(documents, canary(keyring))) return;
      continue;
    }
    if (checkCanary(keyring, kept.body.text) === 'current') return;
    const result = await documents.replace(SERVER, PIN_CANARY, kept.revision, { text: canary(keyring) });
    if (result.kind === 'replaced') return;
  }
}

async function inserted(documents: DocumentStore, text: string): Promise<boolean> {
  try {
    await documents.insert(SERVER, PIN_CANARY, { text });
    return true;
  } catch (error) {
    if (error instanceof TwinlineError && error.code === 'ERR_EXISTS') return false;
    throw error;
  }
}

function ensureFolder(path: string): void {
  try {
    makeFolder(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new TwinlineError(
      'ERR_CONFIG',
      `Cannot make DATA_DIR=${JSON.stringify(path)} (${code}). Set another folder.`,
    );
  }
}
