// `twinline caller`: what happened to the caller with a phone number, from the log and from a running server.

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { pinVault } from '../../../lib/account/pin.ts';
import { readPhone } from '../../../lib/account/services.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import type { SessionMessage } from '../../../lib/inspection/stately.ts';
import { readConfig } from '../../config/config.ts';
import { isTold, type LogLine } from '../../telemetry/log.ts';
import type { TroubledSession } from '../../telemetry/trouble.ts';
import { readErrorCode, readOperatorToken, readText, remote } from '../remote.ts';
import { formatCount } from '../terminal.ts';
import { UsageError, type Verb } from '../verb.ts';

const OPTIONS = {
  since: { type: 'string' },
  log: { type: 'string' },
  url: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const callerVerb: Verb = {
  usage: '<phone> [options]',
  options: {
    '--log <file>': 'the structured log of the servers, or - for standard input: turns, and what failed in them',
    '--since <time>': 'leaves older lines out: 30m, 2h, 7d, or a time such as 2026-11-28T09:00Z',
    '--url <address>':
      'the server that is asked for living sessions and recent failures, with OPERATOR_TOKEN; without --log default http://127.0.0.1:<PORT, or 3000>',
    '--json': 'as JSON, one line for each line of the log',
    '(keys)': 'lines are found under today’s and the older keys of PIN_ENCRYPTION_KEY',
    '(exit codes)': '0 something was found, 1 nothing was, 2 wrong use, 78 configuration',
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const phone = readPhone(positionals[0] ?? '');
    if (phone === undefined || positionals.length > 1)
      throw new UsageError('Give one phone number such as +260971230001.');
    const since = values.since === undefined ? 0 : readSince(values.since, Date.now());
    const print = values.json ? (line: Told) => console.log(JSON.stringify(line)) : printer();
    let count = 0;
    const tell = (line: Told) => {
      count++;
      print(line);
    };
    if (values.log !== undefined) await tellFromLog(values.log, { names: nameCaller(phone, env), since, tell });
    if (values.url !== undefined || values.log === undefined) {
      const url = values.url ?? `http://127.0.0.1:${env.PORT?.trim() || '3000'}`;
      await tellFromServer(url, { phone, env, since, tell });
    }
    if (count === 0)
      console.error(`Nothing is known of ${phone}${since ? ` since ${new Date(since).toISOString()}` : ''}.`);
    return count === 0 ? 1 : 0;
  },
};

/** Something that is told of the caller: a line of the log, or what a server knows. */
type Told =
  | { readonly from: 'log'; readonly line: LogLine }
  | { readonly from: 'server'; readonly living: SessionMessage }
  | { readonly from: 'server'; readonly failed: TroubledSession };

interface Telling {
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly tell: (line: Told) => void;
}

const UNITS: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function readSince(text: string, now: number): number {
  const [, number, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const at = number === undefined ? Date.parse(text) : now - Number(number) * UNITS[unit]!;
  if (Number.isNaN(at)) throw new UsageError(`--since "${text}" is no time. Say 30m, 2h, 7d, or 2026-11-28T09:00Z.`);
  return at;
}

// What the log calls the number, under each key.
function nameCaller(phone: string, env: NodeJS.ProcessEnv): ReadonlySet<string> {
  const { config, problems } = readConfig(env);
  if (!config) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
  return new Set(
    pinVault(config)
      .aliases(phone)
      .map(([, alias]) => alias),
  );
}

/** Sessions and requests of one caller that are remembered while a log is read. */
const NAMES_KEPT = 10_000;

async function tellFromLog(
  file: string,
  { names, since, tell }: Telling & { readonly names: ReadonlySet<string> },
): Promise<void> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  const failed = new Promise<never>((_, reject) => {
    input.once('error', (error: unknown) => {
      reject(new TwinlineError('ERR_INPUT', `The log ${file} cannot be read (${readErrorCode(error)}).`));
    });
  });
  // Lines about failures name the session, or the request, of a turn of this caller.
  const known = new Set<unknown>();
  const isOfCaller = ({ caller, session, requestId }: LogLine): boolean => {
    const isTheirs = names.has(caller as string);
    if (isTheirs && known.size < NAMES_KEPT) for (const name of [session, requestId]) if (name) known.add(name);
    return isTheirs || known.has(session) || known.has(requestId);
  };
  const read = async () => {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const line = readLine(text);
      if (line && line.time >= since && isOfCaller(line) && isTold(line)) tell({ from: 'log', line });
    }
  };
  await Promise.race([read(), failed]);
}

// A log has lines of other programs, too.
function readLine(text: string): LogLine | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const line = JSON.parse(text) as Partial<LogLine>;
    return typeof line.time === 'number' && typeof line.level === 'number' ? (line as LogLine) : undefined;
  } catch {
    return undefined;
  }
}

async function tellFromServer(
  url: string,
  { phone, env, since, tell }: Telling & { readonly phone: string; readonly env: NodeJS.ProcessEnv },
): Promise<void> {
  // In development, a server accepts local requests without a token.
  const server = remote({ url, key: readOperatorToken(env) ?? 'none' }, env);
  const body = Buffer.from(JSON.stringify({ number: phone }));
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
  const answer = await server.send('/inspector/callers', { method: 'POST', headers, body });
  const known = JSON.parse(await readText(answer)) as {
    readonly sessions: readonly { readonly twinline: SessionMessage }[];
    readonly trouble: readonly TroubledSession[];
    readonly searched: number;
    readonly isCut: boolean;
  };
  for (const failed of known.trouble) if (failed.at >= since) tell({ from: 'server', failed });
  for (const { twinline: living } of known.sessions) tell({ from: 'server', living });
  if (known.isCut) console.error(`Only the first ${formatCount(known.searched, 'living session')} were looked at.`);
}

// Lines for people: a heading where another session goes on.
function printer(): (told: Told) => void {
  let last: unknown;
  const head = (session: unknown, words = '') => {
    if (session === undefined || session === last) return;
    last = session;
    console.log(`session ${session}${words}`);
  };
  return (told) => {
    if ('line' in told) {
      head(told.line.session, told.line.dialect === undefined ? '' : ` (${told.line.dialect})`);
      console.log(`  ${formatLine(told.line)}`);
    } else if ('failed' in told) {
      const { session, at, reason, turns } = told.failed;
      head(session, `, failed at ${formatTime(at)}: ${reason}`);
      for (const turn of turns) console.log(`  ${formatLine({ level: 30, time: turn.at, ...turn })}`);
    } else {
      const { actor, machine, version, state, reply = '' } = told.living;
      head(actor);
      console.log(`  lives, at ${machine}@${version} ${state}. The last reply, private values as *:`);
      for (const line of reply.split('\n')) console.log(`  | ${line}`);
    }
  };
}

const formatTime = (ms: number) => new Date(ms).toISOString().replace('T', ' ').slice(0, 19);

function formatLine({ time, level, msg, turn, from, to, outcome, reason, requestId, service, err }: LogLine): string {
  const way = turn
    ? `${turn} ${from ?? 'dial'} → ${to}${outcome === 'end' ? ', end' : ''}`
    : (msg ?? 'a turn was not taken');
  const { code, message } = (err ?? {}) as { readonly code?: string; readonly message?: string };
  const why = [service, reason, code, message].filter((part) => part !== undefined && part !== null);
  const mark = level >= 40 ? '! ' : '';
  return [`${formatTime(time)}  ${mark}${way}`, why.join(' '), requestId ?? '']
    .filter((part) => part !== '')
    .join('  ');
}
