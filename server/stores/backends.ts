// Which store is used for what: the first row whose condition the configuration meets. Those on the network may begin to
// answer later than this server: containers start in any order.

import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { lmdbLogs, lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import type { LogStore } from '../../lib/store/log-store.ts';
import { memoryDocuments, memorySnapshots } from '../../lib/store/memory/index.ts';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import type { DocumentStore, Durability, SnapshotStore } from '../../lib/store/store.ts';
import type { DocumentTransfer, SessionTransfer } from '../../lib/store/transfer.ts';
import type { Config } from '../config/config.ts';
import { IN_MEMORY, makeFolder } from '../config/data-dir.ts';
import type { SettingName } from '../config/settings.ts';
import type { Log } from '../telemetry/log.ts';
import { isMachineClock, type StoreClock, storeClock } from './store-clock.ts';

export type StoreConfig = Pick<
  Config,
  'dataDir' | 'redisUrl' | 'mongodbUrl' | 'production' | 'redisAcceptLoss' | 'storeWaitMs'
>;

/** What stores of any kind are opened with. */
export interface StoreTools {
  readonly log: Log;
  /** @default the system's clock */
  readonly clock?: Clock;
}

/** A store that answers, and what is known about it. */
export interface OpenedStore<S, Transfer = unknown> {
  readonly store: S;
  /** `Redis 7.0.15`, `LMDB` */
  readonly program: string;
  /** Its folder or its address, without a password. */
  readonly place: string;
  readonly durability: Durability;
  readonly redis?: RedisConnection;
  /** Of a store on the network, unless the server has been given a clock. */
  readonly clock?: StoreClock | undefined;
  /** Opens what moves all of it to another store; missing where nothing outlives the process. Close it before the store. */
  readonly transfer?: () => Promise<Transfer>;
  /** Closes it and the connection that was opened for it. */
  close(): Promise<void>;
}

interface Backend<S, Transfer> {
  readonly when: (config: StoreConfig) => boolean;
  /** Throws ERR_CONFIG or ERR_STORE; then nothing is left open. */
  readonly open: (config: StoreConfig, tools: StoreTools) => Promise<OpenedStore<S, Transfer>>;
}

const isInMemory = ({ dataDir }: StoreConfig) => dataDir === IN_MEMORY;
const always = () => true;

/** Where the embedded stores lie in DATA_DIR. */
export const sessionsIn = (dataDir: string) => join(dataDir, 'sessions');
export const documentsIn = (dataDir: string) => join(dataDir, 'twinline.db');

/** What a mark and messages call the embedded stores of these settings. */
export function diskPlace({ dataDir }: Pick<StoreConfig, 'dataDir'>): string {
  return `DATA_DIR=${existsSync(dataDir) ? realpathSync(dataDir) : dataDir}`;
}

export type OpenedSessions = OpenedStore<SnapshotStore, SessionTransfer>;
export type OpenedDocuments = OpenedStore<DocumentStore, DocumentTransfer>;

export const SESSION_BACKENDS: readonly Backend<SnapshotStore, SessionTransfer>[] = [
  { when: ({ redisUrl }) => redisUrl !== undefined, open: redisSessions },
  { when: isInMemory, open: async (_config, tools) => inMemory(memorySnapshots(tools)) },
  {
    when: always,
    open: async (config, { clock }) =>
      onDisk(config, 'LMDB', (folder) => {
        const place = { path: sessionsIn(folder), ...(clock && { clock }) };
        const transfer = async () => (await import('../../lib/store/lmdb/transfer.ts')).lmdbTransfer(place);
        return { store: lmdbSnapshots(place), transfer };
      }),
  },
];

export const DOCUMENT_BACKENDS: readonly Backend<DocumentStore, DocumentTransfer>[] = [
  { when: ({ mongodbUrl }) => mongodbUrl !== undefined, open: mongoDocuments },
  { when: isInMemory, open: async (_config, tools) => inMemory(memoryDocuments(tools)) },
  {
    when: always,
    open: async (config, { clock }) =>
      onDisk(config, 'SQLite', (folder) => {
        const place = { path: documentsIn(folder), ...(clock && { clock }) };
        const transfer = async () => (await import('../../lib/store/sqlite/transfer.ts')).sqliteTransfer(place);
        return { store: sqliteDocuments(place), transfer };
      }),
  },
];

/** Opens the store of the first row that applies. */
export function openFirst<S, Transfer>(
  rows: readonly Backend<S, Transfer>[],
  config: StoreConfig,
  tools: StoreTools,
): Promise<OpenedStore<S, Transfer>> {
  return rows.find(({ when }) => when(config))!.open(config, tools);
}

interface Store {
  readonly durability: Durability;
  ping(): Promise<void>;
  close(): Promise<void>;
}

function inMemory<S extends Store>(store: S): OpenedStore<S, never> {
  return { store, program: 'memory', place: 'this process', durability: store.durability, close: () => store.close() };
}

async function onDisk<S extends Store, Transfer>(
  { dataDir }: StoreConfig,
  program: string,
  open: (folder: string) => { readonly store: S; readonly transfer: () => Promise<Transfer> },
): Promise<OpenedStore<S, Transfer>> {
  ensureFolder(dataDir);
  const { store, transfer } = open(dataDir);
  await openNow(store);
  return { store, transfer, program, place: dataDir, durability: store.durability, close: () => store.close() };
}

/** Runs on the disk of this machine. Throws ERR_CONFIG or ERR_STORE. */
export function logsOnDisk(dataDir: string, clock: Clock): Promise<LogStore> {
  return openNow(lmdbLogs({ path: join(dataDir, 'runs'), clock }));
}

async function openNow<S extends Pick<Store, 'ping' | 'close'>>(store: S): Promise<S> {
  try {
    await store.ping();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

// Drivers are loaded only where they are used: they cost a start a good part of its time.
async function redisSessions(config: StoreConfig, { log, clock }: StoreTools): Promise<OpenedSessions> {
  const { connectRedis, openRedisSnapshots } = await import('../../lib/store/redis/index.ts');
  const { readRedisTime, redisFacts } = await import('./facts.ts');
  const { redisTransfer } = await import('../../lib/store/redis/transfer.ts');
  const redis = connectRedis({ url: config.redisUrl! });
  try {
    await waitForStore(redis, { setting: 'REDIS_URL', patienceMs: config.storeWaitMs, log });
    const shared = isMachineClock(clock) ? await storeClock(() => readRedisTime(redis)) : undefined;
    const sessionClock = shared ?? clock;
    const store = await openRedisSnapshots({ connection: redis, ...(sessionClock && { clock: sessionClock }) });
    refuseLoss(store.durability, { config, log, name: redis.name });
    const [facts] = await redisFacts(redis);
    const program = `Redis ${facts?.version ?? ''}`.trim();
    const close = async () => {
      await store.close();
      await redis.close();
    };
    const transfer = async () => redisTransfer({ connection: redis, ...(clock && { clock }) });
    const { durability } = store;
    return { store, transfer, program, place: redis.name, durability, redis, clock: shared, close };
  } catch (error) {
    await redis.close();
    throw error;
  }
}

async function mongoDocuments(config: StoreConfig, { log, clock }: StoreTools): Promise<OpenedDocuments> {
  const { connectMongo, mongoDocuments: open } = await import('../../lib/store/mongo/index.ts');
  const { mongoFacts, readMongoTime } = await import('./facts.ts');
  const { mongoTransfer } = await import('../../lib/store/mongo/transfer.ts');
  const mongo = connectMongo({ url: config.mongodbUrl! });
  try {
    await waitForStore(mongo, { setting: 'MONGODB_URL', patienceMs: config.storeWaitMs, log });
    const store = open({ connection: mongo, ...(clock && { clock }) });
    const close = async () => {
      await store.close();
      await mongo.close();
    };
    const { version, topology, members } = await mongoFacts(mongo);
    // With a majority of one no other member has it.
    const isAlone = topology !== 'sharded' && members === 1;
    const durability = isAlone ? 'power-loss' : store.durability;
    const shared = isMachineClock(clock) ? await storeClock(() => readMongoTime(mongo)) : undefined;
    const transfer = async () => mongoTransfer({ connection: mongo });
    const program = `MongoDB ${version}`;
    return { store, transfer, program, place: mongo.name, durability, clock: shared, close };
  } catch (error) {
    await mongo.close();
    throw error;
  }
}

interface LossRule {
  readonly config: StoreConfig;
  readonly log: Log;
  readonly name: string;
}

function refuseLoss(durability: Durability, { config, log, name }: LossRule): void {
  if (durability !== 'memory') return;
  const words = `Redis at ${name} forgets all sessions when it restarts (appendonly no).`;
  const fix = 'Set appendonly yes in its configuration, or REDIS_ACCEPT_LOSS=true to live with that.';
  if (config.production && !config.redisAcceptLoss) throw new TwinlineError('ERR_CONFIG', `${words} ${fix}`);
  log.warn(`${words} ${fix}`);
}

function ensureFolder(path: string): void {
  try {
    makeFolder(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const words = `Cannot make DATA_DIR=${JSON.stringify(path)} (${code}). Set another folder.`;
    throw new TwinlineError('ERR_CONFIG', words, { cause });
  }
}

interface WaitOptions {
  /** The variable that holds the address. */
  readonly setting: SettingName;
  readonly patienceMs: number;
  readonly log: Log;
}

interface Connection {
  /** The address, without a password. */
  readonly name: string;
  ping(): Promise<void>;
  close(): Promise<void>;
}

const RETRY_MS = 250;
/** One attempt has at least this time, so that its end tells a reason. */
const ATTEMPT_MS = 3_000;
/** A start that waits says so after this time. */
const TELL_MS = 1_000;
/** What no waiting will change. */
const HOPELESS = /\b(NOAUTH|WRONGPASS|NOPERM|AuthenticationFailed|Unauthorized)\b/;

/**
 * Resolves when the store answers. Rejects with ERR_CONFIG as soon as it refuses user or password, and with ERR_STORE
 * when it has not answered in time; then it may be closed.
 */
async function waitForStore(connection: Connection, { setting, patienceMs, log }: WaitOptions): Promise<void> {
  const begun = performance.now();
  const timeLeftMs = () => patienceMs - (performance.now() - begun);
  let last: string | undefined;
  let isReported = false;
  const tell = () => {
    if (isReported) return;
    isReported = true;
    log.warn({ setting, address: connection.name, reason: last }, 'waiting for a store to answer');
  };
  const attempt = () => connection.ping().then(() => true, noteError);
  const noteError = (error: unknown): false => {
    const words = error instanceof Error ? error.message : String(error);
    if (HOPELESS.test(words)) throw new TwinlineError('ERR_CONFIG', `${setting} does not work. ${words}`);
    last = words;
    return false;
  };
  // The connection is tried once, however little patience there is.
  for (let isFirst = true; isFirst || timeLeftMs() > 0; isFirst = false) {
    const stop = new AbortController();
    const timer = setTimeout(tell, TELL_MS);
    const late = pause(Math.max(timeLeftMs(), ATTEMPT_MS), 'late', { signal: stop.signal }).catch(() => 'late');
    const trying = attempt();
    // It may end after everybody has stopped to look.
    trying.catch(() => {});
    try {
      const outcome = await Promise.race([trying, late]);
      if (outcome === true) return;
      // A connection that is given up says what was wrong with it.
      if (outcome === 'late' && last === undefined) {
        await connection.close();
        await trying;
      }
    } finally {
      stop.abort();
      clearTimeout(timer);
    }
    if (timeLeftMs() > RETRY_MS) {
      tell();
      await pause(RETRY_MS);
    }
  }
  const why = last ?? `${connection.name} does not answer.`;
  const waited = `It was waited for ${Math.round(patienceMs / 1_000)} s (STORE_WAIT_SECONDS).`;
  throw new TwinlineError('ERR_STORE', `${setting} cannot be used. ${why} ${waited}`);
}
