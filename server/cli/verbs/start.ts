// `twinline start`: the server, as `npm start` runs it.

import { parseArgs } from 'node:util';
import { SETTING_HELP, SETTING_OPTIONS, settingsOf } from '../setting-flags.ts';
import type { Verb } from '../verb.ts';

export const startVerb: Verb = {
  summary: 'Start the server; every flag is also an environment variable',
  usage: '[options]',
  options: {
    '--watch': 'start again after edits of services, plugins and files of settings; menus need no restart',
    ...SETTING_HELP,
    '(secrets)': 'only as environment variables: twinline config names them',
  },
  run: async (args, env, { envFiles = [] } = {}) => {
    const options = { ...SETTING_OPTIONS, watch: { type: 'boolean' } } as const;
    const { values } = parseArgs({ args: [...args], options });
    const given = { ...env, ...settingsOf(values) };
    if (!values.watch) {
      // Loaded only now: the other verbs need none of it.
      const { runServer } = await import('../../boot/process.ts');
      await runServer(given);
      return undefined;
    }
    const { readOnce, supervise } = await import('../supervisor.ts');
    const files = envFiles.map((file) => `--env-file=${file}`);
    await supervise([...args.filter((arg) => arg !== '--watch'), ...files], readOnce(given, envFiles));
    return undefined;
  },
};
