// The type of a verb of the command line, and its help: all verbs, one verb, and the flag that a misspelt one is near to.

import { suggest } from '../../lib/flow/expression/suggest.ts';

/** A verb with what help says of it in its list. */
export type LoadedVerb = Verb & { readonly summary: string };

export interface Verb {
  /** What follows the verb. */
  readonly usage: string;
  /** Flags and what they do. */
  readonly options: Readonly<Record<string, string>>;
  /** The exit code, or undefined when the process runs on. Throws {@link UsageError}, TwinlineError and what parseArgs does. */
  run(args: readonly string[], env: NodeJS.ProcessEnv, invoked?: Invoked): Promise<number | undefined>;
}

/** How a verb was invoked, beside its arguments. */
export interface Invoked {
  /** Files that variables of the environment were read from. */
  readonly envFiles?: readonly string[];
}

/** Thrown for arguments that make no sense together; the help of the verb is shown with it. */
export class UsageError extends Error {
  override readonly name = 'UsageError' as const;
}

/** The folder of menus where none is named. */
export function findMenusDir(env: NodeJS.ProcessEnv): string {
  return env.MENUS_DIR?.trim() || './menus';
}

const FLAG_COLUMN_MAX = 34;

/** Every verb in one line. */
export function formatOverview(verbs: Readonly<Record<string, { readonly summary: string }>>): string {
  const width = Math.max(...Object.keys(verbs).map((name) => name.length));
  const lines = Object.entries(verbs).map(([name, { summary }]) => `  ${name.padEnd(width)} ${summary}`);
  const more = [
    'twinline <verb> --help tells more.',
    'Variables that are not set are read from .env, or from --env-file <file>.',
  ];
  return ['Usage: twinline <verb> [options]', '', ...lines, '', ...more].join('\n');
}

/** One verb with its options. */
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

/** The flags of a verb: `--json` for `'--json'`, `--url` for `'--url <address>'`. */
export function listFlags({ options }: Verb): string[] {
  return Object.keys(options).flatMap((words) => (words.startsWith('--') ? [words.split(/[ =]/)[0]!] : []));
}

/** The message of parseArgs about arguments that it cannot read, with the nearest flag of the verb. */
export function describeParseError(error: Error, verb: Verb): string {
  const [output = ''] = error.message.split(/\. (?=To specify)/);
  const unknown = /^Unknown option '(--[^']+)'/.exec(output)?.[1];
  return unknown === undefined ? output : `There is no ${unknown} here.${suggest(unknown, listFlags(verb))}`;
}
