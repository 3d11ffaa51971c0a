// Runs the suites of one test file and counts what they came to.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { leftovers, world } from './leftovers.ts';
import type { Loop } from './queue.ts';
import { describe, type FileReport, fail } from './report.ts';
import { Skip } from './skip.ts';
import { type Ledger, takeLedgers } from './suites.ts';
import { watchdog, watched, watching } from './watchdog.ts';

export interface Limits {
  /** Folder that the report's file name starts from. */
  readonly root: string;
  /** Milliseconds without progress after which a test hangs. */
  readonly stallMs: number;
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
  await watching;
  const start = performance.now();
  const words = {
    before: `✘ ${report.file}  1 failed\n    ✘ `,
    after: `\n      never yields: it blocks everything, so the run was killed\n${limits.lastLineIfStuck()}\n`,
  };
  const watch = (name: string): Promise<string> => {
    watched(name);
    return new Promise((onStall) => watchdog({ words, stallMs: limits.stallMs, onStall }));
  };
  const stalled = watch('loading the file');
  const before = world();
  try {
    const url = pathToFileURL(join(limits.root, report.file)).href;
    const reason = await settles(import(url), stalled);
    if (reason) fail(report, 'loading the file', reason);
  } catch (thrown) {
    if (thrown instanceof Skip) report.skips.push({ where: 'the whole file', reason: thrown.message });
    else fail(report, 'the file cannot be loaded', describe(thrown));
  }
  const ledgers = takeLedgers();
  for (const ledger of ledgers) {
    if (ledger.loop) await runSuite(ledger, ledger.loop, watch(ledger.name));
  }
  // Rejections that nobody handled come to light one turn of the loop later.
  await new Promise(setImmediate);
  for (const ledger of [...ledgers, ...takeLedgers()]) audit(report, ledger);
  report.hangs = ledgers.some(({ abandoned }) => abandoned);
  // What a test that hangs still holds is no second failure.
  for (const words of await leftovers(before, limits.stallMs / 4)) if (!report.hangs) fail(report, 'the file', words);
  watchdog(undefined);
  if (report.passed + report.failed + report.skips.length === 0) fail(report, 'the file', 'has no tests');
  report.ms = performance.now() - start;
}

async function runSuite(ledger: Ledger, loop: Loop, stalled: Promise<string>): Promise<void> {
  const write = process.stdout.write;
  const rest = (...args: Parameters<typeof write>): boolean =>
    isProgress(args[0], ledger.name) || write.apply(process.stdout, args);
  running = ledger;
  ledger.ran = true;
  process.stdout.write = rest as typeof write;
  const reason = await settles(loop(), stalled);
  ledger.abandoned = reason !== undefined;
  if (reason) ledger.troubles.push({ where: ledger.doing || 'the suite', reason });
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

/** Resolves when `work` is done, or with the reason why it was given up; rejects as `work` does. */
function settles(work: Promise<unknown>, stalled: Promise<string>): Promise<string | undefined> {
  return Promise.race([work.then(() => undefined), stalled]);
}

// What uvu prints while it runs: the suite's name, a dot or cross per test, the counts.
function isProgress(chunk: unknown, name: string): boolean {
  if (typeof chunk !== 'string') return false;
  const text = stripVTControlCharacters(chunk);
  return text === '• ' || text === '✘ ' || text === ` ${name}  ` || /^ {2}\(\d+ \/ \d+\)\n$/.test(text);
}
