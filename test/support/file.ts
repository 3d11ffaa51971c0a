// Runs the suites of one test file and counts what they came to.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { leftovers, world } from './leftovers.ts';
import type { Loop } from './queue.ts';
import { describe, type FileReport, fail, span } from './report.ts';
import { Skip } from './skip.ts';
import { type Ledger, takeLedgers } from './suites.ts';
import { watchdog, watched } from './watchdog.ts';

export interface Limits {
  /** Folder that the report's file name starts from. */
  readonly root: string;
  /** For loading the file, and for each suite that sets none of its own. */
  readonly timeoutMs: number;
  /** The last line of the run if it had to end now with one more failure. */
  readonly lastLineIfStuck: () => string;
}

let running: Ledger | undefined;

/** The test or hook that runs now, for errors that come from nowhere. */
export function doing(): string {
  return running?.doing ? `during ${running.doing}` : 'outside of any test';
}

/** Loads the file that `report` names, runs its suites and completes the report. Never rejects. */
export async function runFile(report: FileReport, limits: Limits): Promise<void> {
  const { root, timeoutMs } = limits;
  const start = performance.now();
  const lastWords = {
    before: `✘ ${report.file}  1 failed\n    ✘ `,
    after: `\n      never yields: it blocks everything, so the run was killed\n${limits.lastLineIfStuck()}\n`,
  };
  const watch = (limitMs: number, name = ''): void => {
    watched(name);
    watchdog(lastWords, limitMs);
  };
  const before = world();
  watch(timeoutMs, 'loading the file');
  try {
    const loaded = await settles(import(pathToFileURL(join(root, report.file)).href), timeoutMs);
    if (!loaded) fail(report, 'the file', `did not finish loading within ${span(timeoutMs)}`);
  } catch (thrown) {
    if (thrown instanceof Skip) report.skips.push({ where: 'the whole file', reason: thrown.message });
    else fail(report, 'the file cannot be loaded', describe(thrown));
  }
  const ledgers = takeLedgers();
  for (const ledger of ledgers) {
    const limitMs = ledger.timeoutMs ?? timeoutMs;
    watch(limitMs, ledger.name);
    if (ledger.loop) await runSuite(ledger, ledger.loop, limitMs);
  }
  watchdog(undefined);
  // Rejections that nobody handled come to light one turn of the loop later.
  await new Promise(setImmediate);
  for (const ledger of [...ledgers, ...takeLedgers()]) audit(report, ledger);
  for (const words of await leftovers(before)) fail(report, 'the file', words);
  if (report.passed + report.failed + report.skips.length === 0) fail(report, 'the file', 'has no tests');
  report.ms = performance.now() - start;
}

async function runSuite(ledger: Ledger, loop: Loop, limitMs: number): Promise<void> {
  const write = process.stdout.write;
  const rest = (...args: Parameters<typeof write>): boolean =>
    isProgress(args[0], ledger.name) || write.apply(process.stdout, args);
  running = ledger;
  ledger.ran = true;
  process.stdout.write = rest as typeof write;
  ledger.abandoned = !(await settles(loop(), limitMs));
  if (ledger.abandoned)
    ledger.troubles.push({ where: ledger.doing || 'the suite', reason: `did not finish within ${span(limitMs)}` });
  process.stdout.write = write;
  running = undefined;
}

/** Moves what a suite came to into the report of its file. */
function audit(report: FileReport, ledger: Ledger): void {
  const at = (where: string) => (ledger.name ? `${ledger.name} › ${where}` : where);
  const titles = ledger.only.length ? ledger.only : ledger.titles;
  const unrun = titles.length - ledger.results.length;
  for (const result of ledger.results) {
    if (result.kind === 'passed') report.passed += 1;
    else if (result.kind === 'failed') fail(report, at(result.title), result.reason);
    else report.skips.push({ where: at(result.title), reason: result.reason });
  }
  for (const { where, reason } of ledger.troubles) fail(report, at(where), reason);
  for (const title of ledger.only) fail(report, at(title), '.only is left: the other tests of the suite did not run');
  for (const title of ledger.unexplained)
    fail(report, at(title), 'test.skip gives no reason: call skipped(reason) of test/support/skip.ts inside the test');
  if (!ledger.ran) {
    const how = ledger.loop ? 'calls .run() after the file was loaded' : `never calls .run() for ${unrun} tests`;
    fail(report, at('the suite'), `${how}: call it at the end of the file`);
  } else if (ledger.skip !== undefined) {
    for (const title of titles) report.skips.push({ where: at(title), reason: ledger.skip });
  } else if (unrun > 0) {
    // What a broken hook or a timeout kept from running is not known to pass.
    fail(report, at('the suite'), `${unrun} of its ${titles.length} tests did not run to their end`);
    report.failed += Math.max(0, unrun - 1 - ledger.troubles.length);
  } else if (titles.length === 0 && ledger.unexplained.length === 0) {
    fail(report, at('the suite'), 'has no tests');
  }
}

/** True when `work` is done in time; rejects as it does. */
async function settles(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  return Promise.race([work.then(() => true), late]).finally(() => clearTimeout(timer));
}

// What uvu prints while it runs: the suite's name, a dot or cross per test, the counts.
function isProgress(chunk: unknown, name: string): boolean {
  if (typeof chunk !== 'string') return false;
  const text = stripVTControlCharacters(chunk);
  return text === '• ' || text === '✘ ' || text === ` ${name}  ` || /^ {2}\(\d+ \/ \d+\)\n$/.test(text);
}
