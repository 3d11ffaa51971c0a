// What is secret in the environment: how a setting is shown without it, and all of it, for the redactor of the process.

import type { Json } from '../../lib/json/json.ts';
import { LONG_CHARS, listTexts, listUrlSecrets, type Redactor, redactor } from '../../lib/redact.ts';
import { GATEWAY_SECRET, isNetwork, type Setting } from './kinds.ts';
import { SETTINGS, type SettingName } from './settings.ts';

/** One setting as it was found. */
export interface FoundSetting {
  readonly name: SettingName;
  /** The text of the value; undefined when there is none. Secrets included: see `maskSetting`. */
  readonly text: string | undefined;
  /** `default`, `environment`, or the file of a generated key. */
  readonly source: string;
}

/** One setting as it may be shown. */
export interface ShownSetting extends Pick<FoundSetting, 'name' | 'source'> {
  /** Quoted, without what is secret in it; undefined when there is none. */
  readonly value: string | undefined;
  /** Its default, where it has one. */
  readonly usual: string | undefined;
  readonly meaning: string;
}

export function showSetting({ name, text, source }: FoundSetting): ShownSetting {
  const { default: usual, meaning }: Setting = SETTINGS[name];
  return { name, source, value: text === undefined ? undefined : maskSetting(name, text), usual, meaning };
}

const SHOWN_MAX = 80;

/** The text of a setting, quoted, without what is secret in it. */
export function maskSetting(name: SettingName, text: string): string {
  const { secret }: Setting = SETTINGS[name];
  if (secret === 'all' || secret === 'headers' || secret === 'fields') return `(${text.length} characters, hidden)`;
  // A URL that should have no password may have one.
  const open = secret === undefined ? redactor(listUrlSecrets(text)).text(text) : WITHOUT_SECRETS[secret](text);
  return JSON.stringify(open.length > SHOWN_MAX ? `${open.slice(0, SHOWN_MAX)}…` : open);
}

const WITHOUT_SECRETS: Readonly<Record<'password' | 'entries', (text: string) => string>> = {
  password: (text) => redactor(listUrlSecrets(text)).text(text.replace(/\/\/[^@]*@/, '//****@')),
  entries: (text) =>
    text
      .split(',')
      .map((entry) => maskEntry(entry.trim()))
      .join(','),
};

const LIKE_IPV4 = /^\d+(\.\d+){1,5}(\/\d+)?$/;

// What is neither a network nor in the right form may be a secret that was mistyped.
function maskEntry(entry: string): string {
  if (entry === '*' || isNetwork(entry) || LIKE_IPV4.test(entry)) return entry;
  const [, dialect] = /^([a-z][a-z0-9-]{0,31}):/.exec(entry) ?? [];
  return dialect === undefined ? '****' : `${dialect}:****`;
}

const SECRETS_IN: Readonly<Record<NonNullable<Setting['secret']>, (text: string) => readonly string[]>> = {
  // Of lists each, and of `kid:key` the key.
  all: (text) => [text, ...text.split(',').flatMap((item) => [item.trim(), item.trim().replace(/^[\w-]+:/, '')])],
  password: listUrlSecrets,
  entries: (text) => text.split(',').flatMap((entry) => GATEWAY_SECRET.exec(entry.trim())?.[2] ?? []),
  headers: listHeaderValues,
  fields: listFieldSecrets,
};

// Each value, and what follows a scheme such as `Bearer`. What is no JSON may be a secret that was pasted alone.
function listHeaderValues(text: string): readonly string[] {
  try {
    return listTexts(JSON.parse(text)).flatMap((value) => [value, value.replace(/^\S+\s+/, '')]);
  } catch {
    return [text];
  }
}

// What is no JSON may be a secret that was pasted alone.
function listFieldSecrets(text: string): readonly string[] {
  try {
    const fields = Object.entries(JSON.parse(text) as object);
    return fields.flatMap(([name, value]) => (FIELD_SECRET.test(name) ? listTexts(value as Json) : []));
  } catch {
    return [text];
  }
}

const FIELD_SECRET = /key|token|secret|pass|pwd|auth/i;

// Of services and plugins: their variables are not declared here.
const NAMED_SECRET = /(?:^|_)(?:(?:API|ACCESS|PRIVATE)?KEY|TOKEN|SECRET|PASS(?:WORD|PHRASE|WD)?|CREDENTIALS?|DSN)$/i;

/**
 * Masks what is secret in an environment: the settings that say so, variables whose name does (`…_KEY`, `…_TOKEN`,
 * `…_SECRET`, `…_PASSWORD`), and passwords in URLs. Whole lines of the log pass it, so texts of fewer than LONG_CHARS are
 * left out: they would mask words such as `test`, and a secret that short is none.
 */
export function environmentRedactor(env: NodeJS.ProcessEnv, entries: readonly FoundSetting[] = []): Redactor {
  const settings = entries.flatMap(({ name, text = '' }) => listSecrets(name, text));
  const others = Object.entries(env).flatMap(([name, text = '']) => listSecrets(name, text.trim()));
  return redactor([...settings, ...others].filter(({ length }) => length >= LONG_CHARS));
}

function listSecrets(name: string, text: string): readonly string[] {
  const secret = Object.hasOwn(SETTINGS, name) ? (SETTINGS[name as SettingName] as Setting).secret : undefined;
  return SECRETS_IN[secret ?? (NAMED_SECRET.test(name) ? 'all' : 'password')](text);
}
