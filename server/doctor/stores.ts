// Checks of what keeps data: Redis and MongoDB (whether they answer, what they keep, whether they have room), and DATA_DIR.

import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { tryToWrite } from '../../lib/store/lmdb/hold.ts';
import { IN_MEMORY } from '../config/data-dir.ts';
import { listDamage } from '../stores/damage.ts';
import type { RedisFacts } from '../stores/facts.ts';
import { findPassedOver, type UsedStores } from '../stores/passed-over.ts';
import { advice, brokenFinding, type CheckContext, type DoctorCheck, type Finding, fine } from './check.ts';

const OLDEST = [6, 2] as const;
const MEMORY_SHARE = 0.8;
const MIB = 1_048_576;

const usesRedis = ({ redis }: CheckContext) => redis !== undefined;
const usesMongo = ({ mongo }: CheckContext) => mongo !== undefined;
const isOnDisk = ({ config }: CheckContext) => config.dataDir !== IN_MEMORY;

/** A check of what each server says; of several masters the worst finding is reported. */
function each(name: string, judge: (facts: RedisFacts, context: CheckContext) => Finding): DoctorCheck {
  return {
    name,
    when: usesRedis,
    run: async (context) => {
      const findings = (await context.redis!.facts()).map((facts) => judge(facts, context));
      const worst = (level: Finding['level']) => findings.find((finding) => finding.level === level);
      return worst('broken') ?? worst('advice') ?? findings[0]!;
    },
  };
}

export const REDIS_CHECKS: readonly DoctorCheck[] = [
  {
    name: 'Redis answers',
    when: usesRedis,
    run: async ({ redis }) => {
      await redis!.facts();
      return fine(`Redis at ${redis!.connection.name} answers`);
    },
  },
  each('Redis version', ({ version = 'unknown' }) => {
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
    if (!isOld) return fine(`Redis ${version}`);
    return brokenFinding(`Redis ${version} is too old`, `Use Redis ${OLDEST.join('.')} or newer, better 7.`);
  }),
  each('Redis keeps sessions', ({ settings }, { config }) => {
    const { appendonly, appendfsync } = settings;
    if (appendonly === undefined)
      return advice('Redis does not tell whether it keeps sessions', 'Make sure that it does: appendonly yes.');
    if (appendonly !== 'yes') {
      const words = 'Redis forgets all sessions when it restarts (appendonly no)';
      const fix = 'Set appendonly yes in redis.conf, or REDIS_ACCEPT_LOSS=true to live with it.';
      return config.production && !config.redisAcceptLoss ? brokenFinding(words, fix) : advice(words, fix);
    }
    if (appendfsync === 'always') return fine('Redis keeps sessions: on disk before they are answered (always)');
    return fine(`Redis keeps sessions: its crash or a power cut can cost the last second (appendfsync ${appendfsync})`);
  }),
  each('Redis evicts nothing', ({ settings }) => {
    const { maxmemory, 'maxmemory-policy': policy } = settings;
    if (policy === undefined)
      return advice('Redis does not tell its maxmemory-policy', 'Make sure that it is noeviction.');
    if (policy === 'noeviction') return fine('Redis evicts nothing (noeviction)');
    const words = `Redis may throw sessions away when its memory is full (maxmemory-policy ${policy})`;
    const fix = 'Set maxmemory-policy noeviction.';
    return maxmemory === '0'
      ? advice(`${words}; no maxmemory is set, so it does not yet`, fix)
      : brokenFinding(words, fix);
  }),
  each('Redis memory', ({ settings, usedMemory = 0 }) => {
    const max = Number(settings.maxmemory ?? 0);
    const used = `${Math.round(usedMemory / MIB)} MiB in use`;
    if (!max) return fine(`Redis has no maxmemory, ${used}`);
    const words = `${used} of ${Math.round(max / MIB)} MiB in Redis`;
    return usedMemory < max * MEMORY_SHARE ? fine(words) : advice(words, 'Raise maxmemory or add nodes.');
  }),
];

const SAFE_MEMBERS = 3;

export const MONGO_CHECKS: readonly DoctorCheck[] = [
  {
    name: 'MongoDB answers',
    when: usesMongo,
    run: async ({ mongo }) => {
      const { version } = await mongo!.facts();
      return fine(`MongoDB ${version} at ${mongo!.connection.name} answers`);
    },
  },
  {
    name: 'MongoDB topology',
    when: usesMongo,
    run: async ({ mongo }) => {
      const { topology, members } = await mongo!.facts();
      if (topology === 'sharded') return fine('MongoDB is sharded');
      if (topology === 'replica set' && members >= SAFE_MEMBERS)
        return fine(`MongoDB is a replica set of ${members}: one may fail`);
      const words = topology === 'standalone' ? 'MongoDB stands alone' : `MongoDB is a replica set of ${members}`;
      return advice(`${words}: documents are lost with its disk`, `Use a replica set of ${SAFE_MEMBERS} members.`);
    },
  },
  {
    name: 'MongoDB write concern',
    when: usesMongo,
    run: () => fine('MongoDB writes wait for the journals of a majority, whatever the URL says'),
  },
];

const FREE_BROKEN = 64 * MIB;
const FREE_ADVICE = 1_024 * MIB;

export const FOLDER_CHECKS: readonly DoctorCheck[] = [
  {
    name: 'data folder',
    run: ({ config }) => {
      const { dataDir, production, redisUrl, mongodbUrl } = config;
      const isNeeded = redisUrl === undefined || mongodbUrl === undefined;
      if (!isNeeded) return fine('sessions and documents are kept elsewhere, not in DATA_DIR');
      if (dataDir === IN_MEMORY) {
        const words = 'DATA_DIR=:memory: keeps nothing when the process ends';
        const fix = 'Set DATA_DIR to a folder on a disk.';
        return production ? brokenFinding(words, fix) : advice(words, fix);
      }
      const place = existing(dataDir);
      if (!statSync(place).isDirectory()) return brokenFinding(`${place} is no folder`, 'Set DATA_DIR to another one.');
      try {
        accessSync(place, constants.W_OK | constants.X_OK);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return brokenFinding(`${place} cannot be written (${code})`, 'Give its rights to the user of the server.');
      }
      try {
        tryToWrite(place);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return brokenFinding(`${place} takes no writes (${code})`, 'Make room there, or raise the quota of this user.');
      }
      return fine(`DATA_DIR=${dataDir} can be ${place === dataDir ? 'written' : 'made'}`);
    },
  },
  {
    name: 'stored data',
    when: ({ config }) => config.dataDir !== IN_MEMORY && existsSync(config.dataDir),
    run: async ({ config }) => {
      const damage = await listDamage(config);
      return damage.length
        ? damage.map((words): Finding => ({ level: 'broken', words }))
        : fine('no stored file in DATA_DIR is damaged');
    },
  },
  {
    name: 'data that settings pass over',
    when: ({ config }) => config.redisUrl !== undefined || config.mongodbUrl !== undefined,
    run: async (context) => {
      const found = await withUsedStores(context, (used) => findPassedOver(context.config, used));
      if (found) return advice(found.words, found.fix);
      return fine('DATA_DIR holds nothing that these settings pass over');
    },
  },
  {
    name: 'disk space',
    when: isOnDisk,
    run: ({ config }) => spaceFinding(config.dataDir),
  },
];

// On the connections of the checks, which stay open.
async function withUsedStores<T>({ redis, mongo }: CheckContext, work: (used: UsedStores) => Promise<T>): Promise<T> {
  const [{ redisSnapshots }, { mongoDocuments }] = await Promise.all([
    import('../../lib/store/redis/index.ts'),
    import('../../lib/store/mongo/index.ts'),
  ]);
  const snapshots = redis && redisSnapshots({ connection: redis.connection });
  const documents = mongo && mongoDocuments({ connection: mongo.connection });
  try {
    return await work({ snapshots, documents });
  } finally {
    await Promise.all([snapshots?.close(), documents?.close()]);
  }
}

/** Whether the disk of this folder has room: `free` bytes, @default what the system says, or throws. */
export function spaceFinding(folder: string, free: number = measureFreeBytes(folder)): Finding {
  const words = `${Math.round(free / MIB)} MiB free for ${folder}`;
  const fix = 'Make room: LMDB and SQLite refuse writes on a full disk.';
  if (free < FREE_BROKEN) return brokenFinding(words, fix);
  return free < FREE_ADVICE ? advice(words, fix) : fine(words);
}

function measureFreeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(existing(folder));
  return bavail * bsize;
}

// The folder itself, or what it would be made in.
function existing(path: string): string {
  return existsSync(path) ? path : existing(dirname(path));
}
