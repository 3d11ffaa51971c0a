// The two sides of a move: the stores that settings name, opened with all that is needed to read and to write them as they are.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { LogStore } from '../../lib/store/log-store.ts';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { IN_MEMORY } from '../config/data-dir.ts';
import {
  DOCUMENT_BACKENDS,
  diskPlace,
  documentsIn,
  logsOnDisk,
  openFirst,
  SESSION_BACKENDS,
  type StoreConfig,
  sessionsIn,
} from '../stores/backends.ts';
import type { Log } from '../telemetry/log.ts';
import type { DocumentSide } from './documents.ts';
import type { SessionSide } from './sessions.ts';

export interface Named {
  /** `LMDB in DATA_DIR=/srv/data`, `Redis 7.0.15 redis://…` */
  readonly name: string;
  /** The place without the program and its version: what a mark names. */
  readonly place: string;
}

/** What is missing is undefined: it is not there, or both sides have the same. */
export interface MoveSide {
  readonly sessions: (SessionSide & Named & { readonly logs: LogStore; readonly redis?: RedisConnection }) | undefined;
  readonly documents: (DocumentSide & Named) | undefined;
  /** The sessions, moved or not: a server that has anything of this side open has them open. */
  readonly presence: (Named & Pick<SessionSide, 'transfer'>) | undefined;
  /** Documents that name the runs of the agent, where both sides have the same. */
  readonly runDocuments: DocumentStore | undefined;
  close(): Promise<void>;
}

export interface SideOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Which stores are to be moved. */
  readonly moved: MovedStores;
  /** Of the target stores on disk are made where they are not there; of the source the sessions are opened, moved or not. */
  readonly side: 'source' | 'target' | 'target, as it is';
}

export interface MovedStores {
  readonly sessions: boolean;
  readonly documents: boolean;
}

/** Which stores of the two settings differ. */
export function findMoved(from: StoreConfig, to: StoreConfig): MovedStores {
  const differ = (setting: 'redisUrl' | 'mongodbUrl') =>
    from[setting] !== to[setting] || (from[setting] === undefined && diskPlace(from) !== diskPlace(to));
  return { sessions: differ('redisUrl'), documents: differ('mongodbUrl') };
}

/** Opens the stores of one side. Throws ERR_CONFIG or ERR_STORE; then nothing is left open. */
export async function openSide(config: StoreConfig, options: SideOptions): Promise<MoveSide> {
  const ends: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const isOpened = options.moved.sessions || options.side === 'source';
    const presence = isOpened ? await openSessions(config, options, ends) : undefined;
    const sessions = options.moved.sessions ? presence : undefined;
    const documents = await openDocuments(config, options, ends);
    if (options.moved.documents) return { sessions, documents, presence, runDocuments: undefined, close };
    return { sessions, documents: undefined, presence, runDocuments: documents?.store, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Ends = (() => Promise<void>)[];

async function openSessions(
  config: StoreConfig,
  { log, clock, side }: SideOptions,
  ends: Ends,
): Promise<MoveSide['sessions']> {
  const { dataDir, redisUrl } = config;
  if (redisUrl === undefined && !isOnDisk(config, { side, file: join(sessionsIn(dataDir), 'data.mdb') }))
    return undefined;
  const opened = await openFirst(SESSION_BACKENDS, config, { log, clock });
  ends.push(opened.close);
  const transfer = await opened.transfer!();
  ends.push(transfer.close);
  const { store, redis } = opened;
  const logs = redis ? await openRedisLogs(redis, clock) : await logsOnDisk(dataDir, clock);
  ends.push(() => logs.close());
  return { store, transfer, logs, ...(redis && { redis }), ...nameStore(config, opened) };
}

async function openRedisLogs(redis: RedisConnection, clock: Clock): Promise<LogStore> {
  const { redisLogs } = await import('../../lib/store/redis/index.ts');
  return redisLogs({ connection: redis, clock });
}

async function openDocuments(
  config: StoreConfig,
  { log, clock, side }: SideOptions,
  ends: Ends,
): Promise<MoveSide['documents']> {
  if (config.mongodbUrl === undefined && !isOnDisk(config, { side, file: documentsIn(config.dataDir) }))
    return undefined;
  const opened = await openFirst(DOCUMENT_BACKENDS, config, { log, clock });
  ends.push(opened.close);
  const transfer = await opened.transfer!();
  ends.push(transfer.close);
  return { store: opened.store, transfer, ...nameStore(config, opened) };
}

// Opened, a store on disk that is not there would be made.
function isOnDisk(
  { dataDir }: StoreConfig,
  { side, file }: Pick<SideOptions, 'side'> & { readonly file: string },
): boolean {
  if (dataDir === IN_MEMORY)
    throw new TwinlineError(
      'ERR_CONFIG',
      'DATA_DIR=:memory: keeps nothing, so nothing can be moved from or to it. Name a folder.',
    );
  return side === 'target' || existsSync(file);
}

function nameStore(config: StoreConfig, { program, place }: { program: string; place: string }): Named {
  const isHere = place === config.dataDir;
  return {
    name: isHere ? `${program} in ${diskPlace(config)}` : `${program} ${place}`,
    place: isHere ? diskPlace(config) : place,
  };
}
