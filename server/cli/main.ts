#!/usr/bin/env node
// The command `twinline`: its exit codes are 0 well, 1 findings, 2 usage, 78 configuration.

import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pc from 'picocolors';
import { TwinlineError } from '../../lib/errors.ts';
import { suggest } from '../../lib/flow/expression/suggest.ts';
import { versionOf } from '../config/version.ts';
import { EXIT_CONFIG, isConfigError } from '../http/errors.ts';
import { withEnvFile } from './env-file.ts';
import { helpOf, overview, parseProblem } from './help.ts';
import { Usage, type Verb } from './verb.ts';
import { VERBS } from './verbs.ts';

/** Runs the command with its arguments; the exit code, or undefined while a server runs on. */
export async function twinline(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number | undefined> {
  const [name = '', ...rest] = args;
  if (name === '--version' || name === '-v') return say(versionOf());
  if (name === '') return complain(overview(VERBS));
  if (name === '--help' || name === '-h' || name === 'help') {
    const [asked] = rest;
    if (asked === undefined) return say(overview(VERBS));
    const verb = verbOf(asked);
    return verb ? say(helpOf(asked, verb)) : complain(unknown(asked));
  }
  const verb = verbOf(name);
  if (!verb) return complain(unknown(name));
  if (rest.includes('--help') || rest.includes('-h')) return say(helpOf(name, verb));
  try {
    const given = withEnvFile(rest, env);
    return await verb.run(given.args, given.env, { envFiles: given.files });
  } catch (error) {
    if (error instanceof Usage) return complain(`${error.message}\n\n${helpOf(name, verb)}`);
    if (isParseError(error)) return complain(`${parseProblem(error, verb)}\n\n${helpOf(name, verb)}`);
    if (!(error instanceof TwinlineError)) throw error;
    console.error(pc.red(error.message));
    return isConfigError(error) ? EXIT_CONFIG : 1;
  }
}

function verbOf(name: string): Verb | undefined {
  return Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
}

function unknown(name: string): string {
  return `twinline: there is no "${name}".${suggest(name, Object.keys(VERBS))}\n\n${overview(VERBS)}`;
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

const isCommand = process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isCommand) {
  const code = await twinline(process.argv.slice(2), process.env);
  if (code !== undefined) process.exitCode = code;
}
