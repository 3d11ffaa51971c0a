// What the command line says about itself: all verbs, one verb, and what may have been meant by a flag that is none.

import { suggest } from '../../lib/flow/suggest.ts';
import type { Verb } from './verb.ts';

const FLAG_COLUMN = 18;

/** Every verb in one line. */
export function overview(verbs: Readonly<Record<string, Verb>>): string {
  const width = Math.max(...Object.keys(verbs).map((name) => name.length));
  const lines = Object.entries(verbs).map(([name, { summary }]) => `  ${name.padEnd(width)} ${summary}`);
  return ['Usage: twinline <verb> [options]', '', ...lines, '', 'twinline <verb> --help tells more.'].join('\n');
}

/** One verb with its options; what is too wide for its column has a line of its own. */
export function helpOf(name: string, { usage, summary, options }: Verb): string {
  const lines = Object.entries(options).map(([flag, words]) =>
    flag.length > FLAG_COLUMN
      ? `  ${flag}\n  ${' '.repeat(FLAG_COLUMN)} ${words}`
      : `  ${flag.padEnd(FLAG_COLUMN)} ${words}`,
  );
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
