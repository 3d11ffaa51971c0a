// The type of a command, help texts, and suggestions for misspelt flags.

import { suggest } from '../../lib/flow/expression/suggest.ts';

/** A command with its line in the help. */
export type LoadedVerb = Verb & { readonly summary: string };

export interface Verb {
  /** Arguments, for help. */
  readonly usage: string;
  /** Flags and what they do. */
  readonly options: Readonly<Record<string, string>>;
  /** Returns the exit code, or undefined if the process keeps running. Throws {@link UsageError}, TwinlineError and errors of parseArgs. */
  run(args: readonly string[], env: NodeJS.ProcessEnv, invoked?: Invoked): Promise<number | undefined>;
}

/** How a command was invoked, besides its arguments. */
export interface Invoked {
  /** Env files that were read. */
  readonly envFiles?: readonly string[];
}

/** Thrown for invalid combinations of arguments; printed with the help of the command. */
export class UsageError extends Error {
  override readonly name = 'UsageError' as const;
}

/** The default folder of menus. */
export function findMenusDir(env: NodeJS.ProcessEnv): string {
  return env.MENUS_DIR?.trim() || './menus';
}

const FLAG_COLUMN_MAX = 34;

/** Help: one line per command. */
export function formatOverview(verbs: Readonly<Record<string, { readonly summary: string }>>): string {
  const width = Math.max(...Object.keys(verbs).map((name) => name.length));
  const lines = Object.entries(verbs).map(([name, { summary }]) => `  ${name.padEnd(width)} ${summary}`);
  const more = [
    'twinline <verb> --help tells more.',
    'Variables that are not set are read from .env, or from --env-file <file>.',
  ];
  return ['Usage: twinline <verb> [options]', '', ...lines, '', ...more].join('\n');
}

/** Help for one command, with its options. */
export function formatHelp(name: string, { usage, summary, options }: Verb & { readonly summary: string }): string {
  const flags = Object.keys(options).map((flag) => flag.length);
  const width = Math.max(0, ...flags.filter((length) => length <= FLAG_COLUMN_MAX));
  const lines = Object.entries(options).map(([flag, words]) => `  ${flag.padEnd(width)} ${words}`);
  return [
    `Usage: twinline ${name} ${usage}`.trimEnd(),
    '',
    `  ${summary}`,
    ...(lines.length ? ['', ...lines] : []),
  ].join('\n');
}

/** The flags of a command: `--json` for `'--json'`, `--url` for `'--url <address>'`. */
export function listFlags({ options }: Verb): string[] {
  return Object.keys(options).flatMap((words) => (words.startsWith('--') ? [words.split(/[ =]/)[0]!] : []));
}

/** The error message of parseArgs, with the most similar flag of the command. */
export function describeParseError(error: Error, verb: Verb): string {
  const [output = ''] = error.message.split(/\. (?=To specify)/);
  const unknown = /^Unknown option '(--[^']+)'/.exec(output)?.[1];
  return unknown === undefined ? output : `There is no ${unknown} here.${suggest(unknown, listFlags(verb))}`;
}
