// `twinline chat`: a phone in the terminal, connected to a server or to an engine in this process.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { suggest } from '../../../lib/flow/expression/suggest.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import { isObject } from '../../../lib/given.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { readPhoneNumber, readServiceCode } from '../../../lib/ussd/request.ts';
import { readConfig } from '../../config/config.ts';
import { IN_MEMORY } from '../../config/data-dir.ts';
import { EXIT_CONFIG } from '../../http/errors.ts';
import { readServerUrl } from '../remote.ts';
import { UsageError, type Verb } from '../verb.ts';
import { type InsideLine, lineInside, lineTo, type Phone, recorder } from './line.ts';
import { talk } from './talk.ts';

const OPTIONS = {
  url: { type: 'string' },
  phone: { type: 'string', default: '+263771234567' },
  code: { type: 'string', default: '*2233#' },
  'menus-dir': { type: 'string' },
  from: { type: 'string' },
  context: { type: 'string' },
  record: { type: 'string' },
} as const;

export const chatVerb: Verb = {
  usage: '[flow] [options]',
  options: {
    '--url <address>': 'dial a running server, such as http://127.0.0.1:3000',
    '--phone <number>': `the phone, default ${OPTIONS.phone.default}`,
    '--code <code>': `the code that is dialled, default ${OPTIONS.code.default}`,
    '--menus-dir <folder>': 'MENUS_DIR: where flows are',
    '--from <screen>': 'begin at a screen of the flow, such as home or login.pin',
    '--context <json>': 'variables of the flow there: JSON, or a file of it; with --from',
    '--record <file>': 'write the dialogue down for twinline replay, behind what is there; secrets are masked',
    '(while it runs)': 'type /help: retries, duplicates, lost screens, delays, timeouts',
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [flow, ...more] = positionals;
    if (more.length) throw new UsageError(`One flow can be dialled, not ${positionals.length}.`);
    const phone = checkPhone({ phoneNumber: values.phone, serviceCode: values.code });
    const { url, from: screen, context, record } = values;
    if (url === undefined) {
      const settings = {
        ...env,
        MENUS_DIR: values['menus-dir'] ?? env.MENUS_DIR,
        USSD_FLOW: flow ?? env.USSD_FLOW,
      };
      if (context !== undefined && screen === undefined)
        throw new UsageError('--context says what is known --from a screen.');
      if (record !== undefined && screen !== undefined)
        throw new UsageError('A recording begins with a dial: leave --from out.');
      const from = screen === undefined ? undefined : { screen, context: readContext(context) };
      return chatInside(settings, { phone, from, record });
    }
    if (flow !== undefined) throw new UsageError('The server at --url decides which flow answers: leave the flow out.');
    if (screen !== undefined || record !== undefined)
      throw new UsageError('What a server keeps is not seen from here: leave --from and --record out, or --url.');
    return talk({ line: lineTo(readServerUrl(url), phone), input: process.stdin, output: process.stdout });
  },
};

const NOTHING_KEPT = { DATA_DIR: IN_MEMORY, REDIS_URL: '', MONGODB_URL: '' };

interface ChatOptions {
  readonly phone: Phone;
  readonly from: InsideLine['from'];
  /** A file. */
  readonly record: string | undefined;
}

async function chatInside(env: NodeJS.ProcessEnv, { phone, from, record }: ChatOptions): Promise<number> {
  const { config, problems } = readConfig({ LOG_LEVEL: 'warn', ...env, ...NOTHING_KEPT }, { makeKeys: true });
  for (const problem of problems) console.error(problem);
  if (!config) return EXIT_CONFIG;
  const [{ openHost }, { createLog }] = await Promise.all([
    import('../../boot/host.ts'),
    import('../../telemetry/log.ts'),
  ]);
  const { flow } = config.ussd;
  const recording = record === undefined ? undefined : recorder(record);
  // Screens go to standard output, errors to standard error.
  const host = await openHost(config, {
    log: createLog(config, pino.destination(2)),
    services: recording?.services,
    inspector: recording?.inspector,
  });
  try {
    const compiled = host.menus.compiled.get(flow);
    if (!compiled && (from || record !== undefined))
      throw new UsageError(`"${flow}" is a machine of your own: leave --from and --record out.`);
    if (from) checkPlace(compiled!, from);
    const line = lineInside(host, { ...phone, flow, from });
    const recordedLine = recording?.line(line, { host, phone, flow }) ?? line;
    return await talk({ line: recordedLine, input: process.stdin, output: process.stdout });
  } finally {
    await host.engine.idle();
    await host.close();
    recording?.close();
  }
}

// Inline JSON, or the path of a JSON file.
function readContext(text: string | undefined): JsonObject {
  if (text === undefined) return {};
  const isJson = text.trim().startsWith('{');
  try {
    const value = JSON.parse(isJson ? text : readFileSync(text, 'utf8')) as unknown;
    if (isObject(value)) return value as JsonObject;
  } catch {}
  throw new UsageError(`--context takes an object like {"balance": 20}, or a file that holds one, and not ${text}.`);
}

function checkPlace({ screens, flow }: CompiledFlow, { screen, context }: NonNullable<InsideLine['from']>): void {
  if (!screens.has(screen))
    throw new UsageError(`The flow "${flow.flow}" has no screen "${screen}".${suggest(screen, screens.keys())}`);
  const names = Object.keys(flow.vars ?? {});
  const unknown = Object.keys(context).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`The flow "${flow.flow}" has no variable "${unknown}".${suggest(unknown, names)}`);
}

function checkPhone(phone: Phone): Phone {
  try {
    readPhoneNumber(phone.phoneNumber, '--phone');
    readServiceCode(phone.serviceCode, '--code');
    return phone;
  } catch (error) {
    throw new UsageError(
      (error as Error).message.replace('Cannot read the USSD request: ', '').replace(/ Check what.*/, ''),
    );
  }
}
