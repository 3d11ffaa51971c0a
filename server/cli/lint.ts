// `twinline lint [folder]`: what is wrong with the menus, with line, column and what would fix it.

import pc from 'picocolors';
import { loadFlows } from '../../lib/flow/load.ts';
import { type Problem, problemLine } from '../../lib/flow/problem.ts';

/** Prints the problems; 0 when there are no errors, else 1. */
export async function lint({ folder, json }: { folder: string; json: boolean }): Promise<0 | 1> {
  const { problems, files } = await loadFlows(folder);
  const errors = problems.filter((problem) => problem.severity === 'error').length;
  if (json) console.log(JSON.stringify(problems, null, 2));
  else {
    for (const problem of problems) console.log(drawn(problem));
    const warnings = problems.length - errors;
    console.log(`${files.length} ${files.length === 1 ? 'flow' : 'flows'}, ${errors} errors, ${warnings} warnings`);
  }
  return errors ? 1 : 0;
}

function drawn(problem: Problem): string {
  const line = problemLine(problem);
  return problem.severity === 'error' ? pc.red(line) : pc.yellow(line);
}
