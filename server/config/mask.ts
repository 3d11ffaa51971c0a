// Values as they may be shown: secrets only by their length, passwords in URLs not at all.

import { SETTINGS, type Setting, type SettingName } from './settings.ts';

const SHOWN_MAX = 80;

/** The text of a setting, quoted, without what is secret in it. */
export function masked(name: SettingName, text: string): string {
  const { secret }: Setting = SETTINGS[name];
  if (secret === 'all') return `(${text.length} characters, hidden)`;
  const open = secret === 'password' ? text.replace(/\/\/[^@]*@/, '//****@') : text;
  return JSON.stringify(open.length > SHOWN_MAX ? `${open.slice(0, SHOWN_MAX)}…` : open);
}
