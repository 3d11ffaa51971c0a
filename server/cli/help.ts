// What the command line says about itself: all verbs, one verb, and what may have been meant by a flag that is none.

import { suggest } from '../../lib/flow/expression/suggest.ts';
import type { Verb } from './verb.ts';

const FLAG_COLUMN_MAX = 34;

/** Every verb in one line. */
export function overview(verbs: Readonly<Record<string, Verb>>): string {
  const width = Math.max(...Object.keys(verbs).map((name) => name.length));
  const lines = Object.entries(verbs).map(([name, { summary }]) => `  ${name.padEnd(width)} ${summary}`);
  const more = [
    'twinline <verb> --help tells more.',
    'Every verb takes --env-file <file>, for variables that are not set.',
  ];
  return ['Usage: twinline <verb> [options]', '', ...lines, '', ...more].join('\n');
}

/** One verb with its options. */
export function helpOf(name: string, { usage, summary, options }: Verb): string {
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
export function flagsOf({ options }: Verb): string[] {
  return Object.keys(options).flatMap((words) => (words.startsWith('--') ? [words.split(/[ =]/)[0]!] : []));
}

/** What node:util says about arguments that it cannot read, with the flag that may have been meant. */
export function parseProblem(error: Error, verb: Verb): string {
  const [said = ''] = error.message.split(/\. (?=To specify)/);
  const unknown = /^Unknown option '(--[^']+)'/.exec(said)?.[1];
  return unknown === undefined ? said : `There is no ${unknown} here.${suggest(unknown, flagsOf(verb))}`;
}
