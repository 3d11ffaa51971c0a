// `twinline start`: the server, as `npm start` runs it.

import { parseArgs } from 'node:util';
import type { Verb } from '../verb.ts';

const FLAGS = { port: 'PORT', host: 'HOST', menus: 'MENUS_DIR', data: 'DATA_DIR', flow: 'USSD_FLOW' } as const;

export const startVerb: Verb = {
  summary: 'Start the server; every other setting is an environment variable',
  usage: '[options]',
  options: {
    '--port <n>': 'PORT: where it listens, 0 for any free port',
    '--host <address>': 'HOST: the address it listens on',
    '--menus <folder>': 'MENUS_DIR: where flows are',
    '--data <folder>': 'DATA_DIR: embedded stores; :memory: keeps nothing',
    '--flow <name>': 'USSD_FLOW: the flow that a dial starts',
  },
  run: async (args, env) => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        port: { type: 'string' },
        host: { type: 'string' },
        menus: { type: 'string' },
        data: { type: 'string' },
        flow: { type: 'string' },
      },
    });
    const given = Object.entries(values).map(([flag, value]) => [FLAGS[flag as keyof typeof FLAGS], value]);
    // Loaded only now: the other verbs need none of it.
    const { runServer } = await import('../../process.ts');
    await runServer({ ...env, ...Object.fromEntries(given) });
    return undefined;
  },
};
