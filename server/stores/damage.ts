// Whether what is kept in DATA_DIR is whole. All of it is read: for those who ask, not for each start.

import { join } from 'node:path';
import { TwinlineError } from '../../lib/errors.ts';
import { checkLmdbStore } from '../../lib/store/lmdb/check.ts';
import { checkSqliteFile } from '../../lib/store/sqlite/check.ts';
import type { Config } from '../config/config.ts';
import { IN_MEMORY } from '../config/data-dir.ts';

/** What is damaged, in words; empty when all is whole, or nothing is there. Throws what the system says when it cannot be read. */
export async function listDamage({
  dataDir,
  redisUrl,
  mongodbUrl,
}: Pick<Config, 'dataDir' | 'redisUrl' | 'mongodbUrl'>): Promise<string[]> {
  if (dataDir === IN_MEMORY) return [];
  const checks: (() => void | Promise<void>)[] = [
    ...(redisUrl === undefined
      ? ['sessions', 'runs'].map((folder) => () => checkLmdbStore(join(dataDir, folder)))
      : []),
    ...(mongodbUrl === undefined ? [() => checkSqliteFile(join(dataDir, 'twinline.db'))] : []),
  ];
  const damage: string[] = [];
  for (const check of checks)
    try {
      await check();
    } catch (error) {
      if (!(error instanceof TwinlineError && error.reason === 'damaged')) throw error;
      damage.push(error.message);
    }
  return damage;
}
