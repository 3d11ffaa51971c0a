// How the runner words what it saw: one line per file, every failure with its reason, the last line.

import { inspect, stripVTControlCharacters } from 'node:util';
import colors from 'picocolors';

export interface Failure {
  /** Which test, hook or file. */
  readonly where: string;
  readonly reason: string;
}

/** What one test file came to. */
export interface FileReport {
  readonly file: string;
  passed: number;
  failed: number;
  readonly failures: Failure[];
  readonly skips: Failure[];
  ms: number;
  /** A test of it still runs, in a process that nobody should use any more. */
  hangs: boolean;
}

export function newReport(file: string): FileReport {
  return { file, passed: 0, failed: 0, failures: [], skips: [], ms: 0, hangs: false };
}

/** Counts and keeps one failure. */
export function fail(report: FileReport, where: string, reason: string): void {
  report.failed += 1;
  report.failures.push({ where, reason });
}

export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const HERE = `${process.cwd()}/`;

/** Words for anything that can be thrown: an assertion with its difference, an error with its cause, or the raw value. */
export function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `${inspect(thrown)} (not an Error, so nobody knows from where)`;
  if (!isAssertion(thrown)) return tidyStack(inspect(thrown));
  const how = thrown.operator ? ` (${thrown.operator})` : '';
  const difference = thrown.details ? `${thrown.details.trimEnd()}\n` : '';
  return `${thrown.message}${how}\n${difference}${tidyStack(stackOf(thrown))}`;
}

/** One line: mark, file, counts, time; below it every failure and every skip with its reason. */
export function fileLines(report: FileReport): string {
  const mark = report.failed ? colors.red('✘') : report.passed ? colors.green('✓') : colors.yellow('-');
  const counts = words({ passed: report.passed, failed: report.failed, skipped: report.skips.length });
  const lines = [`${mark} ${report.file}  ${counts}  ${colors.dim(span(report.ms))}`];
  for (const { where, reason } of report.failures) lines.push(indent(`${colors.red('✘')} ${where}\n${reason}`));
  for (const { where, reason } of report.skips) lines.push(`    - ${where}: skipped, ${reason}`);
  return lines.join('\n');
}

/** Every failure of a run with its file, its reason and the command that repeats it, or nothing when nothing failed. */
export function failureLines(reports: readonly FileReport[], options: string): string {
  return reports
    .flatMap(({ file, failures }) =>
      failures.map(({ where, reason }) => {
        const again = file.endsWith('.ts') ? `\nrepeat it: npm test -- ${file}${options}` : '';
        return indent(`${colors.red('✘')} failed: ${file}: ${where}\n${reason}${again}`).trimStart();
      }),
    )
    .join('\n');
}

/** `N passed, N failed`, and `, N skipped` only when there are any. */
export function lastLine(totals: Totals): string {
  return `${totals.passed} passed, ${totals.failed} failed${totals.skipped ? `, ${totals.skipped} skipped` : ''}`;
}

/** Milliseconds for people. */
export function span(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function words({ passed, failed, skipped }: Totals): string {
  const parts = [`${passed} passed`];
  if (failed) parts.push(colors.red(`${failed} failed`));
  if (skipped) parts.push(colors.yellow(`${skipped} skipped`));
  return parts.join(', ');
}

// The errors of uvu/assert; its class is not among its types.
function isAssertion(error: Error): error is Error & { details: string | false; operator?: string } {
  return error.name === 'Assertion' && 'details' in error;
}

function stackOf(error: Error): string {
  return (error.stack ?? '')
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .join('\n');
}

// Frames of Node, of uvu and of this runner say nothing about the test.
function tidyStack(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^\s+at .*(node:|\/uvu\/|test\/support\/(file|suites)\.ts|test\/run\.ts)/.test(plain(line)))
    .map((line) => line.replaceAll('file://', '').replaceAll(HERE, ''))
    .join('\n')
    .trimEnd();
}

function plain(line: string): string {
  return stripVTControlCharacters(line);
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line, at) => `${at ? '      ' : '    '}${line}`)
    .join('\n');
}
