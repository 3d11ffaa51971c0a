// Checks of DATA_DIR: whether it can be written, and whether the disk has room.

import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { tryToWrite } from '../../lib/store/lmdb/hold.ts';
import { IN_MEMORY } from '../config/generated.ts';
import { advice, broken, type Check, type Finding, fine, type Patient } from './check.ts';

const MIB = 1_048_576;
const FREE_BROKEN = 64 * MIB;
const FREE_ADVICE = 1_024 * MIB;

const isOnDisk = ({ config }: Patient) => config.dataDir !== IN_MEMORY;

export const FOLDER_CHECKS: readonly Check[] = [
  {
    name: 'data folder',
    run: ({ config }) => {
      const { dataDir, production, redisUrl, mongodbUrl } = config;
      const isNeeded = redisUrl === undefined || mongodbUrl === undefined;
      if (!isNeeded) return fine('sessions and documents are kept elsewhere, not in DATA_DIR');
      if (dataDir === IN_MEMORY) {
        const words = 'DATA_DIR=:memory: keeps nothing when the process ends';
        const fix = 'Set DATA_DIR to a folder on a disk.';
        return production ? broken(words, fix) : advice(words, fix);
      }
      const place = existing(dataDir);
      if (!statSync(place).isDirectory()) return broken(`${place} is no folder`, 'Set DATA_DIR to another one.');
      try {
        accessSync(place, constants.W_OK | constants.X_OK);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return broken(`${place} cannot be written (${code})`, 'Give its rights to the user of the server.');
      }
      try {
        tryToWrite(place);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return broken(`${place} takes no writes (${code})`, 'Make room there, or raise the quota of this user.');
      }
      return fine(place === dataDir ? `${dataDir} can be written` : `${dataDir} can be made`);
    },
  },
  {
    name: 'disk space',
    when: isOnDisk,
    run: ({ config }) => spaceFinding(config.dataDir),
  },
];

/** Whether the disk of this folder has room: `free` bytes, @default what the system says, or throws. */
export function spaceFinding(folder: string, free: number = freeBytes(folder)): Finding {
  const words = `${Math.round(free / MIB)} MiB free for ${folder}`;
  const fix = 'Make room: LMDB and SQLite refuse writes on a full disk.';
  if (free < FREE_BROKEN) return broken(words, fix);
  return free < FREE_ADVICE ? advice(words, fix) : fine(words);
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(existing(folder));
  return bavail * bsize;
}

// The folder itself, or what it would be made in.
function existing(path: string): string {
  return existsSync(path) ? path : existing(dirname(path));
}
