#!/usr/bin/env node
// The command `twinline`: its verbs, their help, and its exit codes: 0 well, 1 findings, 2 usage, 78 configuration.

import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import pc from 'picocolors';
import { TwinlineError } from '../../lib/errors.ts';
import { suggest } from '../../lib/flow/suggest.ts';
import { EXIT_CONFIG, isConfigError } from '../errors.ts';
import { Usage, type Verb } from './verb.ts';
import { chatVerb } from './verbs/chat.ts';
import { configVerb } from './verbs/config.ts';
import { doctorVerb } from './verbs/doctor.ts';
import { exportVerb } from './verbs/export.ts';
import { importVerb } from './verbs/import.ts';
import { lintVerb } from './verbs/lint.ts';
import { startVerb } from './verbs/start.ts';
import { testVerb } from './verbs/test.ts';
import { tokenVerb } from './verbs/token.ts';

const VERBS: Readonly<Record<string, Verb>> = {
  start: startVerb,
  chat: chatVerb,
  lint: lintVerb,
  test: testVerb,
  config: configVerb,
  doctor: doctorVerb,
  import: importVerb,
  export: exportVerb,
  token: tokenVerb,
};

/** Runs the command with its arguments; the exit code, or undefined while a server runs on. */
export async function twinline(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number | undefined> {
  const [name = '', ...rest] = args;
  if (name === '--version' || name === '-v') return say(version());
  if (name === '' || name === '--help' || name === '-h' || name === 'help') {
    const asked = rest[0] !== undefined && Object.hasOwn(VERBS, rest[0]) ? VERBS[rest[0]] : undefined;
    if (asked) return say(helpOf(rest[0]!, asked));
    return name === '' ? complain(overview()) : say(overview());
  }
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (!verb) return complain(`twinline: there is no "${name}".${suggest(name, Object.keys(VERBS))}\n\n${overview()}`);
  if (rest.includes('--help') || rest.includes('-h')) return say(helpOf(name, verb));
  try {
    return await verb.run(rest, env);
  } catch (error) {
    if (error instanceof Usage || isParseError(error)) return complain(`${error.message}\n\n${helpOf(name, verb)}`);
    if (!(error instanceof TwinlineError)) throw error;
    console.error(pc.red(error.message));
    return isConfigError(error) ? EXIT_CONFIG : 1;
  }
}

function overview(): string {
  const lines = Object.entries(VERBS).map(([name, { summary }]) => `  ${name.padEnd(8)} ${summary}`);
  return ['Usage: twinline <verb> [options]', '', ...lines, '', 'twinline <verb> --help tells more.'].join('\n');
}

function helpOf(name: string, { usage, summary, options }: Verb): string {
  const lines = Object.entries(options).map(([flag, words]) => `  ${flag.padEnd(18)} ${words}`);
  return [
    `Usage: twinline ${name} ${usage}`.trimEnd(),
    '',
    `  ${summary}`,
    ...(lines.length ? ['', ...lines] : []),
  ].join('\n');
}

function say(text: string): number {
  console.log(text);
  return 0;
}

function complain(text: string): number {
  console.error(text);
  return 2;
}

// What node:util says about an option that it does not know.
function isParseError(error: unknown): error is Error {
  return error instanceof Error && /^ERR_PARSE_ARGS_/.test((error as NodeJS.ErrnoException).code ?? '');
}

/** From package.json, which is one folder further away once this is built. */
function version(): string {
  const require = createRequire(import.meta.url);
  for (const path of ['../../package.json', '../../../package.json'])
    try {
      return (require(path) as { version: string }).version;
    } catch {}
  return 'unknown';
}

const isCommand = process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isCommand) {
  const code = await twinline(process.argv.slice(2), process.env);
  if (code !== undefined) process.exitCode = code;
}
