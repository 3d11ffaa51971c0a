// Every setting as a flag: `--data-dir` for DATA_DIR. Secrets have none, for other users of a machine see arguments.

import { SETTINGS, type Setting, type SettingName } from '../config/settings.ts';

/** `data-dir` → DATA_DIR. */
const FLAGS: ReadonlyMap<string, SettingName> = new Map(
  (Object.entries(SETTINGS) as [SettingName, Setting][]).flatMap(([name, { secret }]) =>
    secret ? [] : [[name.toLowerCase().replaceAll('_', '-'), name]],
  ),
);

/** For parseArgs. */
export const SETTING_OPTIONS: Readonly<Record<string, { readonly type: 'string' }>> = Object.fromEntries(
  [...FLAGS.keys()].map((flag) => [flag, { type: 'string' }]),
);

/** For help: the flag, its variable and what that means. */
export const SETTING_HELP: Readonly<Record<string, string>> = Object.fromEntries(
  [...FLAGS].map(([flag, name]) => [`--${flag} <value>`, `${name}: ${SETTINGS[name].meaning}`]),
);

/** The variables that flags set. */
export function settingsOf(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const given = Object.entries(values).filter(([flag, value]) => FLAGS.has(flag) && typeof value === 'string');
  return Object.fromEntries(given.map(([flag, value]) => [FLAGS.get(flag)!, value as string]));
}
