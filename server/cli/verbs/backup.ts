// `twinline backup` and `twinline restore`: a copy of DATA_DIR while servers run, and putting it back.

import { parseArgs } from 'node:util';
import { TwinlineError } from '../../../lib/errors.ts';
import { type Config, readConfig } from '../../config/config.ts';
import { IN_MEMORY } from '../../config/data-dir.ts';
import { readVersion } from '../../config/modules.ts';
import { backUp, checkBackup, type Manifest, restore } from '../../move/backup.ts';
import { UsageError, type Verb } from '../verb.ts';

export const backupVerb: Verb = {
  usage: '<folder> [options]',
  options: {
    '(what)': 'sessions, documents and runs in DATA_DIR, as of one moment each, while servers go on writing',
    '(not)': 'keys, menus and settings: copy them yourself; Redis and MongoDB: use their own tools',
    '--json': 'as JSON',
    '(exit codes)': '0 done, 1 refused or failed, 2 wrong use, 78 configuration',
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { json: { type: 'boolean' } },
      allowPositionals: true,
    });
    const folder = requireFolder(positionals);
    const config = requireDisk(env, 'backed up');
    for (const words of describeElsewhere(config)) console.error(`! ${words}`);
    const manifest = await backUp({ dataDir: config.dataDir, version: readVersion() }, folder);
    console.log(values.json ? JSON.stringify(manifest) : `${describe(manifest)} are in ${folder}.\n${KEYS_APART}`);
    return 0;
  },
};

export const restoreVerb: Verb = {
  usage: '<folder> [options]',
  options: {
    '--check': 'compares every file with the list of the backup and reads it to its end; writes nothing',
    '(where)': 'into DATA_DIR, where no stores may be yet; stop the server first',
    '--json': 'as JSON',
    '(exit codes)': '0 done, 1 refused or not whole, 2 wrong use, 78 configuration',
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { check: { type: 'boolean' }, json: { type: 'boolean' } },
      allowPositionals: true,
    });
    const folder = requireFolder(positionals);
    const { dataDir, keyring } = requireDisk(env, 'restored');
    const manifest = values.check ? await checkBackup(folder, keyring) : await restore(folder, dataDir, keyring);
    const what = values.check ? `${describe(manifest)} are whole.` : `${describe(manifest)} are in ${dataDir}.`;
    console.log(values.json ? JSON.stringify(manifest) : what);
    return 0;
  },
};

const KEYS_APART = 'Keep PIN_ENCRYPTION_KEY and ORACLE_KEY elsewhere: without them nobody can use this backup.';

function describe({ files, begun, key }: Manifest): string {
  const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0);
  const sealed = key === null ? '' : `, sealed with the key "${key}"`;
  return `${Object.keys(files).join(', ')} (${Math.ceil(bytes / 1_024)} KiB, as of ${begun}${sealed})`;
}

function requireFolder([folder, ...more]: readonly string[]): string {
  if (folder === undefined || more.length) throw new UsageError('Give one folder for the backup.');
  return folder;
}

function requireDisk(env: NodeJS.ProcessEnv, done: string): Config {
  const { config, problems } = readConfig(env);
  if (!config) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
  const { dataDir, redisUrl, mongodbUrl } = config;
  if (dataDir === IN_MEMORY || (redisUrl !== undefined && mongodbUrl !== undefined))
    throw new TwinlineError(
      'ERR_CONFIG',
      `These settings store nothing in DATA_DIR that could be ${done}. Back Redis and MongoDB up with their own tools: see the guide "Moving, restoring, rotating".`,
    );
  return config;
}

function describeElsewhere({ redisUrl, mongodbUrl }: Config): string[] {
  return [
    ...(redisUrl === undefined ? [] : ['Sessions are in Redis: back it up at the same moment.']),
    ...(mongodbUrl === undefined ? [] : ['Documents are in MongoDB: back it up at the same moment.']),
  ];
}
