// DATA_DIR, the folder of a server: made where it is missing, and the keys that development makes in it, readable by their owner only,
// and made once however many servers start.

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Generated } from './kinds.ts';

const KEYS: { readonly [key in Generated]: { readonly file: string; readonly make: () => string } } = {
  'pin-key': { file: 'pin-encryption.key', make: () => randomBytes(32).toString('hex') },
  'oracle-key': { file: 'oracle.key', make: makeOracleKey },
};

/** DATA_DIR when nothing is to be kept. */
export const IN_MEMORY = ':memory:';

/** A text, and where it came from. */
export interface SourcedText {
  readonly text: string;
  readonly source: string;
}

/** The key as it is kept in the folder, if it is there. */
export function findKey(key: Generated, dataDir: string): SourcedText | undefined {
  if (dataDir === IN_MEMORY) return undefined;
  const path = join(dataDir, KEYS[key].file);
  const text = read(path);
  return text === undefined ? undefined : { text, source: path };
}

/**
 * The key of the folder, made when there is none: it appears whole or not at all, so processes that start together all
 * get the same one. In memory it is made anew each time. Throws what the file system does.
 */
export function ensureKey(key: Generated, dataDir: string): SourcedText {
  const { file, make } = KEYS[key];
  if (dataDir === IN_MEMORY) return { text: make(), source: 'generated for this run' };
  makeFolder(dataDir);
  const found = findKey(key, dataDir);
  if (found) return found;
  const path = join(dataDir, file);
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    writeDurably(draft, `${make()}\n`);
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return { text: read(path)!, source: path };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A new Ed25519 key as ucanto writes it: multibase `M` of 0x1300, the private key, 0xed and the public key. */
export function makeOracleKey(): string {
  const { d, x } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const parts = [
    Buffer.from([0x80, 0x26]),
    Buffer.from(d!, 'base64url'),
    Buffer.from([0xed, 0x01]),
    Buffer.from(x!, 'base64url'),
  ];
  return `M${Buffer.concat(parts).toString('base64')}`;
}

/**
 * Makes the folder, for its owner only, unless it is there. Throws what the file system does. Node's own recursion never
 * ends where a folder cannot be made although its parent is there, as in /proc.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
