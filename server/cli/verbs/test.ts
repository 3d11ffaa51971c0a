// `twinline test`: the tests beside the flows, and how much of each flow they go through.

import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { coverageLine } from '../../../lib/flow/coverage.ts';
import { problemLine } from '../../../lib/flow/problem.ts';
import { type FlowTestReport, failureText } from '../../../lib/flow/test-run.ts';
import { checkMenus, flowNameOf } from '../../menus.ts';
import type { Verb } from '../verb.ts';
import { placeOf } from './lint.ts';

export const testVerb: Verb = {
  summary: 'Run the tests beside the flows: 0 when all pass and there is one, else 1',
  usage: '[folder or file]',
  options: { '(default)': 'the folder MENUS_DIR, else ./menus' },
  run: async (args, env) => {
    const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
    const { folder, file } = placeOf(positionals, env);
    const only = file === undefined ? undefined : flowNameOf(file);
    const menus = await checkMenus({ folder });
    const isMeant = (flow: string) => only === undefined || flow === only;
    const reports = menus.reports.filter(({ flow }) => isMeant(flow));
    const errors = [
      ...menus.problems.filter(({ severity }) => severity === 'error').map(problemLine),
      ...menus.failures,
    ];
    for (const error of errors) console.log(pc.red(error));
    for (const report of reports) console.log(drawn(report));
    for (const flow of menus.untested.filter(isMeant))
      console.log(pc.yellow(`${flow}: no ${flow}.test.json beside it`));
    const tests = reports.flatMap((report) => report.tests);
    const failed = tests.filter((test) => test.failures.length > 0).length;
    console.log(`${tests.length - failed} passed, ${failed} failed`);
    return failed || errors.length || !tests.length ? 1 : 0;
  },
};

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
