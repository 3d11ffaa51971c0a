// Output of commands: files, tables, counts, and progress, as a bar with rate and remaining time on a terminal, else as a line per minute.

import { writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { TwinlineError } from '../../lib/errors.ts';
import { makeFolder } from '../config/data-dir.ts';
import { readErrorCode } from './remote.ts';

export interface ProgressBar {
  /** `done` of the total, in any unit; `lines` so far, and how many of them failed. */
  update(count: number, counts: { readonly lines: number; readonly failed?: number }): void;
  /** Removes the bar, so that something else can be printed. */
  stop(): void;
}

export interface ProgressOptions {
  /** Undefined if unknown: then there is no bar and no remaining time. */
  readonly total: number | undefined;
  readonly stream: NodeJS.WriteStream;
  /** The unit counted. @default 'lines' */
  readonly unit?: string;
  /** Milliseconds between lines without a terminal. @default 60,000 */
  readonly lineMs?: number;
}

const withTotal = (unit: string) =>
  ` {bar} {percentage}% | {lines} ${unit} | {rate} ${unit}/s | {eta_formatted} to go{trouble}`;
const withoutTotal = (unit: string) => ` {lines} ${unit} | {rate} ${unit}/s | {duration_formatted}{trouble}`;

/** Shows progress on the stream. */
export function showProgress(options: ProgressOptions): Promise<ProgressBar> {
  return options.stream.isTTY ? showBar(options) : Promise.resolve(writeLines(options));
}

function writeLines({ total, stream, unit = 'lines', lineMs = 60_000 }: ProgressOptions): ProgressBar {
  const begun = performance.now();
  let line = '';
  const timer = setInterval(() => stream.write(`${line}\n`), lineMs).unref();
  return {
    update(done, { lines, failed = 0 }) {
      const seconds = (performance.now() - begun) / 1_000;
      const left =
        total === undefined || done === 0 ? '' : `, ${Math.round((seconds * (total - done)) / done)} s to go`;
      const share = total === undefined ? '' : `${Math.floor((100 * done) / Math.max(1, total))}%, `;
      const trouble = failed ? `, ${failed.toLocaleString('en')} failed` : '';
      line = `${share}${lines.toLocaleString('en')} ${unit}, ${Math.round(lines / seconds)} ${unit}/s${left}${trouble}`;
    },
    stop: () => clearInterval(timer),
  };
}

async function showBar({ total, stream, unit = 'lines' }: ProgressOptions): Promise<ProgressBar> {
  // Loaded only here: most verbs show no progress.
  const { Presets, SingleBar } = await import('cli-progress');
  const format = total === undefined ? withoutTotal(unit) : withTotal(unit);
  const settings = { format, stream, clearOnComplete: true, hideCursor: true, fps: 10, etaBuffer: 50 };
  const bar = new SingleBar(settings, Presets.shades_classic);
  const begun = performance.now();
  bar.start(total ?? 1, 0, { lines: 0, rate: '-', trouble: '' });
  return {
    update(done, { lines, failed = 0 }) {
      const seconds = (performance.now() - begun) / 1_000;
      const rate = seconds > 0.5 ? Math.round(lines / seconds).toLocaleString('en') : '-';
      const trouble = failed ? ` | ${failed.toLocaleString('en')} failed` : '';
      bar.update(total === undefined ? 0 : done, { lines: lines.toLocaleString('en'), rate, trouble });
    },
    stop: () => bar.stop(),
  };
}

/** Writes the file of `--out`, creating its folder. Throws ERR_INPUT. */
export function writeOutput(file: string, text: string): void {
  try {
    makeFolder(dirname(resolve(file)));
    writeFileSync(file, text);
  } catch (cause) {
    const words = `Cannot write ${file} (${readErrorCode(cause)}). Give another place with --out.`;
    throw new TwinlineError('ERR_INPUT', words, { cause });
  }
}

/** Such as `1 flow` and `2 flows`. */
export function formatCount(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

/** A table with headings, padded to the widest cell of each column, without trailing spaces. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [headings, ...rows];
  const widths = headings.map((_heading, at) => Math.max(...all.map((row) => row[at]!.length)));
  return all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  );
}
