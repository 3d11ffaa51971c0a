// Runs the test files of one suite or several, in several processes at a time, and turns every silent way to "pass" into a failure with
// a reason: uvu alone exits 0 when a hook throws, when `.run()` is forgotten and when `.only` is left.
//
//   npm test                        what Node alone proves, with fixed seeds
//   npm test -- ussd flow/render    only the files, of any suite, whose path holds one of the words
//   --suite <names>                 suites of test/support/choose.ts at their full size, with commas; `all` for each of them
//   --seed <n>                      of random cases, default 1
//   --root <folder>                 where to look, default: this folder
//   --jobs <n>                      processes at a time, default: the cores and one more; 1 with words
//   --stall <ms>                    a test hangs when for so long nothing goes on, default 120000

import { writeSync } from 'node:fs';
import { register } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as fc from 'fast-check';
import { builtModules, builtPackage } from './support/build.ts';
import { filesOf, listTests, SUITES, type SuiteName, type TestFile, usualFiles } from './support/choose.ts';
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
import type { Size } from './support/size.ts';

/** Files that take longest begin first, or the other processes would have nothing left to do. */
const LONG =
  /^(simulation\/|restart\/|guides\/guides|domain\/mongo|store\/(mongo|redis-logs|damage)\.|package\/(projects|rolling|stacks|consumer|build)|server\/(faults\/|ussd\/exactly-once|ussd\/walks|domain\/(kill|cost)|boot\/process|cli\/templates|http\/wire|move\/|pages\/looks|openapi\/)|gateway\/(shapes|large-replies)|flow\/lint)/;

const OPTIONS = {
  root: { type: 'string', default: dirname(fileURLToPath(import.meta.url)) },
  suite: { type: 'string', default: '' },
  seed: { type: 'string', default: '1' },
  stall: { type: 'string', default: '120000' },
  jobs: { type: 'string' },
  job: { type: 'boolean' },
} as const;

/** A run of more files than this repeats its failures at the end; the report of the run itself counts. */
const REPEAT_FROM = 1;

/** Failures that belong to no single file. */
const whole = newReport('the run');
const reports: FileReport[] = [whole];
let current = whole;
let finished = false;
/** In one of several processes: the report of the current file was given. */
let isSaid = false;
/** What `npm test --` needs besides the file to repeat a failure. */
let repeatOptions = '';

try {
  await main();
} catch (thrown) {
  fail(whole, 'test/run.ts', describe(thrown));
}
finish();

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS });
  const [root, stallMs, seed] = [resolve(values.root), Number(values.stall), Number(values.seed)];
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
  process.env.TEST_SEED = values.seed;
  watchProcess();
  watchUvu();
  const limits: Limits = {
    root,
    stallMs,
    lastLineIfStuck: () => lastLine({ ...totals(), failed: totals().failed + 1 }),
  };
  if (values.job) return takeFiles(limits);
  const files = chooseFiles(root, positionals);
  repeatOptions = `${values.suite && ` --suite ${values.suite}`}${seed === 1 ? '' : ` --seed ${seed}`}`;
  const words = positionals.length > 0;
  const jobs = words ? 1 : availableParallelism() + 1;
  const runs = (chosen: TestFile[], size: Size) => runFiles(chosen, { size, jobs, values, limits });
  // With words and no suite: whatever they name.
  if (!values.suite) return runs(words ? files : usualFiles(files), 'short');
  const suites = parseSuites(values.suite);
  if (suites.includes('node')) await runs(filesOf('node', files), 'short');
  // Named suites share their processes: at the end of each, cores would have nothing to do.
  const named = suites.filter((suite) => suite !== 'node').flatMap((suite) => filesOf(suite, files));
  if (named.length) await runs(named, 'day');
}

function parseSuites(names: string): readonly SuiteName[] {
  if (names === 'all') return SUITES;
  return names.split(',').map((name) => {
    const suite = SUITES.find((one) => one === name);
    if (!suite) throw new Error(`--suite ${name}: no such suite; there are ${SUITES.join(', ')} and all`);
    return suite;
  });
}

function chooseFiles(root: string, words: readonly string[]): TestFile[] {
  const files = listTests(root, (name, reason) => fail(whole, name, reason));
  for (const word of words)
    if (!files.some(({ name }) => name.includes(word))) fail(whole, word, 'no test file has this in its path');
  return words.length ? files.filter(({ name }) => words.some((word) => name.includes(word))) : files;
}

interface Run {
  readonly size: Size;
  readonly jobs: number;
  readonly values: { readonly [option in 'root' | 'stall' | 'seed']: string } & { readonly jobs?: string | undefined };
  readonly limits: Limits;
}

async function runFiles(files: readonly TestFile[], run: Run): Promise<void> {
  const { values, limits } = run;
  const count = Number(values.jobs ?? run.jobs);
  // This process has read its size already.
  if (count > 1 || run.size !== 'short') {
    // Or two of them would build them at once.
    await builtModules();
    if (run.size !== 'short') await builtPackage();
    return runInJobs(longestFirst(files), jobOptions(count, run.size, values));
  }
  for (const { name } of files) {
    current = newReport(name);
    reports.push(current);
    await runFile(current, limits);
    console.log(fileLines(current));
  }
}

function longestFirst(files: readonly TestFile[]): TestFile[] {
  return [...files.filter(({ name }) => LONG.test(name)), ...files.filter(({ name }) => !LONG.test(name))];
}

function jobOptions(count: number, size: Size, { root, stall, seed }: Run['values']): JobOptions {
  return {
    program: fileURLToPath(import.meta.url),
    args: ['--job', '--root', root, '--stall', stall, '--seed', seed],
    env: { ...process.env, TEST_SIZE: process.env.TEST_SIZE ?? size },
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
    say({ report: current, rssBytes: process.memoryUsage.rss() });
  });
  process.on('disconnect', () => process.exit());
  return new Promise(() => {});
}

// What comes to light when the report of a file was given already is told by itself.
function failNow(where: string, reason: string): void {
  if (isSaid) process.send?.({ late: { where: `after ${current.file}: ${where}`, reason } } satisfies Said);
  else fail(current, where, reason);
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
  if (skipped > 0 && process.env.CI === 'true') fail(whole, `${skipped} skipped`, 'CI=true wants every test to run');
  if (whole.failed) console.log(fileLines(whole));
  // A long run scrolls away: what failed stands once more at its end.
  const failures = failureLines(reports, repeatOptions);
  if (reports.length > REPEAT_FROM && failures) console.log(failures);
  console.log(lastLine(totals()));
  finished = true;
  process.exit(totals().failed ? 1 : 0);
}

function totals(): Totals {
  const sum = (pick: (report: FileReport) => number) => reports.reduce((total, report) => total + pick(report), 0);
  return { passed: sum((r) => r.passed), failed: sum((r) => r.failed), skipped: sum((r) => r.skips.length) };
}
