// Runs every test/**/*.test.ts, all of them in several processes at a time, a few in this one, and turns every silent way to "pass" into a
// failure with a reason: uvu alone exits 0 when a hook throws, when `.run()` is forgotten and when `.only` is left.
//
//   npm test -- ussd flow/render    only the files whose path holds one of the words
//   --root <folder>                 where to look, default: this folder
//   --jobs <n>                      processes at a time, default: one for each core and two more, up to 6; 1 when words are given
//   --may-skip <words>              with CI=true: a test may be skipped when these words are in its reason; may be given again
//   --timeout <ms>                  for each suite that sets no timeoutMs, and for loading a file; default 120000

import { readdirSync, writeSync } from 'node:fs';
import { register } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { builtModules, builtPackage } from './support/build.ts';
import { doing, type Limits, runFile } from './support/file.ts';
import { type JobOptions, runInJobs, type Said } from './support/jobs.ts';
import {
  describe,
  type FileReport,
  fail,
  failureLines,
  fileLines,
  lastLine,
  newReport,
  type Totals,
} from './support/report.ts';

const TEST_FILE = /\.test\.ts$/;
const LOOKS_LIKE_A_TEST = /[.-](tests?|spec)\.[cm]?[jt]sx?$/;

/** Files that take most of a minute: begun last, they would leave the other processes without work. */
const LONG =
  /^(simulation\/|chaos\/|restart\/|guides\/|store\/(mongo|redis-logs)\.|delegation\/fuzz|package\/projects|server\/(faults\/|ussd\/exactly-once|ussd\/walks|domain\/kill|agent\/owner|boot\/process|cli\/templates|domain\/bulk-instances)\.)/;

/** A run of more files than this repeats its failures at the end. */
const REPEAT_FROM = 20;

/** Failures that belong to no single file. */
const whole = newReport('the run');
const reports: FileReport[] = [whole];
let current = whole;
let maySkip: readonly string[] = [];
let finished = false;
/** In one of several processes: the report of the current file was given. */
let isSaid = false;

try {
  await main();
} catch (thrown) {
  fail(whole, 'test/run.ts', describe(thrown));
}
finish();

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      root: { type: 'string', default: dirname(fileURLToPath(import.meta.url)) },
      timeout: { type: 'string', default: '120000' },
      jobs: { type: 'string' },
      job: { type: 'boolean' },
      'may-skip': { type: 'string', multiple: true, default: [] },
    },
  });
  maySkip = values['may-skip'];
  watchProcess();
  watchUvu();
  const limits = {
    root: resolve(values.root),
    timeoutMs: Number(values.timeout),
    lastLineIfStuck: () => lastLine({ ...totals(), failed: totals().failed + 1 }),
  };
  if (values.job) return takeFiles(limits);
  const files = choose(limits.root, positionals);
  const jobs = Number(values.jobs ?? (positionals.length ? 1 : Math.min(6, availableParallelism() + 2)));
  if (jobs > 1) {
    // Or two of them would build them at once.
    await Promise.all([builtPackage(), builtModules()]);
    return runInJobs(longestFirst(files), jobOptions(jobs, values));
  }
  for (const file of files) {
    current = newReport(file);
    reports.push(current);
    await runFile(current, limits);
    console.log(fileLines(current));
  }
}

function longestFirst(files: readonly string[]): string[] {
  return [...files.filter((file) => LONG.test(file)), ...files.filter((file) => !LONG.test(file))];
}

function jobOptions(count: number, { root, timeout }: { root: string; timeout: string }): JobOptions {
  return {
    program: fileURLToPath(import.meta.url),
    args: ['--job', '--root', root, '--timeout', timeout],
    count,
    onReport: (report) => {
      reports.push(report);
      console.log(fileLines(report));
    },
    onLate: ({ where, reason }) => fail(whole, where, reason),
  };
}

/** As one of several processes: runs what it is told, and ends when nobody tells it any more. Never resolves. */
function takeFiles(limits: Limits): Promise<never> {
  finished = true;
  const say = (said: Said) => process.send?.(said);
  process.on('message', async (file: string) => {
    current = newReport(file);
    isSaid = false;
    await runFile(current, limits);
    isSaid = true;
    say({ report: current });
  });
  process.on('disconnect', () => process.exit());
  return new Promise(() => {});
}

// What comes to light when the report of a file was given already is told by itself.
function failNow(where: string, reason: string): void {
  if (isSaid) process.send?.({ late: { where: `after ${current.file}: ${where}`, reason } } satisfies Said);
  else fail(current, where, reason);
}

function choose(root: string, words: readonly string[]): string[] {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
  const own = names.filter((name) => !/(^|\/)(fixtures|node_modules)\//.test(name));
  for (const name of own)
    if (LOOKS_LIKE_A_TEST.test(name) && !TEST_FILE.test(name))
      fail(whole, name, 'looks like a test file but is never run: end its name with .test.ts');
  const files = own.filter((name) => TEST_FILE.test(name));
  for (const word of words)
    if (!files.some((file) => file.includes(word))) fail(whole, word, 'no test file has this in its path');
  return words.length ? files.filter((file) => words.some((word) => file.includes(word))) : files;
}

// Every module that imports `uvu` gets support/suites.ts instead; only that module gets uvu itself.
function watchUvu(): void {
  const suites = new URL('./support/suites.ts', import.meta.url).href;
  const hook = `export const resolve = (name, context, next) =>
    next(name === 'uvu' && context.parentURL !== '${suites}' ? '${suites}' : name, context);`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
}

function watchProcess(): void {
  process.on('unhandledRejection', (thrown) => failNow(`unhandled rejection ${doing()}`, describe(thrown)));
  process.on('uncaughtException', (thrown) => failNow(`uncaught exception ${doing()}`, describe(thrown)));
  process.on('exit', () => {
    if (finished) return;
    fail(current, `the process ended ${doing()}`, 'something called process.exit(): no later test ran');
    // Only synchronous writes reach anybody from here.
    writeSync(1, `${fileLines(current)}\n${lastLine(totals())}\n`);
    process.exitCode = 1;
  });
}

function finish(): void {
  const { passed, failed, skipped } = totals();
  if (passed + failed + skipped === 0) fail(whole, 'nothing', 'was tested');
  const unexpected = reports
    .flatMap(({ skips }) => skips)
    .filter(({ reason }) => !maySkip.some((words) => reason.includes(words)));
  if (unexpected.length > 0 && process.env.CI === 'true')
    fail(whole, `${unexpected.length} skipped`, 'CI=true wants every test to run');
  if (whole.failed) console.log(fileLines(whole));
  // A long run scrolls away: what failed stands once more at its end.
  const failures = failureLines(reports);
  if (reports.length > REPEAT_FROM && failures) console.log(failures);
  console.log(lastLine(totals()));
  finished = true;
  process.exit(totals().failed ? 1 : 0);
}

function totals(): Totals {
  const sum = (pick: (report: FileReport) => number) => reports.reduce((total, report) => total + pick(report), 0);
  return { passed: sum((r) => r.passed), failed: sum((r) => r.failed), skipped: sum((r) => r.skips.length) };
}
