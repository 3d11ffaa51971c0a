// Stores that fail under a server: a real Redis and a real MongoDB-wire server behind a proxy, and a disk that is full.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import * as assert from 'uvu/assert';
import { KEYS } from '../../package/keys.ts';
import { type FaultProxy, faultProxy, PASS, type Fault as ProxyFault } from '../../support/fault-proxy.ts';
import { type MongoServer, startMongo } from '../../support/mongo-server.ts';
import { onPath } from '../../support/on-path.ts';
import { type RunningServer, startProcess, withFolder } from '../../support/process.ts';
import { startRedis } from '../../support/redis-server.ts';
import { skipped } from '../../support/skip.ts';
import { until } from '../../support/until.ts';
import { ask } from '../support/serve.ts';
import type { DependencyName, Door, Fault, Windows } from './matrix.ts';
import { openPlace, type Place, placeSettings, withPlace } from './place.ts';
import type { MakeRequest } from './requests.ts';

/** A server and something that it needs, which can be told to fail. */
export interface Ground {
  readonly dependency: DependencyName;
  /** Where more than one stands for the dependency: which one it is. */
  readonly title?: string;
  readonly place: Pick<Place, 'url' | 'printed'>;
  /** What is asked of each door that needs it. */
  readonly requests: { readonly [door in Door]?: MakeRequest };
  /** Those that are played here, one after the other. @default all */
  readonly faults?: readonly Fault[];
  /** Resolves when the fault is in force. */
  set(fault: Fault): Promise<void>;
  /** Resolves when it is not any more. */
  lift(): Promise<void>;
}

/** Opens grounds, hands each of them to `work`, and closes them when that is done. */
export type WithGrounds = (work: Work, windows?: Windows) => Promise<unknown>;
export type Work = (ground: Ground) => Promise<void>;

interface ProxyRules {
  /** Milliseconds that a slow one takes longer, each way. */
  readonly slowMs: number;
  /** Is found in a request that changes something, and in no other. */
  readonly effect: RegExp;
}

/** The faults of the network, done to a proxy. */
export function networkFaults(proxy: FaultProxy, { slowMs, effect }: ProxyRules): Pick<Ground, 'set' | 'lift'> {
  const faults: { readonly [fault in Fault]?: ProxyFault } = {
    refuse: { kind: 'refuse' },
    freeze: { kind: 'freeze' },
    slow: { kind: 'latency', ms: slowMs },
    reset: { kind: 'reset' },
    'lose-close': { kind: 'lose-reply', to: effect, after: 'close' },
    'lose-stall': { kind: 'lose-reply', to: effect, after: 'stall' },
  };
  return { set: (fault) => proxy.set(faults[fault]!), lift: () => proxy.set(PASS) };
}

// Its file cannot be written any more, as on a full disk: it answers, and refuses writes (MISCONF).
const FILLED = [['CONFIG', 'SET', 'dir', '/proc'], ['CONFIG', 'SET', 'save', '3600 1'], ['BGSAVE']];
const EMPTIED = [['CONFIG', 'SET', 'save', '']];

export const withRedis: WithGrounds = async (work) => {
  const files = ['--appendonly', 'yes', '--appendfsync', 'always', '--enable-protected-configs', 'yes'];
  const redis = await startRedis({ args: files });
  const proxy = await faultProxy(redis);
  const admin = new Redis(redis.url);
  const say = async (lines: readonly string[][]) => {
    for (const line of lines) await admin.call(...(line as [string, ...string[]]));
  };
  try {
    const env = { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, PIN_ENCRYPTION_KEY: KEYS.PIN_ENCRYPTION_KEY };
    const network = networkFaults(proxy, { slowMs: 500, effect: /evalsha/i });
    await withPlace({ env }, (place) =>
      work({
        ...{ dependency: 'redis', place, requests: place.requests },
        async set(fault) {
          if (fault !== 'full') return network.set(fault);
          await say(FILLED);
          await until('Redis cannot write', async () =>
            /rdb_last_bgsave_status:err/.test(await admin.info('persistence')),
          );
        },
        async lift() {
          await network.lift();
          await say(EMPTIED);
        },
      }),
    );
  } finally {
    admin.disconnect();
    await proxy.close();
    await redis.stop();
  }
};

// Those that take long go on beside each other.
const MONGO_FAULTS: readonly (readonly Fault[])[] = [
  ['freeze', 'reset'],
  ['lose-stall', 'refuse'],
  ['slow', 'lose-close'],
];

export const withMongo: WithGrounds = async (work) => {
  const mongo = await startMongo();
  try {
    await Promise.all(MONGO_FAULTS.map((faults) => onMongo(mongo, faults, work)));
  } finally {
    await mongo.stop();
  }
};

async function onMongo({ url: address }: MongoServer, faults: readonly Fault[], work: Work): Promise<void> {
  const proxy = await faultProxy({ port: Number(new URL(address).port) });
  const database = `faults-${randomBytes(4).toString('hex')}`;
  try {
    // Directly, or the driver would go around the proxy.
    const env = { MONGODB_URL: `mongodb://127.0.0.1:${proxy.port}/${database}?directConnection=true` };
    const network = networkFaults(proxy, { slowMs: 50, effect: /(insert|update|findAndModify)[^a-z]/ });
    await withPlace({ env }, (place) =>
      work({ dependency: 'mongo', place, faults, requests: { ...place.requests, ussd: place.logIn }, ...network }),
    );
  } finally {
    await proxy.close();
    const client = new MongoClient(address);
    await client.db(database).dropDatabase();
    await client.close();
  }
}

/** A place for data that takes no more when it is full. */
interface Disk {
  readonly title: string;
  readonly folder: string;
  fill(server: RunningServer): void;
  empty(server: RunningServer): void;
}

const CHUNK = Buffer.alloc(65_536);

/** A small file system in memory, filled with files. */
function tinyDisk(folder: string): Disk {
  const filler = join(folder, 'filler');
  return {
    title: 'a full file system',
    folder: join(folder, 'data'),
    fill: () => {
      for (const size of [CHUNK.length, 4_096, 1])
        try {
          for (;;) writeFileSync(filler, CHUNK.subarray(0, size), { flag: 'a' });
        } catch (error) {
          assert.is((error as NodeJS.ErrnoException).code, 'ENOSPC');
        }
    },
    empty: () => rmSync(filler),
  };
}

/** Any folder, for a process that may make no file longer: what users without rights can do to a server of theirs. */
function limitedFiles(folder: string): Disk {
  const limit = (server: RunningServer, bytes: string) =>
    execFileSync('prlimit', ['--pid', String(server.pid), `--fsize=${bytes}:unlimited`]);
  return {
    title: 'files that may not grow',
    folder,
    fill: (server) => void limit(server, '4096'),
    empty: (server) => void limit(server, 'unlimited'),
  };
}

/** Mounts a file system of 8 MiB on a new folder; undefined where this user may not. */
function mountTiny(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
}

async function onDisk({ title, folder, fill, empty }: Disk, work: Work): Promise<void> {
  await withFolder(async (menus) => {
    const server = await startProcess({ DATA_DIR: folder, ...placeSettings(menus) });
    try {
      const place = await openPlace(server.url, server.printed);
      const { requests } = place;
      const set = async () => {
        fill(server);
        // LMDB goes on as long as there are free pages in its file.
        while ((await (await requests.ussd()).ask()).startsWith('CON')) {}
      };
      const lift = async () => {
        // To be asked does not make it well.
        await pause(1_200);
        assert.is((await ask(`${place.url}/readyz`)).status, 503);
        empty(server);
      };
      await work({ dependency: 'disk', title, place, requests, set, lift });
      assert.not.match(server.printed(), /^\s+at .*lmdb/m, 'traces of lmdb');
      assert.ok((server.printed().match(/Write error: /g) ?? []).length <= 2, 'what lmdb itself writes');
    } finally {
      await server.kill();
    }
  });
}

/** A disk whose files may not grow, and where a file system may be mounted one that is full. */
export const withDisks: WithGrounds = async (work) => {
  if (onPath('prlimit') === undefined) skipped('no prlimit here: install util-linux');
  const tiny = mountTiny();
  try {
    await Promise.all([
      withFolder((folder) => onDisk(limitedFiles(folder), work)),
      tiny !== undefined && onDisk(tinyDisk(tiny), work),
    ]);
  } finally {
    if (tiny !== undefined) {
      execFileSync('umount', [tiny]);
      rmSync(tiny, { recursive: true });
    }
  }
};
