// Measuring: CPU time per operation, in interleaved rounds, medians compared within one run.

import type { Bar } from './chart.ts';

/** Something to measure: does `count` operations. */
export interface Case {
  readonly name: string;
  run(count: number): Promise<void> | void;
}

export interface Measured {
  readonly name: string;
  /** Median CPU microseconds (user + system) of one operation. */
  readonly cpuUs: number;
}

export interface MeasureOptions {
  readonly rounds?: number;
  /** Operations in one round of one case. */
  readonly count?: number;
}

/** Measures cases round by round, so that a busy machine slows all of them alike. */
export async function measure(
  cases: readonly Case[],
  { rounds = 7, count = 5_000 }: MeasureOptions = {},
): Promise<Measured[]> {
  const samples = cases.map((): number[] => []);
  for (const { run } of cases) await run(Math.ceil(count / 4));
  for (let round = 0; round < rounds; round++)
    for (const [at, { run }] of cases.entries()) {
      const before = process.cpuUsage();
      await run(count);
      const { user, system } = process.cpuUsage(before);
      samples[at]!.push((user + system) / count);
    }
  return cases.map(({ name }, at) => ({ name, cpuUs: median(samples[at]!) }));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

/** Does `work` with the numbers from 0 to below `count`, so many at a time. */
export async function atOnce(count: number, work: (at: number) => Promise<void>, workers = 32): Promise<void> {
  let taken = 0;
  const worker = async () => {
    while (taken < count) await work(taken++);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

/** One line of the table that `npm run bench` prints. */
export interface Row {
  readonly what: string;
  readonly measured: string;
  /** The ratio that is compared with `target`; undefined where a number stands alone. */
  readonly ratio: number | undefined;
  readonly target: { readonly atLeast: number } | { readonly atMost: number } | undefined;
  /** How far the ratios of the rounds lie apart: the middle half of them. */
  readonly spread?: string;
  /** The ratio, or the time, as it was measured in the same way on BEFORE. */
  readonly before?: string;
  /** In the chart of its benchmark. */
  readonly bar?: Bar;
}

/** Since when `before` stands in the table. */
export const BEFORE = '2026-11-22';

/** The median, and the bounds of the middle half. */
export function quartiles(values: readonly number[]): { low: number; middle: number; high: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.round((sorted.length - 1) * share)]!;
  return { low: at(0.25), middle: at(0.5), high: at(0.75) };
}

export function holds({ ratio, target }: Row): boolean {
  if (!target || ratio === undefined) return true;
  return 'atLeast' in target ? ratio >= target.atLeast : ratio <= target.atMost;
}

export function us(value: number): string {
  return value >= 1_000 ? `${(value / 1_000).toFixed(2)} ms` : `${value.toFixed(value < 10 ? 2 : 1)} µs`;
}
