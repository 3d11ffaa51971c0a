// Test files in several processes at a time: each process is given the next file when it has done with one.

import { type ChildProcess, fork } from 'node:child_process';
import { type Failure, type FileReport, fail, newReport } from './report.ts';

/** What a process says to the one that began it. */
export type Said = { readonly report: FileReport } | { readonly late: Failure };

export interface JobOptions {
  /** The module that takes files as messages, and its arguments. */
  readonly program: string;
  readonly args: readonly string[];
  readonly count: number;
  readonly onReport: (report: FileReport) => void;
  /** Something went wrong in a process after the report of its file. */
  readonly onLate: (failure: Failure) => void;
}

/** Runs all files; a process that ends in the middle of one has failed that file, and another takes its place. */
export async function runInJobs(files: readonly string[], options: JobOptions): Promise<void> {
  const left = [...files];
  const work = async (): Promise<void> => {
    let child = begin(options);
    for (let file = left.shift(); file !== undefined; file = left.shift()) {
      options.onReport(await reportOf(child, file));
      if (!child.connected) child = begin(options);
    }
    child.removeAllListeners();
    child.kill();
  };
  await Promise.all(Array.from({ length: Math.min(options.count, files.length) }, work));
}

function begin({ program, args, onLate }: JobOptions): ChildProcess {
  const child = fork(program, [...args]);
  child.on('message', (said: Said) => {
    if ('late' in said) onLate(said.late);
  });
  return child;
}

function reportOf(child: ChildProcess, file: string): Promise<FileReport> {
  return new Promise((resolve) => {
    const take = (said: Said) => {
      if (!('report' in said)) return;
      child.off('message', take);
      child.off('exit', gone);
      resolve(said.report);
    };
    const gone = (code: number | null, signal: string | null) => {
      const report = newReport(file);
      fail(
        report,
        'the file',
        `its process ended with ${signal ?? code}: something called process.exit(), or never yielded`,
      );
      resolve(report);
    };
    child.on('message', take);
    child.once('exit', gone);
    child.send(file);
  });
}
