#!/usr/bin/env node
// The `twinline` command. Exit codes: 0 success, 1 problems found, 2 usage error, 78 configuration error.

import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import pc from 'picocolors';
import { TwinlineError } from '../../lib/errors.ts';
import { suggest } from '../../lib/flow/expression/suggest.ts';
import { readVersion } from '../config/modules.ts';
import { EXIT_CONFIG, isConfigError } from '../http/errors.ts';
import { describeParseError, formatHelp, formatOverview, UsageError } from './verb.ts';
import { findVerb, VERBS } from './verbs.ts';

/** Runs the command. Returns the exit code, or undefined if a server keeps running. */
export async function twinline(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number | undefined> {
  const [name = '', ...rest] = args;
  if (name === '--version' || name === '-v') return print(readVersion());
  if (name === '') return printUsage(formatOverview(VERBS));
  if (name === '--help' || name === '-h' || name === 'help') {
    const [asked] = rest;
    if (asked === undefined) return print(formatOverview(VERBS));
    const verb = await findVerb(asked);
    return verb ? print(formatHelp(asked, verb)) : printUsage(describeUnknown(asked));
  }
  const verb = await findVerb(name);
  if (!verb) return printUsage(describeUnknown(name));
  if (rest.includes('--help') || rest.includes('-h')) return print(formatHelp(name, verb));
  let names = env;
  try {
    const settings = readEnvFiles(rest, env);
    if (settings.found.length && (name === 'start' || process.stderr.isTTY))
      console.error(pc.dim(`Settings from ${USUAL_ENV_FILE}: ${settings.found.join(', ')}`));
    names = settings.env;
    return await verb.run(settings.args, settings.env, { envFiles: settings.files });
  } catch (error) {
    if (error instanceof UsageError) return printUsage(`${error.message}\n\n${formatHelp(name, verb)}`);
    if (isParseError(error)) return printUsage(`${describeParseError(error, verb)}\n\n${formatHelp(name, verb)}`);
    if (!(error instanceof TwinlineError)) throw error;
    const { environmentRedactor } = await import('../config/secrets.ts');
    console.error(pc.red(environmentRedactor(names).text(error.message)));
    return isConfigError(error) ? EXIT_CONFIG : 1;
  }
}

function describeUnknown(name: string): string {
  return `twinline: there is no "${name}".${suggest(name, Object.keys(VERBS))}\n\n${formatOverview(VERBS)}`;
}

function print(text: string): number {
  console.log(text);
  return 0;
}

function printUsage(text: string): number {
  console.error(text);
  return 2;
}

// The error of node:util for an unknown option.
function isParseError(error: unknown): error is Error {
  return error instanceof Error && /^ERR_PARSE_ARGS_/.test((error as NodeJS.ErrnoException).code ?? '');
}

// All commands accept --env-file. Variables of the environment take precedence. By default .env is read if it exists; an empty name
// disables it.
const ENV_FILE = '--env-file';
const USUAL_ENV_FILE = '.env';

export interface Invocation {
  /** The remaining arguments. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The files that were read. */
  readonly files: readonly string[];
  /** Names of variables from the default file. */
  readonly found: readonly string[];
}

/** Reads the env files in the arguments; the first file that sets a variable wins. Throws {@link UsageError}. */
function readEnvFiles(args: readonly string[], env: NodeJS.ProcessEnv): Invocation {
  const files: string[] = [];
  const rest: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (arg.startsWith(`${ENV_FILE}=`)) files.push(arg.slice(ENV_FILE.length + 1));
    else if (arg === ENV_FILE) files.push(args[++at] ?? '');
    else rest.push(arg);
  }
  const isUsual = files.length === 0 && existsSync(USUAL_ENV_FILE);
  const named = isUsual ? [USUAL_ENV_FILE] : files.filter((file) => file !== '');
  const read = named.map((file) => readVariables(file));
  const unset = isUsual ? Object.keys(read[0]!).filter((name) => env[name] === undefined) : [];
  return {
    args: rest,
    env: Object.assign({}, ...read.reverse(), env) as NodeJS.ProcessEnv,
    files: named,
    found: unset,
  };
}

function readVariables(file: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`Cannot read the environment file "${file}" (${(error as NodeJS.ErrnoException).code}).`);
  }
}

const isCommand = process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isCommand) {
  const code = await twinline(process.argv.slice(2), process.env);
  if (code !== undefined) process.exitCode = code;
}
