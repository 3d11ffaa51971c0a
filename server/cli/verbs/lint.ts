// `twinline lint`: what is wrong with the menus, with line, column and what would fix it.

import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { PROBLEM_CODES, type Problem, problemLine } from '../../../lib/flow/format/problem.ts';
import { versionOf } from '../../config/version.ts';
import { readMenus } from '../../menus/menus.ts';
import { serviceNames } from '../../menus/services.ts';
import { sarifOf } from '../output/sarif.ts';
import { Usage, type Verb } from '../verb.ts';

const OPTIONS = { json: { type: 'boolean' }, sarif: { type: 'boolean' }, codes: { type: 'boolean' } } as const;
const CODE_COLUMN = 22;

export const lintVerb: Verb = {
  summary: 'Check the menus: 0 without errors, 1 with',
  usage: '[folder or file] [options]',
  options: {
    '--json': 'the problems as JSON',
    '--sarif': 'the problems as SARIF 2.1.0, for code hosts and editors',
    '--codes': 'every code and what it means, and nothing else',
    '(default)': 'the folder MENUS_DIR, else ./menus',
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    if (values.codes) return told([...PROBLEM_CODES].map(([code, means]) => `${code.padEnd(CODE_COLUMN)} ${means}`));
    if (values.json && values.sarif) throw new Usage('Choose --json or --sarif.');
    const { folder, file } = placeOf(positionals, env);
    const { failures, ...menus } = await readMenus({ folder, services: await serviceNames(env) });
    const problems = menus.problems.filter((problem) => file === undefined || problem.file === file);
    const form = values.json ? 'json' : values.sarif ? 'sarif' : 'words';
    const flows = file === undefined ? menus.files.length : 1;
    told(FORMS[form]({ problems, failures, flows }));
    for (const failure of failures) console.error(pc.red(failure));
    return failures.length || problems.some(isError) ? 1 : 0;
  },
};

interface Found {
  readonly problems: readonly Problem[];
  readonly failures: readonly string[];
  /** How many were looked at. */
  readonly flows: number;
}

const FORMS: { readonly [form in 'words' | 'json' | 'sarif']: (found: Found) => string[] } = {
  words: ({ problems, failures, flows }) => {
    const errors = problems.filter(isError).length + failures.length;
    const warnings = problems.length + failures.length - errors;
    return [
      ...problems.map(drawn),
      `${count(flows, 'flow')}, ${count(errors, 'error')}, ${count(warnings, 'warning')}`,
    ];
  },
  json: ({ problems }) => [JSON.stringify(problems, null, 2)],
  sarif: ({ problems, failures }) => [
    JSON.stringify(sarifOf(problems, { version: versionOf(), folder: process.cwd(), failures }), null, 2),
  ],
};

function told(lines: readonly string[]): 0 {
  for (const line of lines) console.log(line);
  return 0;
}

const isError = ({ severity }: Problem) => severity === 'error';

/** The folder to look at, and the one file in it that is meant, if only one is. Throws {@link Usage}. */
export function placeOf(positionals: readonly string[], env: NodeJS.ProcessEnv): { folder: string; file?: string } {
  if (positionals.length > 1) throw new Usage('Only one folder or file can be given.');
  const place = positionals[0] ?? (env.MENUS_DIR?.trim() || './menus');
  const stats = statSync(place, { throwIfNoEntry: false });
  if (!stats) throw new Usage(`There is no ${place}.`);
  if (stats.isDirectory()) return { folder: place };
  const name = place.replace(/\.test\.json$/, '.flow.json');
  return { folder: dirname(resolve(name)), file: join(dirname(resolve(name)), name.split('/').at(-1)!) };
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

function drawn(problem: Problem): string {
  const line = problemLine(problem);
  return problem.severity === 'error' ? pc.red(line) : pc.yellow(line);
}
