// `twinline test`: runs the tests of flows and reports their coverage.

import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { type Coverage, type Covered, coverageLine } from '../../../lib/flow/testing/coverage.ts';
import { type FlowTestReport, failureText } from '../../../lib/flow/testing/run.ts';
import { type CheckedMenus, checkMenus } from '../../menus/check.ts';
import { cutFlowName, listRefused, type MenuFolder, readDoors } from '../../menus/menus.ts';
import { formatCount, formatTable } from '../terminal.ts';
import { UsageError, type Verb } from '../verb.ts';
import { readPlace } from './lint.ts';

const OPTIONS = {
  filter: { type: 'string' },
  update: { type: 'boolean' },
  coverage: { type: 'boolean' },
  threshold: { type: 'string' },
  watch: { type: 'boolean' },
} as const;

export const testVerb: Verb = {
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
    const options = readOptions(values);
    const { folder, file } = readPlace(positionals, env);
    const only = file === undefined ? undefined : cutFlowName(file);
    const runOnce = () => runTests({ folder, doors: readDoors(env, folder) }, { ...options, only });
    if (!values.watch) return runOnce();
    const { onEdits } = await import('../edits.ts');
    await runOnce();
    await onEdits([folder], runOnce);
    return undefined;
  },
};

interface TestOptions {
  readonly filter: string | undefined;
  readonly update: boolean;
  readonly coverage: boolean;
  /** Percent. */
  readonly threshold: number | undefined;
}

function readOptions({ filter, update = false, coverage = false, threshold: text, watch }: TestFlags): TestOptions {
  const threshold = text === undefined ? undefined : Number(text);
  if (threshold !== undefined && !(threshold >= 0 && threshold <= 100))
    throw new UsageError(`--threshold ${text} is no percentage: write 0 to 100.`);
  const covers = coverage || threshold !== undefined;
  if (filter !== undefined && covers)
    throw new UsageError('Some of the tests cover some of the flow: leave --filter out.');
  if (update && watch) throw new UsageError('Choose --update or --watch: an update is looked at once.');
  return { filter, update, coverage: covers, threshold };
}

type TestFlags = { readonly [name in 'filter' | 'threshold']?: string } & {
  readonly [name in 'update' | 'coverage' | 'watch']?: boolean;
};

async function runTests(
  folder: MenuFolder,
  options: TestOptions & { readonly only: string | undefined },
): Promise<0 | 1> {
  const { only, filter, update, threshold } = options;
  const checked = await checkMenus(folder, {
    flow: only === undefined ? undefined : (name) => name === only,
    test: filter === undefined ? undefined : ({ name }) => name.toLowerCase().includes(filter.toLowerCase()),
    update,
  });
  const errors = listRefused(checked);
  const below = threshold === undefined ? [] : findBelow(checked.reports, threshold);
  for (const error of errors) console.log(pc.red(error));
  for (const line of formatReports(checked, options)) console.log(line);
  for (const line of below) console.log(pc.red(line));
  if (update) console.log(`${formatCount(checked.updated, 'expectation')} written`);
  const tests = checked.reports.flatMap((report) => report.tests);
  const failed = tests.filter((test) => test.failures.length > 0).length;
  const { notRun } = checked;
  const left = notRun ? `, ${notRun} not run: their flow has errors` : '';
  console.log(`${tests.length - failed} passed, ${failed} failed${left}`);
  return failed || errors.length || below.length || !tests.length ? 1 : 0;
}

function formatReports({ reports, untested }: CheckedMenus, { filter, coverage }: TestOptions): string[] {
  const shown = reports.filter(({ tests }) => filter === undefined || tests.length > 0);
  return [
    ...shown.map((report) => [
      ...formatReport(report),
      ...(filter === undefined && !coverage && isPassed(report) ? [formatCoverage(report)] : []),
    ]),
    untested.map((flow) => pc.yellow(`${flow}: no ${flow}.test.json beside it`)),
    coverage && reports.length ? ['', ...formatCoverageTable(reports), ''] : [],
  ].flat();
}

// A failing test stops early, so missing coverage would be misleading.
const isPassed = ({ tests }: FlowTestReport) => tests.every(({ failures }) => failures.length === 0);

function formatReport(report: FlowTestReport): string[] {
  const lines = report.tests.flatMap(({ name, failures }) =>
    failures.length
      ? [pc.red(`  ✘ ${name}`), ...failures.map((failure) => indent(failureText(failure)))]
      : [pc.green(`  ✓ ${name}`)],
  );
  return [pc.bold(report.flow), ...lines];
}

const formatCoverage = (report: FlowTestReport) => pc.dim(indent(coverageLine(report), '  '));

function indent(text: string, by = '      '): string {
  return text
    .split('\n')
    .map((line) => by + line)
    .join('\n');
}

export interface CoveredFlow {
  readonly flow: string;
  readonly coverage: Coverage;
}

const KINDS = ['screens', 'options', 'ways'] as const;

/** A row for each flow, followed by what is not covered. */
export function formatCoverageTable(flows: readonly CoveredFlow[]): string[] {
  const rows = flows.map(({ flow, coverage }) => [flow, ...KINDS.map((kind) => formatShare(coverage[kind]))]);
  const missing = flows.flatMap(({ flow, coverage }) =>
    KINDS.filter((kind) => coverage[kind].missing.length > 0).map(
      (kind) => `${flow}: no test reaches ${kind} ${coverage[kind].missing.join(', ')}`,
    ),
  );
  return [...formatTable(['flow', ...KINDS], rows), ...missing];
}

/** Messages for flows whose coverage of any kind is below `percent`. */
export function findBelow(flows: readonly CoveredFlow[], percent: number): string[] {
  return flows.flatMap(({ flow, coverage }) =>
    KINDS.filter((kind) => toPercent(coverage[kind]) < percent).map(
      (kind) => `${flow}: ${formatShare(coverage[kind])} of ${kind}, and ${percent} % is asked for`,
    ),
  );
}

const toPercent = ({ seen, all }: Covered) => (all === 0 ? 100 : (100 * seen) / all);
const formatShare = (covered: Covered) =>
  covered.all === 0 ? '-' : `${covered.seen}/${covered.all} (${Math.floor(toPercent(covered))} %)`;
