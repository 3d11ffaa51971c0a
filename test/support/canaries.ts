// Canaries: secrets that stand nowhere by chance, so that a search for them in whatever a server leaves or says finds every leak.

import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IN_MEMORY } from '../../server/config/data-dir.ts';
import type { Setting } from '../../server/config/kinds.ts';
import type { SettingsReading } from '../../server/config/read.ts';
import { SETTINGS } from '../../server/config/settings.ts';

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
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !KEY_FILES.includes(entry.name))
    .flatMap(({ name, parentPath }) =>
      findCanaries(readFileSync(join(parentPath, name), 'latin1'), canaries).map((found) => `${name}: ${found}`),
    );
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

/** Throws when a server that has ended has printed what is secret in its settings, or kept it in its folder. */
export function refuseLeaks({ entries }: Pick<SettingsReading, 'entries'>, printed: string): void {
  const secrets = secretSettings(entries);
  const folder = entries.find(({ name }) => name === 'DATA_DIR')?.text ?? IN_MEMORY;
  const found = findCanaries(printed, secrets).map((what) => `printed ${what}`);
  if (folder !== IN_MEMORY && existsSync(folder)) found.push(...findCanariesIn(folder, secrets));
  if (found.length) throw new Error(`A server has leaked secrets of its settings:\n${found.join('\n')}`);
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
