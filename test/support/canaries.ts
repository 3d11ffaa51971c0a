// Canaries: secrets that stand nowhere by chance, so that a search for them in whatever a server leaves or says finds every leak.

import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { IN_MEMORY } from '../../server/config/data-dir.ts';
import type { Setting } from '../../server/config/kinds.ts';
import type { SettingsReading } from '../../server/config/read.ts';
import { SETTINGS, type SettingName } from '../../server/config/settings.ts';
import { findTold } from './told-secrets.ts';

/** What is looked for: what it is → its text. */
export type Canaries = ReadonlyMap<string, string>;

/** A new secret of this kind. `odd`: with characters that URLs and JSON write in another way. */
export const newCanary = (kind: string, odd = '') => `${kind}-${odd}${randomBytes(12).toString('hex')}`;

/** Which of them a text holds, in which form, and what stands around it. */
export function findCanaries(text: string, canaries: Canaries): string[] {
  return [...canaries].flatMap(([kind, secret]) =>
    listForms(secret).flatMap(([form, find]) => {
      const at = find(text);
      return at < 0 ? [] : [`the ${kind} (${form}): …${text.slice(Math.max(0, at - 80), at + 40)}…`];
    }),
  );
}

/** Keys that were made for a server are kept there. */
const KEY_FILES = ['pin-encryption.key', 'oracle.key'];

/** The same in the bytes of all files of a server's folder. */
export function findCanariesIn(folder: string, canaries: Canaries): string[] {
  return searchFiles(folder, (text) => findCanaries(text, canaries));
}

/** What `find` finds in the files of a server's folder, but for those that hold its keys. */
function searchFiles(
  folder: string,
  find: (text: string) => readonly string[],
  except: readonly string[] = [],
): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !KEY_FILES.includes(entry.name))
    .map(({ name, parentPath }) => ({ name, path: join(parentPath, name) }))
    .filter(({ path }) => !except.includes(path))
    .flatMap(({ name, path }) => searchFile(path, find).map((found) => `${name}: ${found}`));
}

function searchFile(path: string, find: (text: string) => readonly string[]): string[] {
  const all = new Set<string>();
  for (const piece of readPieces(path)) for (const found of find(piece)) all.add(found);
  return [...all];
}

const PIECE_BYTES = 64 * 1_048_576;
/** What two pieces of a file share: no form of a secret is longer. */
const SHARED_BYTES = 65_536;

/** The bytes of a file as texts; those of a long soak are larger than a text may be. */
function* readPieces(path: string): Generator<string> {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= PIECE_BYTES) return yield readIfThere(path);
  const file = openSync(path, 'r');
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    for (let at = 0; at < size; at += PIECE_BYTES - SHARED_BYTES)
      yield piece.toString('latin1', 0, readSync(file, piece, { position: at }));
  } finally {
    closeSync(file);
  }
}

// Another server on the same folder may remove a file meanwhile.
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** Shorter values may be words. */
const SECRET_CHARS = 12;

/** The settings of an environment that are secret, and keys that were made for it. */
function secretSettings(entries: SettingsReading['entries']): Canaries {
  return new Map(
    entries.flatMap(({ name, text = '' }) => {
      const { secret }: Setting = SETTINGS[name];
      return secret === 'all' && text.length >= SECRET_CHARS ? [[name, text] as const] : [];
    }),
  );
}

const SECRET_NAME = /(KEY|TOKEN|SECRET|PASSWORD)$/;

/** What services and plugins are given in variables of their own. */
function otherSecrets(env: NodeJS.ProcessEnv): Canaries {
  const own = Object.entries(env).filter(([name]) => SECRET_NAME.test(name) && !Object.hasOwn(SETTINGS, name));
  return new Map(own.flatMap(([name, text = '']) => (text.length >= SECRET_CHARS ? [[name, text] as const] : [])));
}

/** The API keys of a file. */
function fileKeys(file: string | undefined): Canaries {
  if (file === undefined || !existsSync(file)) return new Map();
  const keys = [...readIfThere(file).matchAll(/"key"\s*:\s*"([^"]+)"/g)].map(([, key]) => key!);
  return new Map(keys.filter((key) => key.length >= SECRET_CHARS).map((key, at) => [`API key ${at}`, key]));
}

export interface EndedServer extends Pick<SettingsReading, 'entries'> {
  readonly env: NodeJS.ProcessEnv;
  readonly url: string;
}

/** A key of this run only is shown to the person who started it. */
const SHOWN_KEY = /API key +\S+ \(this run only\)/g;

/**
 * Throws when a server that has ended, in order or by kill -9, has printed a secret or kept one in its folder: of its settings,
 * of its services, of its files of keys, and what tests have told it.
 */
export function refuseLeaks({ entries, env, url }: EndedServer, printed: string): void {
  const find = (name: SettingName) => entries.find((entry) => entry.name === name)?.text;
  const files = [find('API_KEYS_FILE'), find('GATEWAY_FILE')].filter((file) => file !== undefined);
  const secrets: Canaries = new Map(
    [secretSettings(entries), otherSecrets(env), ...files.map(fileKeys)].flatMap((some) => [...some]),
  );
  const search = (text: string) => [...findCanaries(text, secrets), ...findTold(url, text)];
  const folder = find('DATA_DIR') ?? IN_MEMORY;
  const found = search(printed.replaceAll(SHOWN_KEY, '')).map((what) => `printed ${what}`);
  if (folder !== IN_MEMORY && existsSync(folder)) found.push(...searchFiles(folder, search, files));
  if (found.length) throw new Error(`A server has leaked secrets:\n${found.join('\n')}`);
}

type Form = readonly [name: string, find: (text: string) => number];

const known = new Map<string, readonly Form[]>();

function listForms(secret: string): readonly Form[] {
  const forms = known.get(secret) ?? makeForms(secret);
  known.set(secret, forms);
  return forms;
}

function makeForms(secret: string): readonly Form[] {
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  // What does not depend on what stands beside it, for each place where it can begin.
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64url');
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
  const texts = {
    JSON: json,
    'JSON in JSON': JSON.stringify(json).slice(1, -1),
    URL: encodeURIComponent(secret),
    hex: bytes.toString('hex'),
    HEX: bytes.toString('hex').toUpperCase(),
    ...Object.fromEntries(base64.map((text, at) => [`base64url ${at}`, text])),
    ...Object.fromEntries(base64.map((text, at) => [`base64 ${at}`, text.replaceAll('-', '+').replaceAll('_', '/')])),
  };
  // In the bytes of a file, what is not ASCII stands as UTF-8.
  const others = Object.entries({ plain: secret, ...texts })
    .flatMap(([name, text]) => [
      [name, text] as const,
      [`${name}, UTF-8`, Buffer.from(text).toString('latin1')] as const,
    ])
    .filter(([, text], at, all) => text !== secret && all.findIndex(([, other]) => other === text) === at);
  return [['plain', findPlain(secret)], ...others.map(([name, form]): Form => [name, (text) => text.indexOf(form)])];
}

// The digits of a PIN within a longer number, such as a time, are no PIN.
function findPlain(secret: string): Form[1] {
  if (!/^\d+$/.test(secret)) return (text) => text.indexOf(secret);
  const alone = new RegExp(`(?<![\\d.])${secret}(?!\\d)`);
  return (text) => text.search(alone);
}
