// Copies of DATA_DIR while a server uses it, with a list of their files and hashes; and putting one back.
//
// The order of the copies is that of a crash: a session never names an account, and a document never names a frame, that the backup lacks.

import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  createReadStream,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { TwinlineError } from '../../lib/errors.ts';
import { isObject, isText } from '../../lib/given.ts';
import type { Keyring } from '../../lib/keyring.ts';
import { readKeyId } from '../../lib/sealing.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { makeFolder } from '../config/data-dir.ts';
import { documentsIn } from '../stores/backends.ts';
import { listDamage } from '../stores/damage.ts';
import { readPinCanary } from '../stores/stores.ts';

const MANIFEST = 'backup.json';
const FORMAT = 1;

/** What a backup holds. */
export interface Manifest {
  readonly format: typeof FORMAT;
  /** The version of Twinline that made it. */
  readonly twinline: string;
  /** ISO 8601: everything acknowledged before `begun` is in it, and nothing from after `ended`. */
  readonly begun: string;
  readonly ended: string;
  /** The key of PIN_ENCRYPTION_KEY that its server seals with; null when nothing was sealed yet. */
  readonly key: string | null;
  /** By their path in the folder. */
  readonly files: { readonly [path: string]: { readonly bytes: number; readonly sha256: string } };
}

/** A store in DATA_DIR: the file that holds it, and how it is copied to another folder. */
interface StoreFile {
  readonly file: string;
  readonly copy: (dataDir: string, folder: string) => Promise<void>;
}

const lmdbPart = (name: string): StoreFile => ({
  file: join(name, 'data.mdb'),
  copy: async (dataDir, folder) => {
    const { copyLmdb } = await import('../../lib/store/lmdb/transfer.ts');
    await copyLmdb(join(dataDir, name), join(folder, name));
  },
});

const STORE_FILES: readonly StoreFile[] = [
  lmdbPart('sessions'),
  {
    file: 'twinline.db',
    copy: async (dataDir, folder) => {
      const { copySqlite } = await import('../../lib/store/sqlite/transfer.ts');
      copySqlite(documentsIn(dataDir), documentsIn(folder));
    },
  },
  lmdbPart('runs'),
];

/**
 * Copies the stores of DATA_DIR into `folder`, which must be missing or empty. The list is written last: a folder without it is no
 * backup. Throws ERR_INPUT or ERR_STORE.
 */
export async function backUp(
  { dataDir, version }: { readonly dataDir: string; readonly version: string },
  folder: string,
): Promise<Manifest> {
  const parts = STORE_FILES.filter(({ file }) => existsSync(join(dataDir, file)));
  if (parts.length === 0)
    throw new TwinlineError('ERR_INPUT', `There is nothing to back up: no server has stored anything in ${dataDir}.`);
  requireEmpty(folder);
  makeFolder(folder);
  const begun = new Date().toISOString();
  for (const part of parts) await part.copy(dataDir, folder);
  const ended = new Date().toISOString();
  // Before the hashes: to open a SQLite file is to write to it.
  const key = await readKey(folder);
  const files: Record<string, Manifest['files'][string]> = {};
  for (const { file } of parts) files[file] = await seal(join(folder, file));
  const manifest: Manifest = { format: FORMAT, twinline: version, begun, ended, key, files };
  writeManifest(folder, manifest);
  return manifest;
}

/**
 * Reads the whole backup and compares it with its list. Throws ERR_INPUT when it is none, or not whole, or its key is not in the
 * keyring.
 */
export async function checkBackup(folder: string, keyring: Keyring | undefined): Promise<Manifest> {
  const manifest = readManifest(folder);
  for (const [file, { bytes, sha256 }] of Object.entries(manifest.files)) {
    const path = join(folder, file);
    if (!existsSync(path)) throw refuse(folder, `${file} is missing`);
    if (statSync(path).size !== bytes || (await hashFile(path)) !== sha256)
      throw refuse(folder, `${file} has changed since`);
  }
  const damage = await listDamage({ dataDir: folder, redisUrl: undefined, mongodbUrl: undefined });
  if (damage.length) throw refuse(folder, damage.join(' '));
  const { key } = manifest;
  if (key !== null && keyring && !keyring.ids.includes(key))
    throw refuse(folder, `it was sealed with the key "${key}", which PIN_ENCRYPTION_KEY does not name`);
  return manifest;
}

/**
 * Checks a backup and puts its stores into DATA_DIR, where none may be. The files get their names when all of them are whole: killed
 * before, nothing is restored, and the next call begins again; killed among the names, it goes on. Throws ERR_INPUT.
 */
export async function restore(folder: string, dataDir: string, keyring: Keyring | undefined): Promise<Manifest> {
  const manifest = await checkBackup(folder, keyring);
  const missing: { readonly file: string; readonly draft: string; readonly path: string }[] = [];
  for (const [file, { sha256 }] of Object.entries(manifest.files)) {
    const path = join(dataDir, file);
    if (!(await isRestored(path, sha256))) missing.push({ file, draft: `${path}.restored`, path });
  }
  for (const { file, draft, path } of missing) {
    makeFolder(dirname(path));
    copyFileSync(join(folder, file), draft);
    if ((await seal(draft)).sha256 !== manifest.files[file]!.sha256)
      throw refuse(folder, `${file} changed while it was read`);
  }
  for (const { draft, path } of missing) {
    renameSync(draft, path);
    flush(dirname(path));
  }
  return manifest;
}

// SQLite would read a log that an earlier file has left as that of this one.
async function isRestored(path: string, sha256: string): Promise<boolean> {
  const obstacle = [path, `${path}-wal`].find((name) => existsSync(name));
  if (obstacle === undefined) return false;
  if (obstacle === path && !existsSync(`${path}-wal`) && (await hashFile(path)) === sha256) return true;
  throw new TwinlineError(
    'ERR_INPUT',
    `${obstacle} is there already. Stop the server and move its folder away, or name another folder in DATA_DIR.`,
  );
}

function requireEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new TwinlineError(
      'ERR_INPUT',
      `${folder} is not empty. Give a new folder: a backup is never written over another.`,
    );
}

// Makes sure that the file is on the disk and that others cannot read it.
async function seal(path: string): Promise<Manifest['files'][string]> {
  chmodSync(path, 0o600);
  flush(path);
  return { bytes: statSync(path).size, sha256: await hashFile(path) };
}

function flush(path: string): void {
  const handle = openSync(path, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

// The copy is read, not the live file: what it says belongs to this moment.
async function readKey(folder: string): Promise<string | null> {
  if (!existsSync(documentsIn(folder))) return null;
  const documents = sqliteDocuments({ path: documentsIn(folder) });
  try {
    const canary = await readPinCanary(documents);
    return canary === undefined ? null : readKeyId(canary);
  } finally {
    await documents.close();
  }
}

function writeManifest(folder: string, manifest: Manifest): void {
  const path = join(folder, MANIFEST);
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  flush(path);
  flush(folder);
}

function readManifest(folder: string): Manifest {
  const path = join(folder, MANIFEST);
  if (!existsSync(path)) throw refuse(folder, `it has no ${MANIFEST}, so it is no backup or was not finished`);
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    throw refuse(folder, `its ${MANIFEST} cannot be read`);
  }
  if (!isManifest(manifest)) throw refuse(folder, `its ${MANIFEST} is of another version or damaged`);
  return manifest;
}

function isManifest(value: unknown): value is Manifest {
  if (!isObject(value) || value.format !== FORMAT || !isObject(value.files)) return false;
  const names = new Set(STORE_FILES.map(({ file }) => file));
  return (
    (value.key === null || isText(value.key)) &&
    Object.entries(value.files).every(
      ([name, file]) => names.has(name) && isObject(file) && typeof file.bytes === 'number' && isText(file.sha256),
    )
  );
}

const refuse = (folder: string, why: string) =>
  new TwinlineError('ERR_INPUT', `The backup in ${folder} cannot be used: ${why}.`);
