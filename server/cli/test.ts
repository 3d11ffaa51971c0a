// `twinline test [folder]`: the tests beside the flows, and how much of each flow they go through.

import pc from 'picocolors';
import { coverageLine } from '../../lib/flow/coverage.ts';
import { problemLine } from '../../lib/flow/problem.ts';
import { type FlowTestReport, failureText } from '../../lib/flow/test-run.ts';
import { checkMenus } from '../menus.ts';

/** Prints every test; 0 when all pass and there was at least one, else 1. */
export async function testMenus({ folder }: { folder: string }): Promise<0 | 1> {
  const { problems, reports, untested } = await checkMenus({ folder });
  const errors = problems.filter((problem) => problem.severity === 'error');
  for (const problem of errors) console.log(pc.red(problemLine(problem)));
  for (const report of reports) console.log(drawn(report));
  for (const flow of untested) console.log(pc.yellow(`${flow}: no ${flow}.test.json beside it`));
  const tests = reports.flatMap((report) => report.tests);
  const failed = tests.filter((test) => test.failures.length).length;
  console.log(`${tests.length - failed} passed, ${failed} failed`);
  return failed || errors.length || !tests.length ? 1 : 0;
}

function drawn(report: FlowTestReport): string {
  const lines = report.tests.flatMap(({ name, failures }) =>
    failures.length
      ? [pc.red(`  ✘ ${name}`), ...failures.map((failure) => indented(failureText(failure)))]
      : [pc.green(`  ✓ ${name}`)],
  );
  return [pc.bold(report.flow), ...lines, pc.dim(indented(coverageLine(report), '  '))].join('\n');
}

function indented(text: string, by = '      '): string {
  return text
    .split('\n')
    .map((line) => by + line)
    .join('\n');
}
