// Canaries: secrets that stand nowhere by chance, so that a search for them in whatever a server leaves or says finds every leak.

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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

/** The same in the bytes of all files below a folder, but for those named in `but`. */
export function findCanariesIn(folder: string, canaries: Canaries, but: readonly string[] = []): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !but.includes(entry.name))
    .flatMap(({ name, parentPath }) =>
      findCanaries(readFileSync(join(parentPath, name), 'latin1'), canaries).map((found) => `${name}: ${found}`),
    );
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
    UTF8: bytes.toString('latin1'),
    hex: bytes.toString('hex'),
    HEX: bytes.toString('hex').toUpperCase(),
    ...Object.fromEntries(base64.map((text, at) => [`base64url ${at}`, text])),
    ...Object.fromEntries(base64.map((text, at) => [`base64 ${at}`, text.replaceAll('-', '+').replaceAll('_', '/')])),
  };
  const others = Object.entries(texts).filter(([, text]) => text !== secret);
  return [['plain', findPlain(secret)], ...others.map(([name, form]): Form => [name, (text) => text.indexOf(form)])];
}

// The digits of a PIN within a longer number, such as a time, are no PIN.
function findPlain(secret: string): Form[1] {
  if (!/^\d+$/.test(secret)) return (text) => text.indexOf(secret);
  const alone = new RegExp(`(?<![\\d.])${secret}(?!\\d)`);
  return (text) => text.search(alone);
}
