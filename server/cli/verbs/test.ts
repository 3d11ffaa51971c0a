// `twinline test`: the tests beside the flows, and how much of each flow they go through.

import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { problemLine } from '../../../lib/flow/format/problem.ts';
import { coverageLine } from '../../../lib/flow/testing/coverage.ts';
import { type FlowTestReport, failureText } from '../../../lib/flow/testing/run.ts';
import { type CheckedMenus, checkMenus } from '../../menus/check.ts';
import { flowNameOf } from '../../menus/menus.ts';
import { belowThreshold, coverageTable } from '../output/coverage-table.ts';
import { Usage, type Verb } from '../verb.ts';
import { placeOf } from './lint.ts';

const OPTIONS = {
  filter: { type: 'string' },
  update: { type: 'boolean' },
  coverage: { type: 'boolean' },
  threshold: { type: 'string' },
  watch: { type: 'boolean' },
} as const;

export const testVerb: Verb = {
  summary: 'Run the tests beside the flows: 0 when all pass and there is one, else 1',
  usage: '[folder or file] [options]',
  options: {
    '--filter <words>': 'only tests whose name has these words',
    '--update': 'write what is shown now into the expectations that differ; look at what it changed',
    '--coverage': 'a table of the screens, options and ways that tests go through',
    '--threshold <n>': 'fail below n percent of any of them; shows the table',
    '--watch': 'again after every edit, until Ctrl-C',
    '(default)': 'the folder MENUS_DIR, else ./menus',
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const asked = askedOf(values);
    const { folder, file } = placeOf(positionals, env);
    const only = file === undefined ? undefined : flowNameOf(file);
    const once = () => tested(folder, { ...asked, only });
    if (!values.watch) return once();
    const { onEdits } = await import('../edits.ts');
    await once();
    await onEdits([folder], once);
    return undefined;
  },
};

interface Asked {
  readonly filter: string | undefined;
  readonly update: boolean;
  readonly coverage: boolean;
  /** Percent. */
  readonly threshold: number | undefined;
}

function askedOf({ filter, update = false, coverage = false, threshold: text, watch }: Values): Asked {
  const threshold = text === undefined ? undefined : Number(text);
  if (threshold !== undefined && !(threshold >= 0 && threshold <= 100))
    throw new Usage(`--threshold ${text} is no percentage: write 0 to 100.`);
  const covers = coverage || threshold !== undefined;
  if (filter !== undefined && covers) throw new Usage('Some of the tests cover some of the flow: leave --filter out.');
  if (update && watch) throw new Usage('Choose --update or --watch: an update is looked at once.');
  return { filter, update, coverage: covers, threshold };
}

type Values = { readonly [name in 'filter' | 'threshold']?: string } & {
  readonly [name in 'update' | 'coverage' | 'watch']?: boolean;
};

async function tested(folder: string, asked: Asked & { readonly only: string | undefined }): Promise<0 | 1> {
  const { only, filter, update, threshold } = asked;
  const checked = await checkMenus(
    { folder },
    {
      flow: only === undefined ? undefined : (name) => name === only,
      test: filter === undefined ? undefined : ({ name }) => name.toLowerCase().includes(filter.toLowerCase()),
      update,
    },
  );
  const errors = [
    ...checked.problems.filter(({ severity }) => severity === 'error').map(problemLine),
    ...checked.failures,
  ];
  const below = threshold === undefined ? [] : belowThreshold(checked.reports, threshold);
  for (const error of errors) console.log(pc.red(error));
  for (const line of reported(checked, asked)) console.log(line);
  for (const line of below) console.log(pc.red(line));
  if (update) console.log(`${checked.updated} expectations written`);
  const tests = checked.reports.flatMap((report) => report.tests);
  const failed = tests.filter((test) => test.failures.length > 0).length;
  console.log(`${tests.length - failed} passed, ${failed} failed`);
  return failed || errors.length || below.length || !tests.length ? 1 : 0;
}

function reported({ reports, untested }: CheckedMenus, { filter, coverage }: Asked): string[] {
  const shown = reports.filter(({ tests }) => filter === undefined || tests.length > 0);
  return [
    ...shown.map((report) => [...drawn(report), ...(filter === undefined && !coverage ? [covered(report)] : [])]),
    untested.map((flow) => pc.yellow(`${flow}: no ${flow}.test.json beside it`)),
    coverage && reports.length ? ['', ...coverageTable(reports), ''] : [],
  ].flat();
}

function drawn(report: FlowTestReport): string[] {
  const lines = report.tests.flatMap(({ name, failures }) =>
    failures.length
      ? [pc.red(`  ✘ ${name}`), ...failures.map((failure) => indented(failureText(failure)))]
      : [pc.green(`  ✓ ${name}`)],
  );
  return [pc.bold(report.flow), ...lines];
}

const covered = (report: FlowTestReport) => pc.dim(indented(coverageLine(report), '  '));

function indented(text: string, by = '      '): string {
  return text
    .split('\n')
    .map((line) => by + line)
    .join('\n');
}
