// `twinline chat`: a phone in the terminal, on a server somewhere or on an engine in this process.

import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { readPhoneNumber, readServiceCode } from '../../../lib/ussd/request.ts';
import { IN_MEMORY } from '../../config/generated.ts';
import { type Config, readConfig } from '../../config.ts';
import { EXIT_CONFIG } from '../../errors.ts';
import { lineInside, lineTo, type Phone } from '../line.ts';
import { talk } from '../talk.ts';
import { Usage, type Verb } from '../verb.ts';

const OPTIONS = {
  url: { type: 'string' },
  phone: { type: 'string', default: '+263771234567' },
  code: { type: 'string', default: '*2233#' },
  menus: { type: 'string' },
} as const;

export const chatVerb: Verb = {
  summary: 'Dial with a phone in the terminal; without --url nothing is kept',
  usage: '[flow] [options]',
  options: {
    '--url <address>': 'dial a running server, such as http://127.0.0.1:3000',
    '--phone <number>': `the phone, default ${OPTIONS.phone.default}`,
    '--code <code>': `the code that is dialled, default ${OPTIONS.code.default}`,
    '--menus <folder>': 'MENUS_DIR: where flows are',
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [flow, ...more] = positionals;
    if (more.length) throw new Usage(`One flow can be dialled, not ${positionals.length}.`);
    const phone = checked({ phoneNumber: values.phone, serviceCode: values.code });
    if (values.url === undefined)
      return inside({ ...env, ...from({ MENUS_DIR: values.menus, USSD_FLOW: flow }) }, phone);
    if (flow !== undefined) throw new Usage('The server at --url decides which flow answers: leave the flow out.');
    if (!URL.canParse(values.url)) throw new Usage(`"${values.url}" is no address such as http://127.0.0.1:3000.`);
    return talk({ line: lineTo(values.url, phone), input: process.stdin, output: process.stdout });
  },
};

const NOTHING_KEPT = { DATA_DIR: IN_MEMORY, REDIS_URL: '', MONGODB_URL: '' };

async function inside(env: NodeJS.ProcessEnv, phone: Phone): Promise<number> {
  const { config, problems } = readConfig({ LOG_LEVEL: 'warn', ...env, ...NOTHING_KEPT }, { makeKeys: true });
  for (const problem of problems) console.error(problem);
  if (!config) return EXIT_CONFIG;
  const [{ openHost }, { createLog }] = await Promise.all([import('../../host.ts'), import('../../log.ts')]);
  // Screens go to standard output, troubles beside it.
  const host = await openHost(config, { log: createLog(config, pino.destination(2)) });
  try {
    return await talk({
      line: lineInside(host, { ...phone, flow: flowOf(config) }),
      input: process.stdin,
      output: process.stdout,
    });
  } finally {
    await host.engine.idle();
    await host.close();
  }
}

const flowOf = ({ ussd }: Config) => ussd.flow;

function checked(phone: Phone): Phone {
  try {
    readPhoneNumber(phone.phoneNumber, '--phone');
    readServiceCode(phone.serviceCode, '--code');
    return phone;
  } catch (error) {
    throw new Usage(
      (error as Error).message.replace('Cannot read the USSD request: ', '').replace(/ Check what.*/, ''),
    );
  }
}

function from(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
