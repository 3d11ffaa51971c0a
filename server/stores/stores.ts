// The stores of this server, open and ready, and what they promise in words.

import { ACCOUNT_KINDS } from '../../lib/account/records.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { MEMORIES } from '../../lib/engine/memory/documents.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Keyring } from '../../lib/keyring.ts';
import { checkCanary } from '../../lib/sealing.ts';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import type { DocumentStore, Durability, SnapshotStore } from '../../lib/store/store.ts';
import { AUDIT_KINDS } from '../audit/audit.ts';
import {
  DOCUMENT_BACKENDS,
  type OpenedStore,
  openFirst,
  SESSION_BACKENDS,
  type StoreConfig,
  type StoreTools,
} from './backends.ts';
import { type GivenStores, pingGivenStores } from './given.ts';
import { agreeOnKey, documentMark, redisMark } from './key-mark.ts';
import { refuseHalfMoved } from './move-mark.ts';
import type { SharedClock } from './store-clock.ts';

export interface Stores {
  /** Sessions. */
  readonly snapshots: SnapshotStore;
  /** Accounts and other documents. */
  readonly documents: DocumentStore;
}

/** Where something is kept, for logs and people. */
export interface StorePlace {
  /** Logs are named where the program gives their store; else they are beside the sessions. */
  readonly keeps: 'sessions' | 'documents' | 'logs';
  /** `Redis 7.0.15` */
  readonly program: string;
  readonly place: string;
  readonly durability: Durability;
  /** The durability in words. */
  readonly survives: string;
}

export interface OpenedStores extends Stores {
  readonly places: readonly StorePlace[];
  /** What instances share besides sessions: counts of requests. */
  readonly redis: RedisConnection | undefined;
  /** By which sessions are kept: that of Redis where they are there, so that clocks of instances may differ. */
  readonly sessionClock: Clock;
  /** Of the stores on the network. */
  readonly clocks: readonly SharedClock[];
  close(): Promise<void>;
}

const SURVIVES: { readonly [durability in Durability]: string } = {
  memory: 'lost when the process that holds them ends',
  'process-crash': 'outlive a crash of the server; a crash of the store or a power cut can cost the last of them',
  'power-loss': 'outlive a power cut: on disk before the answer',
  replicated: 'outlive the loss of a machine: with a majority before the answer',
};

export interface StoreOptions extends StoreTools {
  /** Stores that a program gives. */
  readonly given?: GivenStores | undefined;
}

/**
 * Opens the stores of the configuration that are not given. Throws ERR_CONFIG or ERR_STORE; then nothing is left open, and what
 * was given stays open.
 */
export async function openStores(config: StoreConfig, { given = {}, ...tools }: StoreOptions): Promise<OpenedStores> {
  if (given.documents && config.mongodbUrl !== undefined)
    throw new TwinlineError('ERR_CONFIG', 'MONGODB_URL is set, and the program gives stores.documents. Choose one.');
  await pingGivenStores(given);
  const sessions = await openSessions(config, tools, given.snapshots);
  try {
    const documents = given.documents ? openGiven(given.documents) : await openFirst(DOCUMENT_BACKENDS, config, tools);
    return {
      snapshots: sessions.store,
      documents: documents.store,
      places: [
        describePlace('sessions', sessions),
        describePlace('documents', documents),
        ...(given.logs ? [describePlace('logs', openGiven(given.logs))] : []),
      ],
      redis: sessions.redis,
      sessionClock: sessions.clock ?? tools.clock ?? systemClock,
      clocks: [sharedClock('sessions', sessions), sharedClock('documents', documents)].flat(),
      close: async () => void (await Promise.all([sessions.close(), documents.close()])),
    };
  } catch (error) {
    await sessions.close();
    throw error;
  }
}

function sharedClock(
  keeps: SharedClock['keeps'],
  { store, clock }: OpenedStore<SnapshotStore> | OpenedStore<DocumentStore>,
): SharedClock[] {
  return clock ? [{ keeps, kind: store.name, clock }] : [];
}

// Redis has more than sessions, which other instances share.
async function openSessions(
  config: StoreConfig,
  tools: StoreTools,
  snapshots: SnapshotStore | undefined,
): Promise<OpenedStore<SnapshotStore>> {
  if (snapshots && config.redisUrl === undefined) return openGiven(snapshots);
  const opened = await openFirst(SESSION_BACKENDS, config, tools);
  return snapshots ? { ...opened, ...openGiven(snapshots), clock: undefined, close: opened.close } : opened;
}

function openGiven<S extends Pick<SnapshotStore, 'name' | 'durability'>>(store: S): OpenedStore<S> {
  const { name: program, durability } = store;
  return { store, program, place: 'given by the program', durability, close: async () => {} };
}

function describePlace(keeps: StorePlace['keeps'], { program, place, durability }: OpenedStore<unknown>): StorePlace {
  return { keeps, program, place, durability, survives: SURVIVES[durability] };
}

/**
 * Declares what the server keeps, and makes sure that the stored PINs, and the sessions where they are shared, were sealed
 * with a key of this keyring. Throws ERR_CONFIG when they were not: every PIN check would fail, and count as a wrong try
 * of the caller; every session of another instance would end. Throws it as well for stores that a move has filled half.
 */
export async function prepareStores({ snapshots, documents, redis }: PreparedStores, keyring: Keyring): Promise<void> {
  await documents.declare([...ACCOUNT_KINDS, MEMORIES, ...AUDIT_KINDS]);
  const mark = await documentMark(documents);
  await refuseHalfMoved({ documents, snapshots });
  await agreeOnKey(mark, keyring);
  if (redis) await agreeOnKey(redisMark(redis), keyring);
}

interface PreparedStores extends Stores {
  readonly redis: RedisConnection | undefined;
}

/** For those who come beside a server: as {@link prepareStores}, but the mark stays as it is. */
export async function checkDocuments(documents: DocumentStore, keyring: Keyring): Promise<void> {
  await documents.declare([...ACCOUNT_KINDS, MEMORIES, ...AUDIT_KINDS]);
  const canary = await readPinCanary(documents);
  if (canary !== undefined) checkCanary(keyring, canary);
}

/** The stored canary of the PIN key, if there is one; for those who only look. */
export async function readPinCanary(documents: DocumentStore): Promise<string | undefined> {
  return (await (await documentMark(documents)).read())?.text;
}
