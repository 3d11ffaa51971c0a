// Values as they may be shown: secrets only by their length, passwords in URLs not at all.

import { isNetwork } from './kinds.ts';
import { SETTINGS, type Setting, type SettingName } from './settings.ts';

const SHOWN_MAX = 80;

/** The text of a setting, quoted, without what is secret in it. */
export function masked(name: SettingName, text: string): string {
  const { secret }: Setting = SETTINGS[name];
  if (secret === 'all') return `(${text.length} characters, hidden)`;
  const open = secret === undefined ? text : WITHOUT_SECRETS[secret](text);
  return JSON.stringify(open.length > SHOWN_MAX ? `${open.slice(0, SHOWN_MAX)}…` : open);
}

const WITHOUT_SECRETS: Readonly<Record<'password' | 'entries', (text: string) => string>> = {
  password: (text) => text.replace(/\/\/[^@]*@/, '//****@'),
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
