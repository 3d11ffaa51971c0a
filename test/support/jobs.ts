// Test files in several processes at a time: each process takes the next file when it has done with one, and ends when it has grown.

import { type ChildProcess, fork } from 'node:child_process';
import type { TestFile } from './choose.ts';
import { type Failure, type FileReport, fail, newReport } from './report.ts';

/** What a process says to the one that began it. */
export type Said = { readonly report: FileReport; readonly rssBytes: number } | { readonly late: Failure };

export interface JobOptions {
  /** The module that takes files as messages, and its arguments. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly count: number;
  readonly onReport: (report: FileReport) => void;
  /** Something went wrong in a process after the report of its file. */
  readonly onLate: (failure: Failure) => void;
}

/** A process that holds more than this takes no further file: each garbage collection costs more in a large one. */
const RSS_MOST_BYTES = 1_000_000_000;

/**
 * Runs all files, those that run alone after the others, and those that wait by a process of their own; a process that ends in the middle of a file has failed that file, and
 * another takes its place.
 */
export async function runInJobs(files: readonly TestFile[], options: JobOptions): Promise<void> {
  const together = files.filter(({ runs }) => runs === 'shared' || runs === 'fresh');
  const waiting = files.filter(({ runs }) => runs === 'waits');
  const lists = [...Array<TestFile[]>(Math.min(options.count, together.length)).fill(together), waiting];
  await Promise.all(lists.map((list) => work(list, options)));
  await work(
    files.filter(({ runs }) => runs === 'alone'),
    options,
  );
}

/** Takes files from `left` until none is left. */
async function work(left: TestFile[], options: JobOptions): Promise<void> {
  let child: ChildProcess | undefined;
  for (let file = left.shift(); file; file = left.shift()) {
    if (file.runs === 'fresh' || file.runs === 'alone') {
      const own = begin(options);
      await runIn(own, file, options);
      own.kill();
      continue;
    }
    child ??= begin(options);
    if (await runIn(child, file, options)) continue;
    child.kill();
    child = undefined;
  }
  child?.kill();
}

function begin({ program, args, env, onLate }: JobOptions): ChildProcess {
  const child = fork(program, [...args], { env });
  child.on('message', (said: Said) => {
    if ('late' in said) onLate(said.late);
  });
  return child;
}

/** Runs a file in `child`, tells its report and resolves with whether the process can take another file. */
function runIn(child: ChildProcess, { name }: TestFile, { onReport }: JobOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (report: FileReport, isUsable: boolean): void => {
      child.off('message', take);
      child.off('exit', gone);
      onReport(report);
      resolve(isUsable);
    };
    const take = (said: Said): void => {
      if ('report' in said) finish(said.report, !said.report.hangs && said.rssBytes < RSS_MOST_BYTES);
    };
    const gone = (code: number | null, signal: string | null): void => {
      const report = newReport(name);
      const how = `its process ended with ${signal ?? code}: something called process.exit(), or never yielded`;
      fail(report, 'the file', how);
      finish(report, false);
    };
    child.on('message', take);
    child.once('exit', gone);
    child.send(name);
  });
}
