// `twinline lint`: what is wrong with the menus, with line, column and what would fix it.

import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { type Problem, problemLine } from '../../../lib/flow/problem.ts';
import { readMenus } from '../../menus.ts';
import { serviceNames } from '../../services.ts';
import { Usage, type Verb } from '../verb.ts';

export const lintVerb: Verb = {
  summary: 'Check the menus: 0 without errors, 1 with',
  usage: '[folder or file] [options]',
  options: { '--json': 'the problems as JSON', '(default)': 'the folder MENUS_DIR, else ./menus' },
  run: async (args, env) => {
    const options = { json: { type: 'boolean' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const { folder, file } = placeOf(positionals, env);
    const menus = await readMenus({ folder, services: await serviceNames(env) });
    const problems = menus.problems.filter((problem) => file === undefined || problem.file === file);
    if (values.json) console.log(JSON.stringify(problems, null, 2));
    else for (const problem of problems) console.log(drawn(problem));
    for (const failure of menus.failures) console.error(pc.red(failure));
    const errors = problems.filter((problem) => problem.severity === 'error').length + menus.failures.length;
    const flows = file === undefined ? menus.files.length : 1;
    const warnings = problems.length + menus.failures.length - errors;
    if (!values.json) console.log(`${count(flows, 'flow')}, ${count(errors, 'error')}, ${count(warnings, 'warning')}`);
    return errors ? 1 : 0;
  },
};

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
