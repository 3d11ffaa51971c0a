// `twinline start`: runs the server, like `npm start`. Every setting is also a flag, except secrets, because other users of a machine can
// see arguments.

import { parseArgs } from 'node:util';
import type { Setting } from '../../config/kinds.ts';
import { SETTINGS, type SettingName } from '../../config/settings.ts';
import type { Verb } from '../verb.ts';

/** `data-dir` → DATA_DIR. */
const FLAGS: ReadonlyMap<string, SettingName> = new Map(
  (Object.entries(SETTINGS) as [SettingName, Setting][]).flatMap(([name, { secret }]) =>
    secret ? [] : [[name.toLowerCase().replaceAll('_', '-'), name]],
  ),
);

/** Options for parseArgs. */
export const SETTING_OPTIONS: Readonly<Record<string, { readonly type: 'string' }>> = Object.fromEntries(
  [...FLAGS.keys()].map((flag) => [flag, { type: 'string' }]),
);

/** Help texts: each flag with its variable and meaning. */
export const SETTING_HELP: Readonly<Record<string, string>> = Object.fromEntries(
  [...FLAGS].map(([flag, name]) => [`--${flag} <value>`, `${name}: ${SETTINGS[name].meaning}`]),
);

/** The variables that flags set. */
export function readSettings(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const flags = Object.entries(values).filter(([flag, value]) => FLAGS.has(flag) && typeof value === 'string');
  return Object.fromEntries(flags.map(([flag, value]) => [FLAGS.get(flag)!, value as string]));
}

export const startVerb: Verb = {
  usage: '[options]',
  options: {
    '--watch': 'start again after edits of services, plugins and files of settings; menus need no restart',
    ...SETTING_HELP,
    '(secrets)': 'only as environment variables: twinline config names them',
  },
  run: async (args, env, { envFiles = [] } = {}) => {
    const options = { ...SETTING_OPTIONS, watch: { type: 'boolean' } } as const;
    const { values } = parseArgs({ args: [...args], options });
    const settings = { ...env, ...readSettings(values) };
    if (!values.watch) {
      // Imported on demand: no other command needs it.
      const { runServer } = await import('../../boot/process.ts');
      await runServer(settings);
      return undefined;
    }
    const { findRestartPlaces, supervise } = await import('../edits.ts');
    const files = envFiles.map((file) => `--env-file=${file}`);
    await supervise([...args.filter((arg) => arg !== '--watch'), ...files], findRestartPlaces(settings, envFiles));
    return undefined;
  },
};
